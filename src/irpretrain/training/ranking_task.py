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
from irpretrain.models.arithmetic import Work
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import BatchBuilder, Group, GroupSource, Span
from irpretrain.training.losses import count_correct_pairs, ranking_loss
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.steps import Setting, StepPart
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

    def read(self, groups: Sequence[Group]) -> ReadGroups:
        """Return the groups, ready to be scored."""


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

    def part(self, model: nn.Module, setting: Setting, step: int, number: int) -> StepPart:
        """Return the task's losses at a step; see `StepTask`."""
        groups = self.source.groups(number)
        share = setting.share(len(groups))
        parts = [self.reader.read(groups[some]) for some in share.slices]
        metrics = TaskMetrics(1.0, 0.0)
        losses = self._losses(model, setting, parts, len(groups), metrics)
        return StepPart(metrics, sum(part.tokens for part in parts), share, losses, _work(parts))

    def _losses(
        self,
        model: nn.Module,
        setting: Setting,
        parts: Sequence[ReadGroups],
        groups: int,
        metrics: TaskMetrics,
    ) -> Iterator[Tensor]:
        for part in parts:
            with setting.autocast():
                scores = part.score(model, setting)
                sizes = torch.from_numpy(part.sizes)
                loss = ranking_loss(self.loss, scores, sizes, self.margin).sum() / groups
            metrics.ranking_loss += float(loss.detach())
            right, pairs = count_correct_pairs(scores, sizes)
            metrics.correct_pairs += right
            metrics.pairs += pairs
            yield loss


def _work(parts: Sequence[ReadGroups]) -> Work | None:
    """What the sequences of all parts ask of an encoder, which is read at [CLS]."""
    lengths = [part.lengths for part in parts if part.lengths is not None]
    if not lengths:
        return None
    joined = np.concatenate(lengths)
    return Work(joined, np.ones_like(joined), pooled=len(joined))


@dataclass(frozen=True)
class WordReader:
    """Reads groups for a ranker over words."""

    builder: WordBatchBuilder

    def read(self, groups: Sequence[Group]) -> ReadGroups:
        """Return the groups, ready to be scored."""
        batch = self.builder.build(groups)

        def score(model: nn.Module, setting: Setting) -> Tensor:
            found: Tensor = model(setting.tensor(batch.query), setting.tensor(batch.document))
            return found

        return ReadGroups(batch.sizes, batch.tokens, score)


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document by themselves.

    The loss is of the documents' scores: with `score: max` it reaches the best passage of each.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: Sequence[Group]) -> ReadGroups:
        """Return the groups, ready to be scored."""
        cut = [self._passages(document) for group in groups for _, document, _ in group.sequences()]
        queries = [query for group in groups for query, _, _ in group.sequences()]
        passages = [Group((query,), tuple(some)) for query, some in zip(queries, cut, strict=True)]
        batch = self.builder.build(passages)

        def score(model: nn.Module, setting: Setting) -> Tensor:
            inputs = (batch.input_ids, batch.token_type_ids, batch.attention_mask)
            scores, _ = model(*(setting.tensor(array) for array in inputs))
            return combine(scores, batch.sizes, self.options)

        sizes = np.array([len(group) for group in groups], np.int64)
        return ReadGroups(sizes, batch.tokens, score, batch.attention_mask.sum(1))

    def _passages(self, document: Span) -> list[Span]:
        bounds = piece_bounds(
            self.builder.store.word_starts(document.row), self.options, self.options.most_in_training
        )
        return [Span(document.row, start, end) for start, end in bounds]


def combine(scores: Tensor, passages: np.ndarray, options: PassagesConfig) -> Tensor:
    """Return the scores of documents from those of their passages, float [documents]; the differentiable counterpart of
    `text.passages.combine_scores`."""
    parts = scores.split(passages.tolist())
    return torch.stack([part.sum() if options.score == "sum" else part.amax() for part in parts])
