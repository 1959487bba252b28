"""What of a configuration is used: by the experiments that the report shows, and by what these need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from irpretrain.config.objectives import needs
from irpretrain.config.papers import known_papers, papers_with_depths, show_axioms, show_term_weights
from irpretrain.config.references import REFERENCES, EntryName, names_under, sections_of
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, LUCENE_WORDS, TF_INDEX, QueryWords
from irpretrain.text.languages import ENGLISH

if TYPE_CHECKING:
    from irpretrain.config.axioms import DiagnosisConfig, PredictorConfig
    from irpretrain.config.experiments import DownstreamConfig, ExperimentConfig, WeightDistributionConfig
    from irpretrain.config.root import Config
    from irpretrain.config.term_weights import TermWeightsConfig
    from irpretrain.config.text import EncoderConfig

REGIME = re.compile(r"zero-shot|full|few-shot-([1-9][0-9]*)")


def active_experiments(config: Config) -> dict[str, ExperimentConfig]:
    """Return the experiments that some paper of the report shows; no other is run."""
    return {
        name: entry
        for name, entry in config.experiments.items()
        if is_reported(config, entry) and not hides_depths(config, entry)
    }


def hides_depths(config: Config, experiment: ExperimentConfig) -> bool:
    """Whether an experiment has depths, and no paper of the report that shows it has a table of depths."""
    papers = config.report.papers if experiment.papers is None else experiment.papers
    papers_with_table = set(papers_with_depths()) & set(config.report.papers)
    return bool(experiment.depths) and papers_with_table.isdisjoint(papers)


def active_downstream(config: Config) -> dict[str, DownstreamConfig]:
    """Return the entries of `downstream` that some paper of the report shows; no other is run."""
    return {name: entry for name, entry in config.downstream.items() if is_reported(config, entry)}


def is_reported(config: Config, entry: ExperimentConfig | DownstreamConfig) -> bool:
    """Whether some paper of the report shows an entry; those that name no paper belong to each."""
    return entry.papers is None or not set(entry.papers).isdisjoint(config.report.papers)


def first_stages_of(experiment: ExperimentConfig) -> list[str]:
    """Return the first stages whose runs an experiment shows: those built in, its candidates, and those it names."""
    return list(dict.fromkeys([*BUILT_IN_FIRST_STAGES, experiment.candidates, *experiment.first_stages]))


def bm25_baseline(config: Config, stage: str) -> str | None:
    """Return the first stage that is BM25 over term frequencies, tuned as `stage` is; None if there is no such one.

    Without tuning it is the one that is built in. A comparison with it shows no gain of the tuning.
    """
    stage_options = config.first_stages.get(stage)
    if stage_options is None or stage_options.tuned_on is None:
        return BUILT_IN_FIRST_STAGES[0]
    tuned_bm25 = (TF_INDEX, "bm25", None, stage_options.tuned_on)
    for name, other in config.first_stages.items():
        if not other.runs and (other.index, other.model, other.candidates, other.tuned_on) == tuned_bm25:
            return name
    return None


def searched_stages(config: Config, dataset: str) -> list[str]:
    """Return the first stages that experiments show on a data set; those built in even without an experiment."""
    experiments = [entry for entry in active_experiments(config).values() if entry.dataset == dataset]
    return list(dict.fromkeys([*BUILT_IN_FIRST_STAGES, *chain(*map(first_stages_of, experiments))]))


def needs_folds(config: Config, dataset: str) -> bool:
    """Whether the queries of a data set fine-tune models, or teach weights of queries: folds keep some of them out."""
    finetuning_datasets = (
        trained_on(config, experiment.dataset)
        for experiment in config.experiments.values()
        if experiment.dataset in config.datasets and experiment.is_finetuned
    )
    weightings = weightings_in(config, used_entries(config)).values()
    teaching_datasets = (weighting.dataset for weighting in weightings if weighting.kind == "queries")
    return dataset in (*finetuning_datasets, *teaching_datasets)


def trained_on(config: Config, dataset: str) -> str:
    """Return the data set whose queries fine-tune models that are tested on `dataset`."""
    return config.datasets[dataset].train_on or dataset


def training_candidates(config: Config, dataset: str, candidates: str) -> str:
    """Return the first stage whose candidates fine-tune models that re-rank those of `candidates` on `dataset`."""
    stage = config.first_stages.get(candidates)
    if stage is None or not stage.runs or trained_on(config, dataset) in stage.runs:
        return candidates
    return stage.training_candidates or candidates


def max_shots(config: Config, dataset: str) -> tuple[int, int]:
    """Return the largest n of few-shot-<n> regimes on a data set's own folds, and for another data set, or 0."""
    by_folds, by_another = list[str](), list[str]()
    for experiment in active_experiments(config).values():
        if trained_on(config, experiment.dataset) == dataset:
            (by_folds if experiment.dataset == dataset else by_another).extend(experiment.regimes)
    return largest_shots(by_folds), largest_shots(by_another)


def largest_shots(regimes: Iterable[str]) -> int:
    matches = (REGIME.fullmatch(regime) for regime in regimes)
    return max((int(match[1]) for match in matches if match and match[1]), default=0)


