"""Fine-tuning on ranking groups of what is no sequence a document: passages of a cross-encoder, and pairs of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import Loss
from irpretrain.models.arithmetic import EncoderWork
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import BatchBuilder, GroupSource, RankingGroup, StoreSpan
from irpretrain.training.losses import count_correct_pairs, ranking_loss
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.steps import MicroBatchLoss, PartOf, Setting, StepPart
from irpretrain.training.word_batches import WordBatchBuilder


@dataclass(frozen=True)
class ReadGroups:
    """Some groups, ready to be scored.

    Attributes:
        sizes: documents of each group; int64 [groups].
        tokens: word pieces or words, without padding.
        score: from the model to the scores of all documents, group after group.
        lengths: int64 [sequences]; what an encoder reads, None for other models.
    """

    sizes: np.ndarray
    tokens: int
    score: Callable[[nn.Module, Setting], Tensor]
    lengths: np.ndarray | None = None


class GroupReader(Protocol):
    """Makes a model's input of ranking groups."""

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        """Return the groups, ready to be scored."""

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        """Return how many word pieces or words of each group are read, int64 [groups]."""


@dataclass
class RankingTask:
    """A ranking loss alone.

    Attributes:
        name: for metrics.
        source: the groups of each step.
        reader: makes the model's input of them.
        loss, margin: the ranking loss.
    """

    name: str
    source: GroupSource
    reader: GroupReader
    loss: Loss
    margin: float = 1.0

    def read(self, setting: Setting, step: int, number: int) -> PartOf:
        """Read the groups of a step; see `StepTask`."""
        groups = self.source.groups(number)
        share = setting.share(len(groups), lambda: self.reader.tokens(groups))
        parts = [self.reader.read(groups[some]) for some in share.slices]
        tokens, work = sum(part.tokens for part in parts), _work(parts)

        def part_of(model: nn.Module) -> StepPart:
            metrics = TaskMetrics(1.0, 0.0)
            losses = self._losses(model, setting, parts, len(groups), metrics)
            return StepPart(metrics, tokens, share, losses, work)

        return part_of

    def _losses(
        self,
        model: nn.Module,
        setting: Setting,
        parts: Sequence[ReadGroups],
        groups: int,
        metrics: TaskMetrics,
    ) -> Iterator[MicroBatchLoss]:
        for part in parts:
            with setting.autocast():
                scores = part.score(model, setting)
                sizes = torch.from_numpy(part.sizes)
                loss = ranking_loss(self.loss, scores, sizes, self.margin).sum() / groups
            right, pairs = count_correct_pairs(scores, sizes)
            metrics.pairs += pairs
            yield MicroBatchLoss(loss, {"ranking_loss": loss.detach(), "correct_pairs": right})


def _work(parts: Sequence[ReadGroups]) -> EncoderWork | None:
    """What the sequences of all parts ask of an encoder, which is read at [CLS]."""
    lengths = [part.lengths for part in parts if part.lengths is not None]
    if not lengths:
        return None
    joined = np.concatenate(lengths)
    return EncoderWork(joined, np.ones_like(joined), pooled=len(joined))


@dataclass(frozen=True)
class WordReader:
    """Reads groups for a ranker over words."""

    builder: WordBatchBuilder

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        """Return the groups, ready to be scored."""
        batch = self.builder.build(groups)

        def score(model: nn.Module, setting: Setting) -> Tensor:
            scores: Tensor = model(setting.tensor(batch.query), setting.tensor(batch.document))
            return scores

        return ReadGroups(batch.sizes, batch.tokens, score)

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        """Return how many words of each group are read."""
        return self.builder.tokens(groups)


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document by themselves.

    The loss is of the documents' scores: with `score: max` it reaches the best passage of each.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        """Return the groups, ready to be scored."""
        batch = self.builder.build(self._as_groups(groups))

        def score(model: nn.Module, setting: Setting) -> Tensor:
            inputs = (setting.tensor(array) for array in (batch.input_ids, batch.token_type_ids))
            scores, _ = model(*inputs, setting.on_host(batch.attention_mask))
            return combine(scores, batch.sizes, self.options)

        sizes = np.array([len(group) for group in groups], np.int64)
        return ReadGroups(sizes, batch.tokens, score, batch.attention_mask.sum(1))

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        """Return how many word pieces of each group are read."""
        documents = self.builder.tokens(self._as_groups(groups))
        return np.add.reduceat(documents, np.cumsum([0, *(len(group) for group in groups[:-1])]))

    def _as_groups(self, groups: Sequence[RankingGroup]) -> list[RankingGroup]:
        """Return a group of passages for each document of `groups`."""
        sequences = [sequence for group in groups for sequence in group.sequences()]
        return [RankingGroup((query,), tuple(self._passages(document))) for query, document, _ in sequences]

    def _passages(self, document: StoreSpan) -> list[StoreSpan]:
        bounds = piece_bounds(
            self.builder.store.word_starts(document.row), self.options, self.options.most_in_training
        )
        return [StoreSpan(document.row, start, end) for start, end in bounds]


def combine(scores: Tensor, passages: np.ndarray, options: PassagesConfig) -> Tensor:
    """Return the scores of documents from those of their passages, float [documents]; the differentiable counterpart of
    `text.passages.combine_scores`."""
    parts = scores.split(passages.tolist())
    return torch.stack([part.sum() if options.score == "sum" else part.amax() for part in parts])
