"""What one row of a table is, resolved once from the sections of a configuration: how many documents of a query it
ranks, how much of a query and of a document it reads at each of its stages, how it searches, is trained and chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.base import Section, deciding, leaves
from irpretrain.config.corpora import CorpusText
from irpretrain.config.experiments import ModelConfig
from irpretrain.config.finetuning import keys_unread_by, shots_of
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.config.retrieval import (
    BUILT_IN_FIRST_STAGES,
    MAX_PASSAGES,
    MODEL_PARAMETERS,
    FirstStageConfig,
    IndriOptions,
)
from irpretrain.evaluation.ledger import (
    BETWEEN_VALUES,
    READING_LABELS,
    RunFacts,
    cell_text,
    stages_text,
    totals_by_objective,
)
from irpretrain.evaluation.measures import cutoff

if TYPE_CHECKING:
    from irpretrain.config.pretraining import PretrainingConfig
    from irpretrain.config.root import Config
    from irpretrain.config.training import SequenceConfig

# Beside options that decide nothing by their declaration: those that change no more than last digits, keep models, set
# other options, or are named already (`type`).
NOT_COMPARED = {"accumulation", "recipe", "keep_models", "batch_tokens", "type"}
# Options of pre-training that are facts of their own.
LENGTH_KEYS = {"steps", "epochs", "epochs_of", "snapshots"}
# `pretraining.head` in words.
HEADS = {"mlp": "fresh", "pooled": "pooler kept", "cedr-knrm": "CEDR-KNRM's", "kept": "the encoder's own"}
# What is read, which is a fact of its own.
READING = {"max_length", "query_length", "passages"}
# Options of pre-training that each task may override.
TASK_KEYS = {"loss", "masking"}


class Pretraining(NamedTuple):
    """One of the pre-trainings behind a model: the model that it makes, and its options."""

    name: str
    model: ModelConfig
    options: PretrainingConfig

    @property
    def choice(self) -> str:
        """What chooses the snapshot that is the model."""
        if (selection := self.model.select_on) is None:
            return "last step"
        snapshot_count = len(self.options.snapshot_steps(with_last=True))
        return f"chosen on {selection.dataset} by {selection.measure} among {snapshot_count} snapshots"


@dataclass(frozen=True)
class Run:
    """A ranking of a data set's queries: of a first stage, or of the model that re-ranks its candidates."""

    config: Config = field(repr=False, compare=False)
    dataset: str
    candidates: str  # a first stage, or its first documents, "bm25@20"
    # Key of `models`, or a snapshot, "prop@60"; of a first stage's own ranking its name, or nothing.
    model: str = ""
    regime: str = FIRST_STAGE

    @property
    def stage(self) -> str:
        """The first stage."""
        return self.candidates.partition("@")[0]

    @property
    def name(self) -> str:
        """Key of the model; empty of a first stage's own ranking."""
        return "" if self.regime == FIRST_STAGE else self.model.partition("@")[0]

    @property
    def is_finetuned(self) -> bool:
        return self.regime not in ("zero-shot", FIRST_STAGE)

    @cached_property
    def depth(self) -> int | None:
        """Number of documents of a query that are scored; None of a first stage that no experiment reports."""
        if cut_depth := self.candidates.partition("@")[2]:
            return int(cut_depth)
        is_reported = self.name or any(
            experiment.dataset == self.dataset
            and not experiment.depths
            and self.stage in experiment.shown_stages
            for experiment in self.config.active_experiments.values()
        )
        if not is_reported or self.dataset not in self.config.datasets:
            return None
        return self.config.scoring_depth(self.dataset).documents

    @cached_property
    def measured_depth(self) -> int | None:
        """Number of these documents that the deepest measure looks at."""
        if self.depth is None or "@" in self.candidates:
            return self.depth
        cutoffs = map(cutoff, self.config.datasets[self.dataset].measures)
        return max(min(self.depth, rank or self.depth) for rank in cutoffs)

    @cached_property
    def search(self) -> FirstStageConfig | None:
        """How the first stage ranks; None where others did, or where the configuration lacks it."""
        if self.stage in BUILT_IN_FIRST_STAGES:
            return FirstStageConfig(label=self.stage, model=self.stage)
        stage = self.config.first_stages.get(self.stage)
        return None if stage is None or stage.runs else stage

    def stage_beside(self, stage: str) -> str | None:
        """Return the first stage that a table shows for `stage` beside this run: `stage` itself, or, where others
        retrieved the candidates, the one that ranks these; None if there is no such one."""
        if self.search is not None or stage == self.stage:
            return stage
        return self.config.ranking_stage(stage, self.stage)

    @cached_property
    def pretrainings(self) -> list[Pretraining]:
        """The pre-trainings of the model and of those that it starts from, the first one first."""
        models = ((name, self.config.models[name]) for name in reversed(self.config.with_starts([self.name])))
        return [
            Pretraining(name, model, self.config.training_of(name)) for name, model in models if model.tasks
        ]

    # What is read of a document and of a query at most, as the ledger says it; empty for stages that the run does not
    # have.

    @cached_property
    def pretraining_reads(self) -> str:
        """What stages and tasks of pre-training read: "documents cut at 64 word pieces with the query, query at 16"."""
        texts = []
        for _, model, options in self.pretrainings:
            corpora = self.config.collections[str(model.collection)]
            units = _join_distinct(_unit(self.config.corpora[corpus].passage_words) for corpus in corpora)
            texts += [f"{units} {_lengths(options.of_task(task))}" for task in model.tasks]
        return _join_distinct(texts)

    @cached_property
    def finetuning_reads(self) -> str:
        """What is read in fine-tuning."""
        return self._ranker_reads() if self.is_finetuned else ""

    @cached_property
    def finetuning_queries(self) -> str:
        """How many judged queries train, and how many choose an epoch or a recipe: "512, and 128 choose"."""
        dataset = self.config.datasets.get(self.config.trained_on(self.dataset))
        if not self.is_finetuned or dataset is None:
            return ""
        training, choosing = "the other folds", "one of them"
        if not isinstance(dataset.folds, str):
            folds = dataset.folds if isinstance(dataset.folds, int) else len(dataset.folds)
            training, choosing = f"{self.training_folds(folds)} of {folds} folds", "one fold"
            if dataset.sample_queries is not None:
                training = f"{dataset.sample_queries * self.training_folds(folds) // folds:,}"
                choosing = f"{dataset.sample_queries // folds:,}"
        text = str(shots_of(self.regime) or training)
        return f"{text}, and {choosing} choose" if self.chooses else text

    @property
    def chooses(self) -> bool:
        """Whether fine-tuning has something to choose, on a fold that does not train."""
        return self.config.finetuning_of(self.name).chooses(self.regime)

    def training_folds(self, folds: int) -> int:
        """How many of so many folds train: neither the one that chooses, nor the one that is tested, if it is one."""
        return folds - self.chooses - self.config.datasets[self.dataset].is_cross_validated

    @cached_property
    def test_reads(self) -> str:
        """What is read when the ranking is made."""
        if self.name:
            return self._ranker_reads()
        if self.search is None:
            return "not known"
        return weighting_reads(self.config, self.search.query_weights or self.search.index)

    def _ranker_reads(self) -> str:
        if (neural := self.config.models[self.name].neural) is not None:
            return f"{_unit(None)} cut at {neural.document_words} words, query at {neural.query_words}"
        options = self.config.reranking_of(self.name, self.regime)
        if (passages := options.passages) is None:
            return f"{_unit(None)} {_lengths(options)}"
        units = f"{_unit(passages.words)} every {passages.stride}, at most {MAX_PASSAGES} of a document,"
        # Titles begin the texts that are cut; passages of `passage_words` have one each.
        has_title = self.config.text.fields[0] == "title"
        return f"{units}{' title in the first alone,' if has_title else ''} {_lengths(options)}"

    @cached_property
    def facts(self) -> RunFacts:
        """What the configuration says of the run in the ledger; `report.scores` adds what its jobs counted."""
        facts: dict[str, Any] = {"depth": self.depth, "seen": self.measured_depth}
        if self.regime == FIRST_STAGE:
            facts |= self._search_facts()
        elif self.name in self.config.models:
            facts |= self._pretraining_facts()
            facts |= {key: getattr(self, key) for key in READING_LABELS}
            # Fine-tuned models rank as their fine-tuning computes, whose options say how.
            if self.config.models[self.name].neural is None and self.regime == "zero-shot":
                reranking = self.config.reranking_of(self.name)
                facts["reranking"] = _option_texts([_compared_options(reranking, READING | {"depth"})])
            if self.regime != "zero-shot" and self.dataset in self.config.datasets:
                facts |= self._finetuning_facts()
        return RunFacts(self.dataset, self.candidates, self.model, self.regime, **facts)

    def _search_facts(self) -> dict[str, Any]:
        config, stage = self.config, self.search
        if stage is None:
            return {"test_reads": self.test_reads}
        facts = weighting_facts(config, stage.query_weights or stage.index)
        facts["ranker"] = f"{stage.model}{' with dependence' if stage.dependence else ''}"
        facts["ranker"] += f" over candidates of {stage.candidates}" if stage.candidates else ""
        facts["words"] = config.index_words(stage.index)
        if stage.model == "indri":
            facts["words"] = f"{config.text.word_kind}, Krovetz' stemmer, INQUERY's stop words"
        if stage.tuned_on is not None:
            return facts | {"tuning": f"tuned on {stage.tuned_on} by {config.retrieval.sweep.measure}"}
        defaults = {"mu": IndriOptions().mu}
        if stage.model != "indri":
            defaults = config.retrieval.parameters_of(stage.model)
        configured = stage.parameters.model_dump(exclude_none=True)
        facts |= {name: configured.get(name, defaults.get(name)) for name in MODEL_PARAMETERS[stage.model]}
        return facts | {"tuning": "not tuned"}

    def _pretraining_facts(self) -> dict[str, Any]:
        config, stages = self.config, self.pretrainings
        model_config = config.models[self.name]
        facts: dict[str, Any] = {}
        if model_config.has_encoder:
            facts["encoder"] = config.encoder_of(self.name).source
            # A model that starts from another one goes on with its head.
            facts["head"] = HEADS[config.training_of(config.first_start(self.name)).head]
        corpora = [corpus for stage in stages for corpus in config.collections[str(stage.model.collection)]]
        facts["texts"] = _texts(config, corpora)
        if self.dataset in config.datasets:
            tested_corpus = config.corpora[config.datasets[self.dataset].corpus]
            shared_corpora = (name for name in corpora if config.corpora[name].overlaps(tested_corpus))
            facts["tested_texts"] = _texts(config, shared_corpora)
        facts["training"] = self._training_options()
        objectives = [config.objectives[task.objective] for stage in stages for task in stage.model.tasks]
        predictor_names = {getattr(objective, "predictor", None) for objective in objectives}
        teachers = {config.predictors[name].dataset for name in predictor_names if name in config.predictors}
        facts["predictor_queries"] = " and ".join(sorted(filter(None, teachers)))
        if step := self.model.partition("@")[2]:
            return facts | {"steps": int(step)}
        facts["chosen"] = ", then ".join(_unless_equal([stage.choice for stage in stages]))
        if all(stage.options.steps is not None and not stage.model.select_on for stage in stages):
            # The jobs count those of other models: epochs, and up to the chosen snapshot.
            steps = [stage.options.steps or 0 for stage in stages]
            facts["steps"] = sum(steps) or None
            facts["stages"] = stages_text(steps)
            facts["groups"] = totals_by_objective(
                (task.objective, step_count * stage.options.batch_groups)
                for stage, step_count in zip(stages, steps, strict=True)
                for task in stage.model.tasks
            )
        return facts

    def _training_options(self) -> tuple[str, ...]:
        sections: list[dict[str, Any]] = []
        for _, model, training in self.pretrainings:
            sections.append(_compared_options(training, LENGTH_KEYS | TASK_KEYS | READING | {"head"}))
            if (selection := model.select_on) is not None:
                candidates = selection.model_dump(include={"candidates"})
                sections.append({"snapshots": training.snapshots, "select_on": candidates})
            for task in model.tasks:
                objective: Any = self.config.objectives[task.objective]
                sections += [
                    training.of_task(task).model_dump(include=TASK_KEYS),
                    task.model_dump(include={"weight", "mlm_weight"}),
                    {objective.type: _compared_options(objective)},
                ]
        return _option_texts(sections)

    def _finetuning_facts(self) -> dict[str, Any]:
        config = self.config
        teachers = config.trained_on(self.dataset), config.training_candidates(self.dataset, self.stage)
        options = config.finetuning_of(self.name)
        ignored_keys = READING | keys_unread_by(self.regime) | {"few_shot_batch_sizes"}
        recipe = _compared_options(options, ignored_keys) | {
            "batch_sizes": options.batch_sizes_of(self.regime)
        }
        del recipe["optimiser"]["learning_rate"]  # `learning_rates` has those that are tried
        sections = [recipe]
        if (neural := config.models[self.name].neural) is not None:
            sections.append({neural.type: _compared_options(neural)})
        return {
            "training_queries": ", ".join(teachers),
            "finetuning_queries": self.finetuning_queries,
            "recipe": _option_texts(sections),
        }


