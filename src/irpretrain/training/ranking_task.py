"""Fine-tuning on groups whose documents are not one sequence each: passages of a cross-encoder, and pairs of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import Loss
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import BatchBuilder, GroupSource, RankingGroup, StoreSpan
from irpretrain.training.losses import count_correct_pairs, ranking_loss
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.trainer import MicroBatchLoss, PartOf, Setting, StepPart
from irpretrain.training.word_batches import WordBatchBuilder


@dataclass(frozen=True)
class ReadGroups:
    sizes: np.ndarray  # documents of each group; int64 [groups]
    tokens: int  # word pieces or words, without padding
    # From the model to the scores of all documents, group after group.
    score: Callable[[nn.Module, Setting], Tensor]


class GroupReader(Protocol):
    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        """Return the groups, ready to be scored."""

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        """Return how many word pieces or words of each group are read, int64 [groups]."""


@dataclass
class RankingTask:
    name: str  # for metrics
    source: GroupSource  # the groups of each step
    reader: GroupReader  # makes the model's input of them
    # loss, margin: the ranking loss.
    loss: Loss
    margin: float = 1.0

    def read(self, setting: Setting, step: int) -> PartOf:
        groups = self.source.groups(step)
        share = setting.share(len(groups), lambda: self.reader.tokens(groups))
        parts = [self.reader.read(groups[some]) for some in share.slices]
        tokens = sum(part.tokens for part in parts)

        def part_of(model: nn.Module) -> StepPart:
            metrics = TaskMetrics(1.0, 0.0)
            losses = self._losses(model, setting, parts, len(groups), metrics)
            return StepPart(metrics, tokens, share, losses)

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


@dataclass(frozen=True)
class WordReader:
    builder: WordBatchBuilder

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        batch = self.builder.build(groups)

        def score(model: nn.Module, setting: Setting) -> Tensor:
            scores: Tensor = model(setting.tensor(batch.query), setting.tensor(batch.document))
            return scores

        return ReadGroups(batch.sizes, batch.tokens, score)

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        return self.builder.tokens(groups)


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document separately.

    The loss is of the documents' scores: it reaches the best passage of each.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        batch = self.builder.build(self._as_groups(groups))

        def score(model: nn.Module, setting: Setting) -> Tensor:
            marks = (setting.on_host(array) for array in (batch.token_type_ids, batch.attention_mask))
            scores, _ = model(setting.tensor(batch.input_ids), *marks)
            return combine(scores, batch.sizes)

        sizes = np.array([len(group) for group in groups], np.int64)
        return ReadGroups(sizes, batch.tokens, score)

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        documents = self.builder.tokens(self._as_groups(groups))
        return np.add.reduceat(documents, np.cumsum([0, *(len(group) for group in groups[:-1])]))

    def _as_groups(self, groups: Sequence[RankingGroup]) -> list[RankingGroup]:
        sequences = [sequence for group in groups for sequence in group.sequences()]
        return [RankingGroup((query,), tuple(self._passages(document))) for query, document, _ in sequences]

    def _passages(self, document: StoreSpan) -> list[StoreSpan]:
        bounds = piece_bounds(
            self.builder.store.word_starts(document.row), self.options, self.options.most_in_training
        )
        return [StoreSpan(document.row, start, end) for start, end in bounds]


def combine(scores: Tensor, passages: np.ndarray) -> Tensor:
    """Scores of documents, float [documents], from their passages'; differentiable `text.passages.combine_scores`."""
    parts = scores.split(passages.tolist())
    return torch.stack([part.amax() for part in parts])
