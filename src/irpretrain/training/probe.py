"""What a model makes of held-out groups: whether it ranks by the shared text, or by what candidates look like.

A group's candidates are its queries or its documents, whichever are several; the other text is shared. A model that
ranks needs the shared text: with that of another document it falls to chance level. A model that keeps its accuracy
has learnt which candidates are likely to be preferred, whatever they are paired with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from irpretrain.atomic import write_csv
from irpretrain.contracts import PROBE
from irpretrain.evaluation.significance import randomisation_test, wilson_interval
from irpretrain.models.to_device import begun_ahead, to_host
from irpretrain.randomness import generator
from irpretrain.training.batches import BatchBuilder, RankingGroup, StoreSpan
from irpretrain.training.candidate_model import score_candidates_alone
from irpretrain.training.group_table import GroupTable
from irpretrain.training.shares import share_by_tokens
from irpretrain.training.steps import Setting

LEAST_GROUPS, MOST_GROUPS = 20, 200
"""Held-out groups that a task is tested on: at least, if there are so many, and at most."""
TRAINED_PER_PROBED = 32
"""Between these two: groups of the training for each, so that the probe costs a short training little."""
FEATURED_GROUPS = 1000
"""Training groups that the model of candidates alone learns from, at most."""
BATCH_PIECES = 4096
"""Word pieces scored at once."""
PERMUTATIONS = 10_000


class Scorer(Protocol):
    """Gives a batch's sequences scores: a `CrossEncoder`, or a stand-in for one."""

    def __call__(
        self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Return scores [sequences], and what the probe does not read."""


class Probe:
    """The held-out groups of one task that models are tested on.

    Args:
        task: its name in the table.
        table: groups, some of them held out.
        builder: makes the task's sequences.
        setting: where to compute.
        trained: groups in all steps of the training.
        seed: of the draws.
    """

    def __init__(
        self, task: str, table: GroupTable, builder: BatchBuilder, setting: Setting, trained: int, seed: int
    ) -> None:
        self._task, self._builder, self._setting, self._seed = task, builder, setting, seed
        rng = generator(seed, "probe", task)
        most = min(max(trained // TRAINED_PER_PROBED, LEAST_GROUPS), MOST_GROUPS)
        ranking = (i for i in rng.permutation(len(table.held_out)) if len(table[int(table.held_out[i])]) > 1)
        places = np.fromiter(islice(ranking, most), np.int64)
        self._groups = [table[int(index)] for index in table.held_out[places]]
        featured = rng.choice(table.trained(), min(FEATURED_GROUPS, table.trained_count), replace=False)
        self._featured = [table[int(index)] for index in np.sort(featured)]
        self._partners = draw_partners(self._groups, table.held_out_documents[places], rng)

    def accuracies(self, model: Scorer) -> np.ndarray:
        """Return the pair accuracy of each group as it is, float64 [groups]."""
        return self._of_model(model, self._groups)

    def rows(self, model: Scorer, before: np.ndarray) -> Iterator[dict[str, Any]]:
        """Yield the task's rows of PROBE, for a trained model and its accuracies before its training."""
        right = self.accuracies(model)
        paired = np.flatnonzero(self._partners >= 0)
        swapped = [
            with_shared(self._groups[place], shared_text(self._groups[self._partners[place]]))
            for place in paired
        ]
        bare = [without_shared(group) for group in self._groups]
        alone = self._of_candidates_alone(bare)
        yield self._row("right", right, None)
        yield self._row("swapped", self._of_model(model, swapped), right[paired])
        yield self._row("none", self._of_model(model, bare), right)
        yield self._row("candidates", alone, right)
        yield self._row("before", before, right)

    def _row(self, name: str, accuracies: np.ndarray, right: np.ndarray | None) -> dict[str, Any]:
        interval = wilson_interval(float(accuracies.sum()), len(accuracies))
        p_value = math.nan
        if right is not None and len(right):
            stream = f"{self._task}/{name}"
            p_value = randomisation_test(accuracies, right, PERMUTATIONS, self._seed, stream).p_value
        values = (len(accuracies), interval.mean, interval.low, interval.high, p_value)
        numbers = dict(zip(("groups", "accuracy", "low", "high", "p_value"), values, strict=True))
        return {"task": self._task, "input": name, **numbers}

    def _of_model(self, model: Scorer, groups: Sequence[RankingGroup]) -> np.ndarray:
        return pair_accuracies(score_groups(model, self._builder, groups, self._setting), groups)

    def _of_candidates_alone(self, bare: Sequence[RankingGroup]) -> np.ndarray:
        if not bare:
            return np.zeros(0)
        featured = [without_shared(group) for group in self._featured if len(group) > 1]
        return pair_accuracies(score_candidates_alone(self._builder, featured, bare), bare)


def write_probe(rows: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write rows of PROBE as CSV; what is not a number stays empty."""
    names = [column.name for column in PROBE.columns]
    write_csv(path, names, (["" if row[name] != row[name] else row[name] for name in names] for row in rows))


def score_groups(
    model: Scorer, builder: BatchBuilder, groups: Sequence[RankingGroup], setting: Setting
) -> np.ndarray:
    """Return the scores of all sequences, float32 [sequences], group after group."""
    if not groups:
        return np.zeros(0, np.float32)
    parts = share_by_tokens(builder.tokens(groups), BATCH_PIECES).slices

    def begin(part: slice) -> Callable[[], Tensor]:
        batch = builder.build(groups[part])
        ids, types = setting.tensor(batch.input_ids), setting.tensor(batch.token_type_ids)
        scores, _ = model(ids, types, setting.on_host(batch.attention_mask))
        return to_host(scores.float())

    with torch.inference_mode(), setting.autocast():
        return np.concatenate([wait().numpy() for _, wait in begun_ahead(parts, begin, setting.device)])


def pair_accuracies(scores: np.ndarray, groups: Sequence[RankingGroup]) -> np.ndarray:
    """Return the share of each group's pairs (first, other) in which the first has the higher score; ties count half.

    Args:
        scores: [sequences], group after group.
        groups: of at least two sequences each.

    Returns:
        float64 [groups].
    """
    ends = np.cumsum([len(group) for group in groups], dtype=np.int64)
    differences = [part[0] - part[1:] for part in np.split(scores, ends)[: len(groups)]]
    return np.array([np.mean(np.sign(part) / 2 + 0.5, dtype=np.float64) for part in differences], np.float64)


def shared_text(group: RankingGroup) -> str | StoreSpan:
    """Return the text that all sequences of a group share."""
    return group.queries[0] if _shares_query(group) else group.documents[0]


def with_shared(group: RankingGroup, text: str | StoreSpan) -> RankingGroup:
    """Return the group's candidates with another shared text, without anchors: those lie in the text before."""
    if _shares_query(group):
        return RankingGroup((text,), group.documents)
    if isinstance(text, str):
        raise ValueError("candidates that are queries share a document, and a document is a span")
    return RankingGroup(group.queries, (text,))


def without_shared(group: RankingGroup) -> RankingGroup:
    """Return the group's candidates with nothing in place of the shared text."""
    nothing = (
        "" if _shares_query(group) else replace(group.documents[0], start=0, end=0, gap_start=0, gap_end=0)
    )
    return with_shared(group, nothing)


def draw_partners(
    groups: Sequence[RankingGroup], documents: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the place of a group of another document for each group; none is drawn twice.

    Groups in a random order of their documents, turned by as many places as the largest document has groups: the ones
    that meet are of different documents, unless one document has more than half of the groups.

    Args:
        groups: those that share a query and those that share a document get partners of their own kind.
        documents: number of each group's document, [groups].
        rng: random stream.

    Returns:
        int64 [groups]; -1 where no group of another document is left.
    """
    partners = np.full(len(groups), -1, np.int64)
    _, numbers = np.unique(documents, return_inverse=True)
    order = rng.permutation(len(groups))[numbers] if len(groups) else numbers
    for kind in (True, False):
        places = np.array([i for i, group in enumerate(groups) if _shares_query(group) == kind], np.int64)
        if not len(places):
            continue
        turn = places[np.argsort(order[places], kind="stable")]
        others = np.roll(turn, -np.bincount(order[places]).max())
        differ = order[turn] != order[others]
        partners[turn[differ]] = others[differ]
    return partners


def _shares_query(group: RankingGroup) -> bool:
    return len(group.queries) == 1