# Section whose entries the report shows all, or none → whether some of these papers has what shows them.
SHOWN_BY_PAPERS = {"diagnoses": show_axioms, "weight_distributions": show_term_weights}


def active_diagnoses(config: Config) -> dict[str, DiagnosisConfig]:
    return config.diagnoses if SHOWN_BY_PAPERS["diagnoses"](config.report.papers) else {}


def active_distributions(config: Config) -> dict[str, WeightDistributionConfig]:
    return (
        config.weight_distributions if SHOWN_BY_PAPERS["weight_distributions"](config.report.papers) else {}
    )


def hidden_views(config: Config) -> list[str]:
    """Return a line for each section whose entries the report lacks, as no paper of it shows them."""
    lines = []
    for section, is_reported_by in SHOWN_BY_PAPERS.items():
        names = [f"{section}.{name}" for name in getattr(config, section)]
        if names and not is_reported_by(config.report.papers):
            papers = " or ".join(paper for paper in known_papers() if is_reported_by([paper]))
            lines.append(f"Not in the report: {', '.join(names)}. Add {papers} to report.papers.")
    return lines


# What the report needs, through the names of `config.references`: section and name of each entry.
Entries = Mapping[EntryName, None]


def reachable_entries(config: Config, roots: Iterable[EntryName]) -> Entries:
    """Return some entries and all that these need, each once; names that lead nowhere are left out."""
    entries = dict[EntryName, None]()

    def add(names: Iterable[EntryName]) -> None:
        for target, name in names:
            for section in sections_of(target):
                if name in getattr(config, section) and (section, name) not in entries:
                    entries[section, name] = None
                    add(_needed_by(config, section, getattr(config, section)[name]))

    add(roots)
    return entries


def _needed_by(config: Config, section: str, entry: Any) -> Iterator[EntryName]:
    for reference in REFERENCES:
        if reference.section == section and reference.always:
            yield from ((reference.target, name) for name in names_under(entry, reference.key))
    if section == "experiments" and entry.dataset in config.datasets and entry.is_finetuned:
        yield "datasets", trained_on(config, entry.dataset)
        yield "first_stages", training_candidates(config, entry.dataset, entry.candidates)
    elif section == "models" and entry.tasks:
        yield "collections", entry.collection
    elif section == "term_weights" and entry.same_as is None:
        yield "datasets", entry.dataset
        yield "collections", entry.collection


def all_entries(config: Config) -> Entries:
    """Return the entries that some key may name: any may be needed by a target."""
    sections = dict.fromkeys(holder for reference in REFERENCES for holder in sections_of(reference.target))
    return {(section, name): None for section in sections for name in getattr(config, section)}


def used_entries(config: Config) -> Entries:
    """Return what the report shows, the models of its pages of attributions, and all that these need."""
    shown_entries: dict[str, Iterable[str]] = {
        "experiments": active_experiments(config),
        "downstream": active_downstream(config),
        "predictors": displayed_predictors(config),
        "diagnoses": active_diagnoses(config),
        "weight_distributions": active_distributions(config),
        "models": needed_models(config),
    }
    shown_names = ((section, name) for section, names in shown_entries.items() for name in names)
    return reachable_entries(config, shown_names)


def used_names(config: Config, section: str) -> list[str]:
    """Return the names of a section's entries of `used_entries`."""
    return [name for holder, name in used_entries(config) if holder == section]


def tested_datasets(config: Config) -> list[str]:
    return list(dict.fromkeys(experiment.dataset for experiment in active_experiments(config).values()))


def weightings_in(config: Config, entries: Entries) -> dict[str, TermWeightsConfig]:
    """Return the weightings among some entries but for those that take over another one's predictions."""
    return {
        name: config.term_weights[name]
        for section, name in entries
        if section == "term_weights" and config.term_weights[name].same_as is None
    }


def used_models(config: Config) -> list[str]:
    """Return the models that some experiment or task beside retrieval needs, those they start from included."""
    model_lists = [experiment.models for experiment in active_experiments(config).values()]
    model_lists += [entry.models for entry in active_downstream(config).values()]
    return with_starts(config, chain(*model_lists))


def needed_models(config: Config) -> list[str]:
    """Return the models that an experiment, page of attributions or diagnosis needs, and those they start from."""
    model_lists = [page.models for page in config.attributions.values()]
    model_lists += [diagnosis.models for diagnosis in active_diagnoses(config).values()]
    return with_starts(config, chain(used_models(config), *model_lists))


def displayed_predictors(config: Config) -> dict[str, PredictorConfig]:
    """Return the predictors in the tables of ARES, if the report has these, whose files exist.

    All that teach a model in use, and all that no objective names, as only tables use these. If experiments are left
    out because files are missing, their models count as in use.
    """
    if not show_axioms(config.report.papers):
        return {}
    unused_predictors = {getattr(objective, "predictor", None) for objective in config.objectives.values()}
    teaching_entries = reachable_entries(config, (("models", name) for name in needed_models(config)))
    unused_predictors -= {
        name for name in config.predictors if config.absent or ("predictors", name) in teaching_entries
    }
    hidden_predictors = {*config.absent_predictors, *unused_predictors}
    return {name: predictor for name, predictor in config.predictors.items() if name not in hidden_predictors}


