"""What one row of a table is, resolved once from the sections of a configuration: how many documents of a query it
ranks, and how much of a query and of a document it reads at each of its stages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, MAX_PASSAGES, FirstStageConfig
from irpretrain.evaluation.measures import cutoff

if TYPE_CHECKING:
    from irpretrain.config.experiments import ModelConfig
    from irpretrain.config.pretraining import PretrainingConfig
    from irpretrain.config.root import Config
    from irpretrain.config.training import SequenceConfig


class Pretraining(NamedTuple):
    """One of the pre-trainings behind a model: the model that it makes, and its options."""

    name: str
    model: ModelConfig
    options: PretrainingConfig


@dataclass(frozen=True)
class Run:
    """A ranking of a data set's queries: of a first stage, or of the model that re-ranks its candidates."""

    config: Config = field(repr=False, compare=False)
    dataset: str
    candidates: str  # a first stage
    model: str = ""  # key of `models`; empty: the first stage's own ranking
    regime: str = "first-stage"

    @cached_property
    def depth(self) -> int | None:
        """Number of documents of a query that are scored; None of a first stage that no experiment reports."""
        is_reported = self.model or any(
            experiment.dataset == self.dataset
            and not experiment.depths
            and self.candidates in experiment.shown_stages
            for experiment in self.config.active_experiments.values()
        )
        if not is_reported or self.dataset not in self.config.datasets:
            return None
        return self.config.scoring_depth(self.dataset).documents

    @cached_property
    def seen_depth(self) -> int | None:
        """Number of these documents that the deepest measure looks at."""
        if self.depth is None:
            return None
        cutoffs = map(cutoff, self.config.datasets[self.dataset].measures)
        return max(min(self.depth, rank or self.depth) for rank in cutoffs)

    @cached_property
    def search(self) -> FirstStageConfig | None:
        """How the first stage ranks; None where others did, or where the configuration lacks it."""
        if self.candidates in BUILT_IN_FIRST_STAGES:
            return FirstStageConfig(label=self.candidates, model=self.candidates)
        stage = self.config.first_stages.get(self.candidates)
        return None if stage is None or stage.runs else stage

    @cached_property
    def pretrainings(self) -> list[Pretraining]:
        """The pre-trainings of the model and of those that it starts from, the first one first."""
        models = (
            (name, self.config.models[name]) for name in reversed(self.config.with_starts([self.model]))
        )
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
        if self.regime in ("zero-shot", "first-stage"):
            return ""
        return self._ranker_reads()

    @cached_property
    def finetuning_queries(self) -> str:
        """How many judged queries train, and how many choose an epoch or a recipe: "512, and 128 choose"."""
        dataset = self.config.datasets.get(self.config.trained_on(self.dataset))
        if self.regime in ("zero-shot", "first-stage") or dataset is None:
            return ""
        shots = self.regime.removeprefix("few-shot-")
        training, choosing = "the other folds", "one of them"
        if not isinstance(dataset.folds, str):
            folds = dataset.folds if isinstance(dataset.folds, int) else len(dataset.folds)
            training, choosing = f"{self.training_folds(folds)} of {folds} folds", "one fold"
            if dataset.sample_queries is not None:
                training = f"{dataset.sample_queries * self.training_folds(folds) // folds:,}"
                choosing = f"{dataset.sample_queries // folds:,}"
        text = shots if shots.isdecimal() else training
        return f"{text}, and {choosing} choose" if self.chooses else text

    @property
    def chooses(self) -> bool:
        """Whether fine-tuning has something to choose, on a fold that does not train."""
        return self.config.finetuning_of(self.model).chooses(self.regime)

    def training_folds(self, folds: int) -> int:
        """How many of so many folds train: neither the one that chooses, nor the one that is tested, if it is one."""
        return folds - self.chooses - (self.config.trained_on(self.dataset) == self.dataset)

    @cached_property
    def test_reads(self) -> str:
        """What is read when the ranking is made."""
        if self.model:
            return self._ranker_reads()
        if self.search is None:
            return "not known"
        return weighting_reads(self.config, self.search.query_weights or self.search.index)

    def _ranker_reads(self) -> str:
        if (neural := self.config.models[self.model].neural) is not None:
            return f"{_unit(None)} cut at {neural.document_words} words, query at {neural.query_words}"
        options = self.config.reranking_of(self.model, self.regime)
        if (passages := options.passages) is None:
            return f"{_unit(None)} {_lengths(options)}"
        units = f"{_unit(passages.words)} every {passages.stride}, at most {MAX_PASSAGES} of a document,"
        # Titles begin the texts that are cut; passages of `passage_words` have one each.
        has_title = self.config.text.fields[0] == "title"
        return f"{units}{' title in the first alone,' if has_title else ''} {_lengths(options)}"


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
    if any(experiment.is_finetuned for experiment in config.active_experiments.values()):
        for name, model in models.items():
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
    weights = config.term_weights.get(weighting)
    if weights is not None and weights.same_as is not None:
        weights = config.term_weights[weights.same_as]
    if weights is None or weights.model != "regressor":
        return "whole texts"
    if weights.window_overlap is not None:
        return f"whole texts, their weights in windows of {weights.max_length} word pieces"
    return f"the first {weights.max_length} word pieces, later words without weight"


def _unit(words: int | None) -> str:
    return "documents" if words is None else f"passages of {words} words"


def _lengths(options: SequenceConfig) -> str:
    return f"cut at {options.max_length} word pieces with the query, query at {options.query_length}"


def _join_distinct(texts: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(texts))
