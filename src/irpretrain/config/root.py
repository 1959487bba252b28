"""The whole configuration, section by section; `config.load` checks what spans sections."""

from __future__ import annotations

from typing import Any, Literal, get_origin

from pydantic import SerializeAsAny, field_validator
from pydantic.json_schema import SkipJsonSchema

from irpretrain.config.axioms import (
    AxiomsConfig,
    DiagnosisConfig,
    PredictorConfig,
    PseudoQueriesConfig,
    WordVectorsConfig,
)
from irpretrain.config.base import Names, Section, deep_merge, explain, option
from irpretrain.config.corpora import CorpusConfig, DatasetConfig
from irpretrain.config.experiments import (
    AbsenceConfig,
    AttributionConfig,
    DownstreamConfig,
    DownstreamTaskConfig,
    ExperimentConfig,
    ModelConfig,
    Paper,
    QuestionAnsweringConfig,
    ReportConfig,
    TermWeightPageConfig,
    WeightDistributionConfig,
)
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.objectives import read_options
from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.config.retrieval import FirstStageConfig, IndexConfig, RerankingConfig, RetrievalConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, GraphConfig, TextConfig


class Config(Section):
    """Everything that decides what is computed. How it is run belongs in a profile."""

    preset: Literal["paper", "released"] = option(
        "paper", "Sets the choices in which papers and their released code differ."
    )
    seed: int = option(
        1,
        "Seed of pseudo-queries, query samples and folds. Models and few-shot draws use the "
        "seeds of experiments.",
        ge=0,
    )
    text: TextConfig = option(..., "How documents become words and word pieces.")
    data_folder: str = option(
        "data",
        "Folder of the catalogue's data sets (docs/datasets.md), looked up in the working directory "
        "(`--directory`), then in the project's folder.",
        min_length=1,
    )
    skip_absent: bool = option(
        False,
        "Without data sets of the catalogue: refuse the run, or leave out the jobs that need them.",
        exclude=True,
    )
    corpora: dict[str, CorpusConfig] = option(..., "Corpora by name.", min_length=1)
    collections: dict[str, Names] = option(..., "Collections for pre-training: lists of corpora.")
    graph: GraphConfig = option(GraphConfig(), "Links between a collection's documents.")
    pseudo_queries: PseudoQueriesConfig = option(PseudoQueriesConfig(), "Pseudo-queries that ARES compares.")
    word_vectors: WordVectorsConfig = option(WordVectorsConfig(), "Word vectors of ARES's semantic axioms.")
    axioms: AxiomsConfig = option(AxiomsConfig(), "The axioms of ARES.")
    predictors: dict[str, PredictorConfig] = option({}, "Preference predictors of ARES by name.")
    term_weights: dict[str, TermWeightsConfig] = option(
        {}, "Weightings of words by name: DeepCT and its baselines."
    )
    encoder: EncoderConfig = option(..., "The encoder that models start from which name none of their own.")
    objectives: dict[str, SerializeAsAny[Section]] = option(
        {}, "Pre-training objectives by name; `type` says which."
    )
    pretraining: PretrainingConfig = option(..., "Defaults of pre-training.")
    models: dict[str, ModelConfig] = option(..., "Models by name.", min_length=1)
    datasets: dict[str, DatasetConfig] = option({}, "Test collections by name.")
    retrieval: RetrievalConfig = option(RetrievalConfig(), "First-stage retrieval.")
    indexes: dict[str, IndexConfig] = option({}, "Weighted indexes without training, by name.")
    first_stages: dict[str, FirstStageConfig] = option(
        {},
        "First stages by name, beside bm25 and ql, which search the tf index with the parameters of "
        "`retrieval`.",
    )
    reranking: RerankingConfig = option(RerankingConfig(), "Re-ranking.")
    finetuning: FinetuningConfig = option(FinetuningConfig(), "Fine-tuning.")
    experiments: dict[str, ExperimentConfig] = option({}, "Comparisons by name.")
    downstream_tasks: dict[str, DownstreamTaskConfig] = option(
        {}, "Other tasks by name: extractive question answering."
    )
    question_answering: QuestionAnsweringConfig = option(
        QuestionAnsweringConfig(), "Fine-tuning for extractive question answering."
    )
    downstream: dict[str, DownstreamConfig] = option({}, "Models to fine-tune for these tasks, by name.")
    absent: SkipJsonSchema[dict[str, AbsenceConfig]] = option(
        {}, "Filled in by the program: experiments left out because data files are missing."
    )
    absent_predictors: SkipJsonSchema[dict[str, str]] = option(
        {}, "Filled in by the program: predictors left out because data files are missing, with the reason."
    )
    absent_tasks: SkipJsonSchema[dict[str, str]] = option(
        {},
        "Filled in by the program: `downstream_tasks` left out because data files are missing, with the "
        "reason.",
    )
    diagnoses: dict[str, DiagnosisConfig] = option({}, "Axiom diagnoses of re-rankers by name.")
    attributions: dict[str, AttributionConfig] = option(
        {}, "Pages by name: which words a score comes from. The report shows them too."
    )
    weight_distributions: dict[str, WeightDistributionConfig] = option(
        {}, "Collections of DeepCT's figure 1 by name: the share of a passage's weight on its heaviest terms."
    )
    term_weight_pages: dict[str, TermWeightPageConfig] = option(
        {}, "Pages of the target `term_weight_pages` by name: heat maps of passages."
    )
    report: ReportConfig = option(ReportConfig(), "Tables, figures and the report.")

    @field_validator("objectives", mode="before")
    @classmethod
    def _read_objectives(cls, values: Any) -> Any:

        if not isinstance(values, dict):
            raise ValueError("must be a mapping from names to objectives")
        return {name: read_options(name, options) for name, options in values.items()}

    def of_papers(self, papers: list[Paper]) -> Config:
        """Return the configuration with the report of these papers alone; `config.usage` has what they show.

        It is not checked again, and keeps all experiments: these decide how deep rankings are.
        """
        return self.model_copy(update={"report": self.report.model_copy(update={"papers": papers})})

    def training_of(self, model: str) -> PretrainingConfig:
        """Return the pre-training options of one model: `pretraining` with the model's own keys merged in.

        A model's own length, in steps or epochs, replaces that of `pretraining`, whichever it is in.
        """
        overrides = self.models[model].training
        inherited = self.pretraining.model_dump()
        if any(overrides.get(name) is not None for name in ("steps", "epochs")):
            inherited |= {"steps": None, "epochs": None, "epochs_of": None}
        merged_options = deep_merge(inherited, overrides)
        return explain(PretrainingConfig, merged_options, f"models.{model}.training")

    def finetuning_of(self, model: str) -> FinetuningConfig:
        """Return the fine-tuning options of one model: `finetuning` with the model's own keys merged in."""
        overrides = self.models[model].finetuning
        if "recipe" in overrides:
            raise ValueError(
                f"models.{model}.finetuning: recipe: one recipe serves all models that are compared; set "
                "finetuning.recipe, and leave it out here"
            )
        merged_options = deep_merge(self.finetuning.model_dump(), overrides)
        return explain(FinetuningConfig, merged_options, f"models.{model}.finetuning")

    def reranking_of(self, model: str, regime: str = "zero-shot") -> RerankingConfig:
        """Return `reranking` with the model's own passages, and after fine-tuning with its fine-tuning lengths."""
        changes: dict[str, Any] = {}
        if (passages := self.models[model].passages) is not None:
            changes["passages"] = passages
        if regime != "zero-shot":
            finetuning = self.finetuning_of(model)
            changes |= {"max_length": finetuning.max_length, "query_length": finetuning.query_length}
        return self.reranking.model_copy(update=changes) if changes else self.reranking


# Sections that map names to entries; those that the program fills in are called absent.
ENTRY_SECTIONS = tuple(
    name
    for name, field in Config.model_fields.items()
    if get_origin(field.annotation) is dict and not name.startswith("absent")
)
