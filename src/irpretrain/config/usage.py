"""What of a configuration is used: by the experiments that the report shows, and by what these need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from irpretrain.config.objectives import needs
from irpretrain.config.papers import known_papers, papers_with_depths, show_axioms, show_term_weights
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, LUCENE_WORDS, TF_INDEX, QueryWords
from irpretrain.text.languages import ENGLISH

if TYPE_CHECKING:
    from irpretrain.config.axioms import DiagnosisConfig, PredictorConfig
    from irpretrain.config.experiments import DownstreamConfig, ExperimentConfig, WeightDistributionConfig
    from irpretrain.config.root import Config
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
    tables = set(papers_with_depths()) & set(config.report.papers)
    return bool(experiment.depths) and tables.isdisjoint(papers)


def active_downstream(config: Config) -> dict[str, DownstreamConfig]:
    """Return the entries of `downstream` that some paper of the report shows; no other is run."""
    return {name: entry for name, entry in config.downstream.items() if is_reported(config, entry)}


def is_reported(config: Config, entry: ExperimentConfig | DownstreamConfig) -> bool:
    """Whether some paper of the report shows an entry; those that name no paper belong to each."""
    return entry.papers is None or not set(entry.papers).isdisjoint(config.report.papers)


def used_tasks(config: Config) -> list[str]:
    """Return the tasks beside retrieval that some model is fine-tuned for."""
    return list(dict.fromkeys(task for entry in active_downstream(config).values() for task in entry.tasks))


def first_stages_of(experiment: ExperimentConfig) -> list[str]:
    """Return the first stages whose runs an experiment shows: those built in, its candidates, and those it names."""
    return list(dict.fromkeys([*BUILT_IN_FIRST_STAGES, experiment.candidates, *experiment.first_stages]))


def searched_stages(config: Config, dataset: str) -> list[str]:
    """Return the first stages that experiments show on a data set; those built in even without an experiment."""
    experiments = [
        displayed for displayed in active_experiments(config).values() if displayed.dataset == dataset
    ]
    stages = [stage for experiment in experiments for stage in first_stages_of(experiment)]
    return list(dict.fromkeys([*BUILT_IN_FIRST_STAGES, *stages]))


def trained_on(config: Config, dataset: str) -> str:
    """Return the data set whose queries fine-tune models that are tested on `dataset`."""
    return config.datasets[dataset].train_on or dataset


def needs_folds(config: Config, dataset: str) -> bool:
    """Whether the queries of a data set fine-tune models, or teach weights of queries: folds keep some of them out."""
    tuned = (
        trained_on(config, experiment.dataset)
        for experiment in config.experiments.values()
        if experiment.dataset in config.datasets and set(experiment.regimes) - {"zero-shot"}
    )
    weightings = (config.term_weights[name] for name in used_weightings(config))
    taught = (weighting.dataset for weighting in weightings if weighting.kind == "queries")
    return dataset in (*tuned, *taught)


def training_candidates(config: Config, dataset: str, candidates: str) -> str:
    """Return the first stage whose candidates fine-tune models that re-rank those of `candidates` on `dataset`."""
    stage = config.first_stages.get(candidates)
    if stage is None or not stage.runs or trained_on(config, dataset) in stage.runs:
        return candidates
    return stage.training_candidates or candidates


def most_shots(config: Config, dataset: str) -> tuple[int, int]:
    """Return the largest n of few-shot-<n> regimes on a data set's own folds, and for another data set, or 0."""
    by_folds, by_another = list[str](), list[str]()
    for experiment in active_experiments(config).values():
        if trained_on(config, experiment.dataset) == dataset:
            (by_folds if experiment.dataset == dataset else by_another).extend(experiment.regimes)
    return largest_shots(by_folds), largest_shots(by_another)


def largest_shots(regimes: Iterable[str]) -> int:
    counts = [match[1] for regime in regimes if (match := REGIME.fullmatch(regime))]
    return max((int(number) for number in counts if number), default=0)


