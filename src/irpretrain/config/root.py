"""The whole configuration."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from irpretrain.config.attributions import AttributionConfig
from irpretrain.config.axioms import (
    AxiomsConfig,
    DiagnosisConfig,
    PredictorConfig,
    PseudoQueriesConfig,
    WordVectorsConfig,
)
from irpretrain.config.base import Section, deep_merge
from irpretrain.config.consistency import cross_faults
from irpretrain.config.corpora import CorpusConfig, DatasetConfig
from irpretrain.config.downstream import (
    DownstreamConfig,
    DownstreamTaskConfig,
    QuestionAnsweringConfig,
    SentenceTasksConfig,
)
from irpretrain.config.experiments import (
    AbsenceConfig,
    EvaluationConfig,
    ExperimentConfig,
    ModelConfig,
    Paper,
    ReportConfig,
)
from irpretrain.config.explain import explain
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.graph import GraphConfig
from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.config.query_pages import QueryPageConfig
from irpretrain.config.retrieval import FirstStageConfig, IndexConfig, RerankingConfig, RetrievalConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.config.usage import active_downstream, active_experiments
from irpretrain.config.weight_views import TermWeightPageConfig, WeightDistributionConfig
from irpretrain.objectives.registry import read_options


class Config(Section):
    """Everything that decides what is computed. How it is run belongs in a profile."""

    preset: Literal["paper", "released"] = Field(
        "paper",
        description="Sets the choices in which papers and their released code differ. A key in your file "
        "wins.",
    )
    seed: int = Field(
        1,
        ge=0,
        description="Seed of sampling: pseudo-queries, query samples, folds. Models and few-shot draws use "
        "the seeds of experiments.",
    )
    text: TextConfig = Field(description="How documents become words and word pieces.")
    data_folder: str = Field(
        "data",
        min_length=1,
        description="Folder of the catalogue's data sets (docs/datasets.md), looked up in the working "
        "directory (`--directory`), then in the project's folder.",
    )
    skip_absent: bool = Field(
        False,
        exclude=True,
        description="If data sets of the catalogue are missing. false: refuse the run. true: leave out the "
        "jobs that need them and say so; a dry run plans these jobs too.",
    )
    corpora: dict[str, CorpusConfig] = Field(min_length=1, description="Corpora by name.")
    collections: dict[str, list[str]] = Field(description="Collections for pre-training: lists of corpora.")
    graph: GraphConfig = Field(
        default_factory=GraphConfig, description="Links between a collection's documents."
    )
    pseudo_queries: PseudoQueriesConfig = Field(
        default_factory=PseudoQueriesConfig, description="Pseudo-queries that ARES compares."
    )
    word_vectors: WordVectorsConfig = Field(
        default_factory=WordVectorsConfig, description="Word vectors of ARES's semantic axioms."
    )
    axioms: AxiomsConfig = Field(default_factory=AxiomsConfig, description="The axioms of ARES.")
    predictors: dict[str, PredictorConfig] = Field(
        default_factory=dict, description="Preference predictors of ARES by name."
    )
    term_weights: dict[str, TermWeightsConfig] = Field(
        default_factory=dict, description="Weightings of words by name: DeepCT and its baselines."
    )
    encoder: EncoderConfig = Field(description="The encoder that all models start from.")
    objectives: dict[str, SerializeAsAny[Section]] = Field(
        default_factory=dict,
        description="Pre-training objectives by name; `type` is the file in irpretrain/objectives.",
    )
    pretraining: PretrainingConfig = Field(description="Defaults of pre-training.")
    models: dict[str, ModelConfig] = Field(min_length=1, description="Models by name.")
    datasets: dict[str, DatasetConfig] = Field(default_factory=dict, description="Test collections by name.")
    retrieval: RetrievalConfig = Field(default_factory=RetrievalConfig, description="First-stage retrieval.")
    indexes: dict[str, IndexConfig] = Field(
        default_factory=dict, description="Weighted indexes without training, by name."
    )
    first_stages: dict[str, FirstStageConfig] = Field(
        default_factory=dict,
        description="First stages by name, beside bm25 and ql, which search the tf index with the parameters of "
        "`retrieval`.",
    )
    reranking: RerankingConfig = Field(default_factory=RerankingConfig, description="Re-ranking.")
    finetuning: FinetuningConfig = Field(default_factory=FinetuningConfig, description="Fine-tuning.")
    experiments: dict[str, ExperimentConfig] = Field(default_factory=dict, description="Comparisons by name.")
    downstream_tasks: dict[str, DownstreamTaskConfig] = Field(
        default_factory=dict,
        description="Other tasks by name: extractive question answering and GLUE.",
    )
    question_answering: QuestionAnsweringConfig = Field(
        default_factory=QuestionAnsweringConfig, description="Fine-tuning for extractive question answering."
    )
    sentence_tasks: SentenceTasksConfig = Field(
        default_factory=SentenceTasksConfig, description="Fine-tuning for GLUE's tasks."
    )
    downstream: dict[str, DownstreamConfig] = Field(
        default_factory=dict, description="Models to fine-tune for these tasks, by name."
    )
    absent: dict[str, AbsenceConfig] = Field(
        default_factory=dict,
        description="Filled in by the program: experiments left out because data files are missing.",
    )
    absent_predictors: dict[str, str] = Field(
        default_factory=dict,
        description="Filled in by the program: predictors left out because data files are missing, with the "
        "reason.",
    )
    absent_tasks: dict[str, str] = Field(
        default_factory=dict,
        description="Filled in by the program: `downstream_tasks` left out because data files are missing, "
        "with the reason.",
    )
    diagnoses: dict[str, DiagnosisConfig] = Field(
        default_factory=dict, description="Axiom diagnoses of re-rankers by name."
    )
    evaluation: EvaluationConfig = Field(
        default_factory=EvaluationConfig, description="Significance and intervals."
    )
    attributions: dict[str, AttributionConfig] = Field(
        default_factory=dict,
        description="Pages of the target `attributions` by name: which words a score comes from.",
    )
    weight_distributions: dict[str, WeightDistributionConfig] = Field(
        default_factory=dict,
        description="Collections of DeepCT's figure 1 by name: the share of a passage's weight on its "
        "heaviest terms.",
    )
    term_weight_pages: dict[str, TermWeightPageConfig] = Field(
        default_factory=dict,
        description="Pages of the target `term_weight_pages` by name: heat maps of passages.",
    )
    query_pages: dict[str, QueryPageConfig] = Field(
        default_factory=dict,
        description="Pages of the target `query_pages` by name: two rankings of single queries side by side.",
    )
    report: ReportConfig = Field(default_factory=ReportConfig, description="Tables, figures and the report.")

    @field_validator("objectives", mode="before")
    @classmethod
    def _read_objectives(cls, given: Any) -> Any:

        if not isinstance(given, dict):
            raise ValueError("must be a mapping from names to objectives")
        return {name: read_options(name, options) for name, options in given.items()}

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        if faults := list(cross_faults(self)):
            raise ValueError("\n".join(faults))
        return self

    def of_papers(self, papers: list[Paper]) -> Config:
        """Return the configuration with the report of these papers alone, and the experiments that they show."""
        narrowed = self.model_copy(update={"report": self.report.model_copy(update={"papers": papers})})
        shown = {"experiments": active_experiments(narrowed), "downstream": active_downstream(narrowed)}
        return narrowed.model_copy(update=shown)

    def training_of(self, model: str) -> PretrainingConfig:
        """Return the pre-training options of one model: `pretraining` with the model's own keys merged in.

        A model's own length, in steps or epochs (of one objective or of all), replaces that of `pretraining`, whichever
        it is in.
        """
        overrides = self.models[model].training
        inherited = self.pretraining.model_dump()
        if any(overrides.get(name) is not None for name in ("steps", "epochs")):
            inherited |= {"steps": None, "epochs": None, "epochs_of": None}
        merged = deep_merge(inherited, overrides)
        return explain(PretrainingConfig, merged, f"models.{model}.training")

    def finetuning_of(self, model: str) -> FinetuningConfig:
        """Return the fine-tuning options of one model: `finetuning` with the model's own keys merged in."""
        overrides = self.models[model].finetuning
        if "recipe" in overrides:
            raise ValueError(
                f"models.{model}.finetuning: recipe: one recipe serves all models that are compared; set "
                "finetuning.recipe, and leave it out here"
            )
        merged = deep_merge(self.finetuning.model_dump(), overrides)
        return explain(FinetuningConfig, merged, f"models.{model}.finetuning")

    def downstream_training_of(self, task: str) -> QuestionAnsweringConfig | SentenceTasksConfig:
        """Return the fine-tuning options of one task: `question_answering` or `sentence_tasks` with the task's own keys
        merged in."""
        described = self.downstream_tasks[task]
        base = self.question_answering if described.kind == "questions" else self.sentence_tasks
        merged = deep_merge(base.model_dump(), described.training)
        return explain(type(base), merged, f"downstream_tasks.{task}.training")

    def reranking_of(self, model: str, regime: str = "zero-shot") -> RerankingConfig:
        """Return how a model's candidates are scored: `reranking` with the model's own passages, and after fine-tuning
        with the lengths that it was fine-tuned with."""
        changes: dict[str, Any] = {}
        if (passages := self.models[model].passages) is not None:
            changes["passages"] = passages
        if regime != "zero-shot":
            tuning = self.finetuning_of(model)
            changes |= {"max_length": tuning.max_length, "query_length": tuning.query_length}
        return self.reranking.model_copy(update=changes) if changes else self.reranking