def longest_sequences(config: Config, encoder: str) -> dict[str, int]:
    """Return the longest sequence of each stage in use for an encoder (its key), by configuration key."""
    lengths = {}
    if not encoder.startswith("term_weights."):
        lengths["reranking.max_length"] = config.reranking.max_length
    models = {name: config.models[name] for name in config.used_models if config.encoder_key(name) == encoder}
    for name, model in models.items():
        if model.tasks:
            key = f"models.{name}.training" if "max_length" in model.training else "pretraining"
            lengths[f"{key}.max_length"] = config.training_of(name).max_length
        for task in model.tasks:
            if task.max_length is not None:
                lengths[f"models.{name}.tasks.{task.objective}.max_length"] = task.max_length
    experiments = config.active_experiments.values()
    finetuned_models = {name for entry in experiments if entry.is_finetuned for name in entry.models}
    for name, model in models.items():
        if name in finetuned_models:
            key = f"models.{name}.finetuning" if "max_length" in model.finetuning else "finetuning"
            lengths[f"{key}.max_length"] = config.finetuning_of(name).max_length
    if models and config.active("downstream"):
        lengths["question_answering.max_length"] = config.question_answering.max_length
    for name, weighting in config.weightings_in(config.used_entries()).items():
        encoder_key = "encoder" if weighting.encoder is None else f"term_weights.{name}.encoder"
        if weighting.model == "regressor" and encoder_key == encoder:
            lengths[f"term_weights.{name}.max_length"] = weighting.max_length
    return lengths