def used_models(config: Config) -> list[str]:
    """Return the models that some experiment or task beside retrieval needs, those they start from included."""
    compared = [experiment.models for experiment in active_experiments(config).values()]
    compared += [entry.models for entry in active_downstream(config).values()]
    return with_starts(config, (name for models in compared for name in models))


def wanted_models(config: Config) -> list[str]:
    """Return the models that an experiment, page of attributions or diagnosis needs, and those they start from."""
    attributed = [name for page in config.attributions.values() for name in page.models]
    diagnosed = [name for diagnosis in active_diagnoses(config).values() for name in diagnosis.models]
    return list(dict.fromkeys([*used_models(config), *with_starts(config, [*attributed, *diagnosed])]))


def active_diagnoses(config: Config) -> dict[str, DiagnosisConfig]:
    """Return the diagnoses that the report shows: all, where a paper of it has axioms."""
    return config.diagnoses if show_axioms(config.report.papers) else {}


def active_distributions(config: Config) -> dict[str, WeightDistributionConfig]:
    """Return the distributions of weights that the report shows: all, where a paper of it draws them."""
    return config.weight_distributions if show_term_weights(config.report.papers) else {}


def hidden_views(config: Config) -> list[str]:
    """Return a line for each section whose entries the report lacks, as no paper of it shows them."""
    sections = {"diagnoses": show_axioms, "weight_distributions": show_term_weights}
    lines = []
    for section, is_reported_by in sections.items():
        names = [f"{section}.{name}" for name in getattr(config, section)]
        if names and not is_reported_by(config.report.papers):
            papers = " or ".join(paper for paper in known_papers() if is_reported_by([paper]))
            lines.append(f"Not in the report: {', '.join(names)}. Add {papers} to report.papers.")
    return lines


def used_predictors(config: Config) -> list[str]:
    """Return the predictors that a table shows or an objective in use asks for."""
    displayed = displayed_predictors(config) if show_axioms(config.report.papers) else {}
    return [
        name
        for name in dict.fromkeys([*displayed, *_teaching_predictors(config)])
        if name in config.predictors
    ]


def displayed_predictors(config: Config) -> dict[str, PredictorConfig]:
    """Return the predictors in the tables of ARES whose files exist.

    All that teach a model in use, and all that no objective names, as only tables use these. If experiments are left
    out because files are missing, their models count as in use.
    """
    unused = {getattr(objective, "predictor", None) for objective in config.objectives.values()}
    unused -= set(config.predictors) if config.absent else set(_teaching_predictors(config))
    hidden = {*config.absent_predictors, *unused}
    return {name: predictor for name, predictor in config.predictors.items() if name not in hidden}


def _teaching_predictors(config: Config) -> list[str]:
    tasks = [task for name in wanted_models(config) for task in config.models[name].tasks]
    return [
        predictor
        for task in tasks
        if (predictor := getattr(config.objectives.get(task.objective), "predictor", None)) is not None
    ]


def given_models(config: Config) -> list[str]:
    """Return the models in use that are re-rankers given by their paths."""
    return [name for name in wanted_models(config) if config.models[name].cross_encoder is not None]


def used_encoders(config: Config) -> dict[str, EncoderConfig]:
    """Return the encoders that models and weightings in use start from, by the key that names each."""
    encoders: dict[str, EncoderConfig] = {}
    for name in wanted_models(config):
        if config.models[name].cross_encoder is None and config.models[name].neural is None:
            encoders[_encoder_key(config, name)] = encoder_of(config, name)
    for name in used_weightings(config):
        weighting = config.term_weights[name]
        if weighting.encoder is not None:
            encoders[f"term_weights.{name}.encoder"] = weighting.encoder
        elif weighting.model == "regressor":
            encoders["encoder"] = config.encoder
    return encoders


def encoder_of(config: Config, model: str) -> EncoderConfig:
    """Return the encoder that a model starts from, directly or through others; KeyError for an unknown model."""
    return config.models[_first_start(config, model)].encoder or config.encoder


