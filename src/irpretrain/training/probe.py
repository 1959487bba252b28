"""Probes of pre-training: does a model rank held-out groups by the shared text, or by the form of the candidates?

A group's candidates are its queries or its documents, whichever are several; the other text is shared. A model that
ranks needs the shared text: with that of another document it falls to chance level. A model that keeps its accuracy
has learnt which candidates are likely to be preferred, whatever they are paired with.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from irpretrain.evaluation.significance import randomisation_test, wilson_interval
from irpretrain.foundation.atomic import write_csv
from irpretrain.foundation.contracts import NO_ANCHOR, PROBE
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.randomness import generator
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.length_batches import prefetch, to_host
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.group_table import GroupTable
from irpretrain.training.outputs import RATE_ADVICE
from irpretrain.training.ranking_groups import RankingGroups, make_spans, text_rows
from irpretrain.training.trainer import StepContext

# Held-out groups that a task is tested on: minimum, if there are enough, and maximum.
MIN_GROUPS, MAX_GROUPS = 20, 200

# Between these two: groups of the training for each, so that the probe costs a short training little.
TRAINED_PER_PROBED = 32

PERMUTATIONS = 10_000


class Probe:
    """The held-out groups of one task that models are tested on."""

    def __init__(
        self,
        task: str,
        table: GroupTable,
        builder: BatchBuilder,
        context: StepContext,
        trained_group_count: int,
        seed: int,
    ) -> None:
        self._task, self._builder, self._context, self._seed = task, builder, context, seed
        rng = generator(seed, "probe", task)
        max_groups = min(max(trained_group_count // TRAINED_PER_PROBED, MIN_GROUPS), MAX_GROUPS)
        positions = rng.permutation(len(table.held_out))
        positions = positions[table.sizes(table.held_out[positions]) > 1][:max_groups]
        self._groups = table.take(table.held_out[positions])
        self._partners = draw_partners(self._groups, table.held_out_documents[positions], rng)

    def accuracies(self, model: CrossEncoderModel, groups: RankingGroups | None = None) -> np.ndarray:
        """Return the pair accuracy of each of `groups`, by default the held-out ones as they are; float64 [groups]."""
        groups = self._groups if groups is None else groups
        return pair_accuracies(score_groups(model, self._builder, groups, self._context), groups)

    def rows(self, model: CrossEncoderModel, accuracies_before: np.ndarray) -> Iterator[dict[str, Any]]:
        """Yield the task's rows of PROBE, for a trained model and its accuracies before its training."""
        right_accuracies = self.accuracies(model)
        with_partner = np.flatnonzero(self._partners >= 0)
        swapped_groups = with_shared(
            self._groups.take(with_partner), self._groups.take(self._partners[with_partner])
        )
        groups_without_shared = without_shared(self._groups)
        yield self._row("right", right_accuracies, None)
        yield self._row("swapped", self.accuracies(model, swapped_groups), right_accuracies[with_partner])
        yield self._row("none", self.accuracies(model, groups_without_shared), right_accuracies)
        yield self._row("before", accuracies_before, right_accuracies)

    def _row(self, name: str, accuracies: np.ndarray, reference: np.ndarray | None) -> dict[str, Any]:
        interval = wilson_interval(float(accuracies.sum()), len(accuracies))
        p_value = math.nan
        if reference is not None and len(reference):
            stream = f"{self._task}/{name}"
            p_value = randomisation_test(accuracies, reference, PERMUTATIONS, self._seed, stream).p_value
        return {
            "task": self._task,
            "input": name,
            "groups": len(accuracies),
            "accuracy": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "p_value": p_value,
        }


def write_probe(rows: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write rows of PROBE as CSV; NaN stays empty."""
    names = [column.name for column in PROBE.columns]
    write_csv(path, names, (["" if row[name] != row[name] else row[name] for name in names] for row in rows))


def score_groups(
    model: CrossEncoderModel, builder: BatchBuilder, groups: RankingGroups, context: StepContext
) -> np.ndarray:
    def begin_group(index: int) -> Callable[[], Tensor]:
        batch = builder.build(groups[index : index + 1])
        scores, _ = model.encode(builder.for_encoder(batch.padded(), context.layout))
        return to_host(scores.float())

    with torch.inference_mode(), context.autocast():
        scores = [wait().numpy() for _, wait in prefetch(range(len(groups)), begin_group, context.device)]
    all_scores = np.concatenate([np.zeros(0, np.float32), *scores])
    if not np.isfinite(all_scores).all():
        raise TrainingError(f"a score of the held-out groups is not a finite number. {RATE_ADVICE}")
    return all_scores


def pair_accuracies(scores: np.ndarray, groups: RankingGroups) -> np.ndarray:
    """Return the share of each group's (first, other) pairs in the right order, float64 [groups]; ties count half."""
    scores_by_group = np.split(scores, np.cumsum(groups.sizes))[: len(groups)]
    wins_by_group = [np.sign(group[0] - group[1:]) / 2 + 0.5 for group in scores_by_group]
    return np.array([np.mean(wins, dtype=np.float64) for wins in wins_by_group], np.float64)


def with_shared(groups: RankingGroups, donors: RankingGroups) -> RankingGroups:
    """Return groups with the shared texts of as many others of their own kind, whose `texts` are the same."""
    shares_query = np.repeat(groups.shares_query, groups.sizes)
    queries, documents = (
        np.repeat(column[donors.starts], groups.sizes) for column in (donors.queries, donors.documents)
    )
    return replace(
        groups,
        queries=np.where(shares_query, queries, groups.queries),
        documents=np.where(shares_query, groups.documents, documents),
        anchors=np.full_like(groups.anchors, NO_ANCHOR),
    )


def without_shared(groups: RankingGroups) -> RankingGroups:
    """Return groups whose shared text is empty."""
    empty_documents = make_spans(groups.documents["row"], ends=0)
    empty_queries = make_spans(text_rows(np.full(len(empty_documents), len(groups.texts))))
    return with_shared(
        replace(groups, texts=[*groups.texts, ""]),
        replace(groups, queries=empty_queries, documents=empty_documents),
    )


def draw_partners(groups: RankingGroups, documents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the index of a group of another document for each group, int64 [groups]; -1 if none is left. No index
    repeats.

    Args:
        groups: groups that share a query, and groups that share a document, get partners of their own kind.
        documents: number of each group's document, [groups].
    """
    partners = np.full(len(groups), -1, np.int64)
    _, document_numbers = np.unique(documents, return_inverse=True)
    document_order = rng.permutation(len(groups))[document_numbers]
    for shares_query in (True, False):
        positions = np.flatnonzero(groups.shares_query == shares_query)
        if not len(positions):
            continue
        # Groups in a random order of their documents, turned by as many positions as the largest document has groups:
        # groups that meet are of different documents, unless one document has more than half of the groups.
        shuffled = positions[np.argsort(document_order[positions], kind="stable")]
        shifted = np.roll(shuffled, -np.bincount(document_order[positions]).max())
        are_different = document_order[shuffled] != document_order[shifted]
        partners[shuffled[are_different]] = shifted[are_different]
    return partners