def weighting_reads(config: Config, weighting: str) -> str:
    """Return what of a text decides the weights of its words by a key of `term_weights`, or by an index."""
    weights = config.term_weights.get(config.predictor_of(weighting))
    return "whole texts" if weights is None else weights.reads


def _unit(words: int | None) -> str:
    return "documents" if words is None else f"passages of {words} words"


def _lengths(options: SequenceConfig) -> str:
    return f"cut at {options.max_length} word pieces with the query, query at {options.query_length}"


def _join_distinct(texts: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(texts))


def weighting_facts(config: Config, weighting: str) -> dict[str, Any]:
    """Return what the configuration says of a weighting of words: a key of `term_weights`, or an index."""
    facts: dict[str, Any] = {"test_reads": weighting_reads(config, weighting)}
    if weighting in config.indexes:
        index = config.indexes[weighting]
        return facts | {"weighting": _option_texts([{index.type: _compared_options(index)}])}
    if weighting not in config.term_weights:
        return facts
    entry = config.term_weights[weighting]
    predictor = config.term_weights[config.predictor_of(weighting)]
    options: dict[str, Any] = {}
    if entry.kind == "passages" and (entry.same_as is not None or entry.model != "tf"):
        options["square_root"] = entry.square_root
    if predictor.model != "tf":
        labels = predictor.labels.model_dump(exclude_defaults=True).items()
        label_texts = (f"{key} {value}" for key, value in labels)
        facts["training_queries"] = ", ".join([str(predictor.dataset), *label_texts])
    if predictor.model == "regressor":
        facts["encoder"] = (predictor.encoder or config.encoder).source
        options["inference"] = _compared_options(predictor.inference)
        if predictor.window_overlap is not None:
            options["window_overlap"] = predictor.window_overlap
        training = predictor.training
        length = {"epochs": None if training.steps else training.length_in_epochs}
        options |= {"training": _compared_options(training) | length, "seed": predictor.seed}
    if predictor.model == "word-vectors":
        corpora = config.collections[str(predictor.collection)]
        facts["texts"] = _texts(config, corpora)
    return facts | {"weighting": _option_texts([options])}


def _compared_options(section: Section, excluded: Iterable[str] = ()) -> dict[str, Any]:
    """Return the options of a section that change results; of how a job computes, its precision alone."""
    options = deciding(section, section.model_dump(exclude=NOT_COMPARED.union(excluded)))
    if "compute" in options:
        options["compute"] = {"precision": options["compute"]["precision"]}
    return options


def _option_texts(sections: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    # Values of several sections are joined by " / ", in their order, where they are not all equal.
    values: dict[str, list[str]] = {}
    for section in sections:
        for key, value in leaves(section):
            values.setdefault(key, []).append(cell_text(value) or "null")
    return tuple(f"{key} {BETWEEN_VALUES.join(_unless_equal(texts))}" for key, texts in values.items())


def _unless_equal(texts: list[str]) -> list[str]:
    """Return texts, or the one that all of them are."""
    return texts if len(set(texts)) > 1 else texts[:1]


def _texts(config: Config, corpora: Iterable[str]) -> tuple[CorpusText, ...]:
    return tuple(sorted({config.corpora[corpus].text for corpus in corpora}))