def _encoder_key(config: Config, model: str) -> str:
    first = _first_start(config, model)
    return "encoder" if config.models[first].encoder is None else f"models.{first}.encoder"


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


def tested_datasets(config: Config) -> list[str]:
    return list(dict.fromkeys(experiment.dataset for experiment in active_experiments(config).values()))


def used_datasets(config: Config) -> list[str]:
    """Return the data sets that experiments test or train on, or that choose or teach something in use."""
    training = (
        trained_on(config, experiment.dataset)
        for experiment in active_experiments(config).values()
        if any(regime != "zero-shot" for regime in experiment.regimes)
    )
    selections = (config.models[name].select_on for name in used_models(config))
    choosing = (selection.dataset for selection in selections if selection is not None)
    judged = (config.predictors[name].dataset for name in used_predictors(config))
    stages = (config.first_stages.get(name) for name in used_first_stages(config))
    tuning = (stage.tuned_on for stage in stages if stage is not None and stage.tuned_on is not None)
    weightings = (config.term_weights[name].dataset for name in used_weightings(config))
    weighed = (name for name in weightings if name is not None)
    return list(dict.fromkeys([*tested_datasets(config), *training, *choosing, *judged, *tuning, *weighed]))


def used_first_stages(config: Config) -> list[str]:
    """Return the first stages, built in or not, that some experiment shows or some model re-ranks."""
    stage_names = dict.fromkeys(BUILT_IN_FIRST_STAGES)
    for experiment in active_experiments(config).values():
        stage_names |= dict.fromkeys(first_stages_of(experiment))
        if experiment.dataset in config.datasets and set(experiment.regimes) - {"zero-shot"}:
            stage_names[training_candidates(config, experiment.dataset, experiment.candidates)] = None
    selections = (config.models[name].select_on for name in used_models(config))
    stage_names |= dict.fromkeys(selection.candidates for selection in selections if selection is not None)
    return list(dict.fromkeys([*stage_names, *(ranked_stage(config, name) for name in stage_names)]))


def used_runs(config: Config) -> list[tuple[str, str]]:
    """Return (first stage, data set) of every external run that some experiment shows or some model re-ranks."""
    datasets = used_datasets(config)
    stages = [name for name in used_first_stages(config) if name in config.first_stages]
    return [
        (name, dataset)
        for name in stages
        for dataset in config.first_stages[name].runs
        if dataset in datasets
    ]


def first_stage_names(config: Config) -> list[str]:
    """Return every first stage that an experiment may name."""
    return [*BUILT_IN_FIRST_STAGES, *config.first_stages]


def ranked_stage(config: Config, first_stage: str) -> str:
    """Return the first stage that retrieves the candidates of a first stage: itself, or the one whose it ranks."""
    stage = config.first_stages.get(first_stage)
    return first_stage if stage is None or stage.candidates is None else stage.candidates


def over_candidates(model: str, candidates: str) -> str:
    """Return what a first stage is called that ranks candidates by a model: `bm25-official`."""
    return f"{model}-{candidates}"


def stage_over(config: Config, model: str, candidates: str) -> str | None:
    """Return the first stage `<model>-<candidates>` if it ranks these candidates, else None."""
    name = over_candidates(model, candidates)
    stage = config.first_stages.get(name)
    return name if stage is not None and stage.candidates == candidates else None


def index_names(config: Config) -> list[str]:
    passages = (name for name, weighting in config.term_weights.items() if weighting.kind == "passages")
    return [TF_INDEX, *config.indexes, *passages]


def index_words(config: Config, index: str) -> QueryWords:
    """Return how the texts behind an index's weights are cut into words; queries are cut the same way."""
    by_lucene = index == TF_INDEX or index in config.indexes
    return LUCENE_WORDS if by_lucene and config.text.language == ENGLISH else config.text.word_kind


