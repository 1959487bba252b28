"""The whole configuration, section by section, and what of it is used: by the experiments that the report shows, and by
what these need. `config.run` has what one row of a table is; `config.load` checks what spans sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple, get_origin

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
from irpretrain.config.labels import BUILT_IN_LABELS, DEFAULT_CANDIDATES
from irpretrain.config.objectives import read_options
from irpretrain.config.papers import known_papers, show_axioms, show_term_weights
from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.config.references import REFERENCES, EntryName, names_needed_by, sections_of
from irpretrain.config.retrieval import (
    BUILT_IN_FIRST_STAGES,
    LUCENE_WORDS,
    TF_INDEX,
    FirstStageConfig,
    IndexConfig,
    QueryWords,
    RerankingConfig,
    RetrievalConfig,
)
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, GraphConfig, TextConfig
from irpretrain.text.languages import ENGLISH

# Section whose entries the report shows all, or none → whether some of these papers has what shows them.
SHOWN_BY_PAPERS = {
    "predictors": show_axioms,
    "diagnoses": show_axioms,
    "weight_distributions": show_term_weights,
}

# Section and name of some entries, each once, in their order.
Entries = Mapping[EntryName, None]


class Depth(NamedTuple):
    """Maximum number of documents per query of a ranking, and the key that sets it."""

    documents: int
    key: str


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
        """Return the configuration with the report of these papers alone.

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
        """Return `reranking` with the model's own passages, and of fine-tuned models as fine-tuning has it."""
        reranking = self.reranking
        if (passages := self.models[model].passages) is not None:
            reranking = reranking.model_copy(update={"passages": passages})
        return reranking if regime == "zero-shot" else self.finetuning_of(model).reranking(reranking)

    # Models: what each starts from.

    def with_starts(self, models: Iterable[str]) -> list[str]:
        """Return models and those that they start from."""
        names: dict[str, None] = {}
        for name in models:
            while name in self.models and name not in names:
                names[name] = None
                name = self.models[name].start
        return list(names)

    def first_start(self, model: str) -> str:
        """Return the model without a start of its own that a model starts from, directly or through others."""
        return [model, *self.with_starts([model])][-1]

    def encoder_of(self, model: str) -> EncoderConfig:
        """Return the encoder that a model starts from, directly or through others; KeyError for an unknown model."""
        return self.models[self.first_start(model)].encoder or self.encoder

    def encoder_key(self, model: str) -> str:
        """Return the key of this encoder."""
        first_model = self.first_start(model)
        return "encoder" if self.models[first_model].encoder is None else f"models.{first_model}.encoder"

    # Names in tables.

    @property
    def stage_labels(self) -> dict[str, str]:
        return {**BUILT_IN_LABELS, **{name: stage.label for name, stage in self.first_stages.items()}}

    @property
    def index_labels(self) -> dict[str, str]:
        """The name of everything that weighs the words of passages; an index without a label keeps its key."""
        passage_weightings = (item for item in self.term_weights.items() if item[1].kind == "passages")
        weighting_labels = {name: weighting.label for name, weighting in passage_weightings}
        return {TF_INDEX: TF_INDEX, **{name: name for name in self.indexes}, **weighting_labels}

    def dataset_label(self, dataset: str, candidates: str = DEFAULT_CANDIDATES) -> str:
        """Return the name of a data set, and of its candidates where they are not the usual BM25."""
        label = self.datasets[dataset].label if dataset in self.datasets else dataset
        if candidates == DEFAULT_CANDIDATES:
            return label
        return f"{label}, candidates of {self.stage_labels.get(candidates, candidates)}"

    def configured_label(self, model: str) -> str:
        """Return the configuration's label of a first stage, a model, a snapshot or a weighting, and nothing else."""
        if model in self.stage_labels:
            return self.stage_labels[model]
        name, _, step = model.partition("@")
        if name not in self.models:
            return self.index_labels.get(model, model)
        return self.models[name].label + (f" after {step} steps" if step else "")

    def model_label(self, model: str) -> str:
        """Return an honest name: the configuration's label, and the encoder or the corpora that it stands for."""
        label = self.configured_label(model)
        name = model.partition("@")[0]
        if model in self.stage_labels or name not in self.models:
            return label
        model_config = self.models[name]
        if model_config.cross_encoder is not None:
            return f"{label} (not trained here)"
        if model_config.neural is not None:
            return f"{label} (no pre-training)"
        encoder = self.encoder_of(name)
        if model_config.training.get("head") == "kept" and not model_config.tasks:
            return f"{label} (pre-trained elsewhere)"
        has_fresh_head = (
            model_config.is_control or model_config.passages is not None or model_config.encoder is not None
        )
        if has_fresh_head and not model_config.tasks and model_config.start == "encoder":
            return f"{label} ({encoder.full_label}, fresh score head)"
        if model_config.collection is None:
            return label
        encoder_name = "" if encoder == self.encoder else f"{encoder.full_label}; "
        return f"{label} ({encoder_name}{' + '.join(self.collections[model_config.collection])})"

    def encoder_labels(self, models: Iterable[str]) -> str:
        """Return the names of the encoders that some models start from; of section `encoder` where none has any."""
        encoders = [
            self.encoder_of(name) for name in models if name in self.models and self.models[name].has_encoder
        ]
        return " and ".join(dict.fromkeys(encoder.full_label for encoder in encoders or [self.encoder]))

    def is_control(self, model: str) -> bool:
        return model in self.models and self.models[model].is_control

    def control_model(self, models: Iterable[str]) -> str | None:
        return next(filter(self.is_control, models), None)

    # Data sets and first stages.

    def trained_on(self, dataset: str) -> str:
        """Return the data set whose queries fine-tune models that are tested on `dataset`."""
        return self.datasets[dataset].train_on or dataset

    def training_candidates(self, dataset: str, candidates: str) -> str:
        """Return the first stage whose candidates fine-tune models that re-rank those of `candidates` on `dataset`."""
        stage = self.first_stages.get(candidates)
        if stage is None or not stage.runs or self.trained_on(dataset) in stage.runs:
            return candidates
        return stage.training_candidates or candidates

    def needs_folds(self, dataset: str) -> bool:
        """Whether the queries of a data set fine-tune models, or teach weights of queries: folds keep some out."""
        experiments = (entry for entry in self.experiments.values() if entry.dataset in self.datasets)
        weightings = self.weightings_in(self.used_entries()).values()
        return any(
            entry.is_finetuned and self.trained_on(entry.dataset) == dataset for entry in experiments
        ) or any(weighting.kind == "queries" and weighting.dataset == dataset for weighting in weightings)

    def retrieval_depth(self, dataset: str) -> Depth:
        """Return how deep the rankings of all first stages of a data set are."""
        dataset_config = self.datasets.get(dataset)
        if dataset_config is not None and dataset_config.depth is not None:
            return Depth(dataset_config.depth, f"datasets.{dataset}.depth")
        return Depth(self.retrieval.depth, "retrieval.depth")

    def reranking_depth(self, dataset: str) -> Depth:
        """Return how many candidates of a query models re-rank."""
        depth, retrieved = self.reranking.depth, self.retrieval_depth(dataset)
        return retrieved if depth is None or depth >= retrieved.documents else Depth(depth, "reranking.depth")

    def scoring_depth(self, dataset: str) -> Depth:
        """Return how deep all rankings of a data set are when they are scored: equally, as a table compares them."""
        # All experiments decide, not only those that the report shows: a paper's table has the same depths whatever
        # other papers stand beside it.
        is_reranked = any(entry.models for entry in self.experiments.values() if entry.dataset == dataset)
        return self.reranking_depth(dataset) if is_reranked else self.retrieval_depth(dataset)

    def searched_stages(self, dataset: str) -> list[str]:
        """Return the first stages that experiments show on a data set; those built in even without an experiment."""
        experiments = (entry for entry in self.active_experiments.values() if entry.dataset == dataset)
        stages = chain.from_iterable(experiment.shown_stages for experiment in experiments)
        return list(dict.fromkeys([*BUILT_IN_FIRST_STAGES, *stages]))

    def ranked_stage(self, first_stage: str) -> str:
        """Return the first stage that retrieves the candidates of a first stage: itself, or the one whose it ranks."""
        stage = self.first_stages.get(first_stage)
        return first_stage if stage is None or stage.candidates is None else stage.candidates

    def ranking_stage(self, model: str, candidates: str) -> str | None:
        """Return the first stage `<model>-<candidates>`, such as `bm25-official`, if it ranks these candidates."""
        name = f"{model}-{candidates}"
        stage = self.first_stages.get(name)
        return name if stage is not None and stage.candidates == candidates else None

    def bm25_baseline(self, stage: str) -> str | None:
        """Return the first stage that is BM25 over term frequencies, tuned as `stage` is; None if there is no such one.

        Without tuning it is the one that is built in. A comparison with it shows no gain of the tuning.
        """
        stage_options = self.first_stages.get(stage)
        if stage_options is None or stage_options.tuned_on is None:
            return BUILT_IN_FIRST_STAGES[0]
        tuned_bm25 = (TF_INDEX, "bm25", None, stage_options.tuned_on)
        for name, other in self.first_stages.items():
            if not other.runs and (other.index, other.model, other.candidates, other.tuned_on) == tuned_bm25:
                return name
        return None

    def predictor_of(self, weighting: str) -> str:
        """Return the weighting whose predictions a weighting takes: itself, or the one that it is the same as."""
        return (
            weighting
            if weighting not in self.term_weights
            else self.term_weights[weighting].same_as or weighting
        )

    def index_words(self, index: str) -> QueryWords:
        """Return how the texts behind an index's weights are cut into words; queries are cut the same way."""
        cuts_by_lucene = index == TF_INDEX or index in self.indexes
        return LUCENE_WORDS if cuts_by_lucene and self.text.language == ENGLISH else self.text.word_kind

    # What the report shows; no other entry is run.

    @property
    def active_experiments(self) -> dict[str, ExperimentConfig]:
        return self.active("experiments")

    def active(self, section: str) -> dict[str, Any]:
        """Return the entries of a section that some paper of the report shows."""
        entries: dict[str, Any] = getattr(self, section)
        if section in ("experiments", "downstream"):
            return {name: entry for name, entry in entries.items() if entry.is_active(self.report.papers)}
        if section in SHOWN_BY_PAPERS and not SHOWN_BY_PAPERS[section](self.report.papers):
            return {}
        hidden_names = self._hidden_predictors() if section == "predictors" else set()
        return {name: entry for name, entry in entries.items() if name not in hidden_names}

    def _hidden_predictors(self) -> set[str]:
        """Return the predictors whose files are absent, and those that teach only models that are not in use.

        Of those that no objective names, tables are the only use. If experiments are left out because files are
        missing, their models count as in use.
        """
        unused = {getattr(objective, "predictor", None) for objective in self.objectives.values()}
        teaching_entries = self.reachable_entries(("models", name) for name in self.needed_models)
        unused -= {
            name for name in self.predictors if self.absent or ("predictors", name) in teaching_entries
        }
        return {*self.absent_predictors, *filter(None, unused)}

    def hidden_views(self) -> list[str]:
        """Return a line for each section of views that the report lacks, as no paper of it shows them."""
        lines = []
        for section in ("diagnoses", "weight_distributions"):
            names = [f"{section}.{name}" for name in getattr(self, section)]
            if names and not self.active(section):
                papers = " or ".join(paper for paper in known_papers() if SHOWN_BY_PAPERS[section]([paper]))
                lines.append(f"Not in the report: {', '.join(names)}. Add {papers} to report.papers.")
        return lines

    @property
    def tested_datasets(self) -> list[str]:
        return list(dict.fromkeys(experiment.dataset for experiment in self.active_experiments.values()))

    @property
    def used_models(self) -> list[str]:
        """The models that some experiment or task beside retrieval needs, those they start from included."""
        entries = chain(self.active_experiments.values(), self.active("downstream").values())
        return self.with_starts(chain.from_iterable(entry.models for entry in entries))

    @property
    def needed_models(self) -> list[str]:
        """The models that an experiment, page of attributions or diagnosis needs, and those they start from."""
        views = chain(self.attributions.values(), self.active("diagnoses").values())
        return self.with_starts([*self.used_models, *chain.from_iterable(view.models for view in views)])

    # What this needs, through the names of `config.references`.

    def reachable_entries(self, roots: Iterable[EntryName]) -> Entries:
        """Return some entries and all that these need, each once; names that lead nowhere are left out."""
        entries = dict[EntryName, None]()

        def add(names: Iterable[EntryName]) -> None:
            for target, name in names:
                for section in sections_of(target):
                    if name in getattr(self, section) and (section, name) not in entries:
                        entries[section, name] = None
                        add(names_needed_by(self, section, getattr(self, section)[name]))

        add(roots)
        return entries

    def all_entries(self) -> Entries:
        """Return the entries that some key may name: any may be needed by a target."""
        sections = dict.fromkeys(
            chain.from_iterable(sections_of(reference.target) for reference in REFERENCES)
        )
        return {(section, name): None for section in sections for name in getattr(self, section)}

    def used_entries(self) -> Entries:
        """Return what the report shows, the models of its pages of attributions, and all that these need."""
        sections = ("experiments", "downstream", "predictors", "diagnoses", "weight_distributions")
        shown_names = [(section, name) for section in sections for name in self.active(section)]
        return self.reachable_entries([*shown_names, *(("models", name) for name in self.needed_models)])

    def used_names(self, section: str) -> list[str]:
        """Return the names of a section's entries of `used_entries`."""
        return [name for holder, name in self.used_entries() if holder == section]

    def weightings_in(self, entries: Entries) -> dict[str, TermWeightsConfig]:
        """Return the weightings among some entries but for those that take over another one's predictions."""
        return {
            name: self.term_weights[name]
            for section, name in entries
            if section == "term_weights" and self.term_weights[name].same_as is None
        }


# Sections that map names to entries; those that the program fills in are called absent.
ENTRY_SECTIONS = tuple(
    name
    for name, field in Config.model_fields.items()
    if get_origin(field.annotation) is dict and not name.startswith("absent")
)