def encoders_in(config: Config, entries: Entries) -> dict[str, EncoderConfig]:
    """Return the encoders that models and weightings among some entries start from, by the key that names each."""
    encoders: dict[str, EncoderConfig] = {}
    for section, name in entries:
        if section == "models" and not (config.models[name].cross_encoder or config.models[name].neural):
            encoders[_encoder_key(config, name)] = encoder_of(config, name)
    for name, weighting in weightings_in(config, entries).items():
        if weighting.encoder is not None:
            encoders[f"term_weights.{name}.encoder"] = weighting.encoder
        elif weighting.model == "regressor":
            encoders["encoder"] = config.encoder
    return encoders


def collections_with_vectors(config: Config, entries: Entries) -> list[str]:
    """Return the collections whose word vectors some entries read: axioms, weights of words, or a ranker."""
    collections = []
    for section, name in entries:
        entry: Any = getattr(config, section)[name]
        match section:
            case "predictors" | "diagnoses":
                collections.append(entry.collection)
            case "term_weights" if entry.same_as is None and entry.model == "word-vectors":
                collections.append(entry.collection)
            case "models" if entry.neural is not None and entry.neural.needs_vectors:
                collections.append(entry.neural.collection)
            case "models" if any(
                "axiom_values" in needs(config.objectives[task.objective]) for task in entry.tasks
            ):
                collections.append(entry.collection)
    return list(dict.fromkeys(collections))


def encoder_of(config: Config, model: str) -> EncoderConfig:
    """Return the encoder that a model starts from, directly or through others; KeyError for an unknown model."""
    return config.models[_first_start(config, model)].encoder or config.encoder


def _encoder_key(config: Config, model: str) -> str:
    first_model = _first_start(config, model)
    return "encoder" if config.models[first_model].encoder is None else f"models.{first_model}.encoder"


def _first_start(config: Config, model: str) -> str:
    return [model, *with_starts(config, [model])][-1]


def with_starts(config: Config, models: Iterable[str]) -> list[str]:
    """Return models and those that they start from."""
    names: dict[str, None] = {}
    for name in models:
        while name in config.models and name not in names:
            names[name] = None
            name = config.models[name].start
    return list(names)


def first_stage_names(config: Config) -> list[str]:
    return [*BUILT_IN_FIRST_STAGES, *config.first_stages]


def ranked_stage(config: Config, first_stage: str) -> str:
    """Return the first stage that retrieves the candidates of a first stage: itself, or the one whose it ranks."""
    stage = config.first_stages.get(first_stage)
    return first_stage if stage is None or stage.candidates is None else stage.candidates


def ranking_stage(config: Config, model: str, candidates: str) -> str | None:
    """Return the first stage `<model>-<candidates>`, such as `bm25-official`, if it ranks these candidates."""
    name = f"{model}-{candidates}"
    stage = config.first_stages.get(name)
    return name if stage is not None and stage.candidates == candidates else None


def index_names(config: Config) -> list[str]:
    passages = (name for name, weighting in config.term_weights.items() if weighting.kind == "passages")
    return [TF_INDEX, *config.indexes, *passages]


def index_words(config: Config, index: str) -> QueryWords:
    """Return how the texts behind an index's weights are cut into words; queries are cut the same way."""
    cuts_by_lucene = index == TF_INDEX or index in config.indexes
    return LUCENE_WORDS if cuts_by_lucene and config.text.language == ENGLISH else config.text.word_kind


def longest_sequences(config: Config, encoder: str) -> dict[str, int]:
    """Return the longest sequence of each stage in use for an encoder (of `encoders_in`), by configuration key."""
    lengths = {}
    if not encoder.startswith("term_weights."):
        lengths["reranking.max_length"] = config.reranking.max_length
    models = {
        name: config.models[name] for name in used_models(config) if _encoder_key(config, name) == encoder
    }
    for name, model in models.items():
        if model.tasks:
            key = f"models.{name}.training" if "max_length" in model.training else "pretraining"
            lengths[f"{key}.max_length"] = config.training_of(name).max_length
        for task in model.tasks:
            if task.max_length is not None:
                lengths[f"models.{name}.tasks.{task.objective}.max_length"] = task.max_length
    if any(experiment.is_finetuned for experiment in active_experiments(config).values()):
        for name, model in models.items():
            key = f"models.{name}.finetuning" if "max_length" in model.finetuning else "finetuning"
            lengths[f"{key}.max_length"] = config.finetuning_of(name).max_length
    if models and active_downstream(config):
        lengths["question_answering.max_length"] = config.question_answering.max_length
    for name, weighting in weightings_in(config, used_entries(config)).items():
        encoder_key = "encoder" if weighting.encoder is None else f"term_weights.{name}.encoder"
        if weighting.model == "regressor" and encoder_key == encoder:
            lengths[f"term_weights.{name}.max_length"] = weighting.max_length
    return lengths