def used_indexes(config: Config) -> list[str]:
    stages = (config.first_stages.get(name) for name in used_first_stages(config))
    named = dict.fromkeys(stage.index for stage in stages if stage is not None)
    return [name for name in named if name in config.indexes]


def used_weightings(config: Config) -> list[str]:
    """Return the weightings behind first stages in use, or whose distributions the report displays."""
    stages = (config.first_stages.get(name) for name in used_first_stages(config))
    names = [name for stage in stages if stage is not None for name in (stage.index, stage.query_weights)]
    names += [name for displayed in active_distributions(config).values() for name in displayed.weightings]
    named = [(name, config.term_weights[name]) for name in names if name in config.term_weights]
    learned = (weighting.same_as or name for name, weighting in named)
    return [name for name in dict.fromkeys(learned) if name in config.term_weights]


def collections_with_vectors(config: Config) -> list[str]:
    """Return the collections whose word vectors something in use reads: axioms, weights of words, or a ranker."""

    models = [config.models[name] for name in wanted_models(config)]
    collections = [
        *(
            model.neural.collection
            for model in models
            if model.neural is not None and model.neural.needs_vectors
        ),
        *(
            model.collection
            for model in models
            for task in model.tasks
            if "axiom_values" in needs(config.objectives[task.objective])
        ),
        *(config.predictors[name].collection for name in used_predictors(config)),
        *(diagnosis.collection for diagnosis in active_diagnoses(config).values()),
        *(
            config.term_weights[name].collection
            for name in used_weightings(config)
            if config.term_weights[name].model == "word-vectors"
        ),
    ]
    return [name for name in dict.fromkeys(collections) if name is not None]


def used_corpora(config: Config) -> list[str]:
    """Return the corpora that experiments, query comparisons, word vectors or weight distributions in use read."""
    neural = (config.models[name].neural for name in used_models(config))
    collections = [
        *(ranker.collection for ranker in neural if ranker is not None),
        *(config.models[name].collection for name in used_models(config) if config.models[name].tasks),
        *(config.predictors[name].collection for name in used_predictors(config)),
        *(diagnosis.collection for diagnosis in active_diagnoses(config).values()),
        *(config.term_weights[name].collection for name in used_weightings(config)),
    ]
    trained = [corpus for name in collections if name is not None for corpus in config.collections[name]]
    searched = [config.datasets[name].corpus for name in used_datasets(config)]
    displayed = [
        corpus for displayed in active_distributions(config).values() for corpus in displayed.corpora
    ]
    return list(dict.fromkeys([*trained, *searched, *displayed]))


def longest_sequences(config: Config, encoder: str) -> dict[str, int]:
    """Return the longest sequence of each stage in use for an encoder (of `used_encoders`), by configuration key."""
    models = [name for name in used_models(config) if _encoder_key(config, name) == encoder]
    lengths = (
        {} if encoder.startswith("term_weights.") else {"reranking.max_length": config.reranking.max_length}
    )
    for name in models:
        if config.models[name].tasks:
            key = f"models.{name}.training" if "max_length" in config.models[name].training else "pretraining"
            training = config.training_of(name)
            lengths[f"{key}.max_length"] = training.max_length
            for task in config.models[name].tasks:
                if task.max_length is not None:
                    lengths[f"models.{name}.tasks.{task.objective}.max_length"] = task.max_length
    if any(regime != "zero-shot" for e in active_experiments(config).values() for regime in e.regimes):
        for name in models:
            key = (
                f"models.{name}.finetuning"
                if "max_length" in config.models[name].finetuning
                else "finetuning"
            )
            lengths[f"{key}.max_length"] = config.finetuning_of(name).max_length
    if models and used_tasks(config):
        lengths["question_answering.max_length"] = config.question_answering.max_length
    for name in used_weightings(config):
        weighting = config.term_weights[name]
        where = "encoder" if weighting.encoder is None else f"term_weights.{name}.encoder"
        if weighting.model == "regressor" and where == encoder:
            lengths[f"term_weights.{name}.max_length"] = weighting.max_length
    return lengths
