"""Ranking groups as columns: sequences of query and document, of which the first of each group is preferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from irpretrain.foundation.contracts import NO_ANCHOR

# Word pieces `start` to `end` of the document in `row` of a token store (end -1: to its end), without the gap. The
# gap, `gap_start` to `gap_end`, also counts from the first piece of the document. Row −1 − i is not of the store, but
# text i of the groups' `texts`, read from its start to its end.
SPAN = np.dtype([(name, np.int64) for name in ("row", "start", "end", "gap_start", "gap_end")])


def make_spans(rows: np.ndarray, starts: np.ndarray | int = 0, ends: np.ndarray | int = -1) -> np.ndarray:
    """Return spans without gaps, SPAN [rows]; by default whole documents, or texts."""
    spans = np.zeros(len(rows), SPAN)
    spans["row"], spans["start"], spans["end"] = rows, starts, ends
    return spans


def text_rows(text_indices: np.ndarray) -> np.ndarray:
    """Return the rows that stand for texts of these numbers; of such rows, the numbers."""
    return -1 - text_indices


def positions_of_lists(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the positions of lists that begin at `starts` in a flat array and have `sizes` items, list after list."""
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


@dataclass(frozen=True)
class RankingGroups:
    """Ranking groups, sequence after sequence and group after group."""

    queries: np.ndarray  # SPAN [sequences]
    documents: np.ndarray  # SPAN [sequences]; none is a text
    # int64 [sequences, 2]; start and end of the word pieces of the query's document that are the anchor to the
    # sequence's document; `NO_ANCHOR` where there is none.
    anchors: np.ndarray
    sizes: np.ndarray  # int64 [groups]; sequences of each group
    # bool [groups]; whether one query has several documents, or one document several queries.
    shares_query: np.ndarray
    texts: Sequence[str]  # of queries that are texts; some may be of no group

    @classmethod
    def of_queries(
        cls, queries: np.ndarray, documents: np.ndarray, sizes: np.ndarray, texts: Sequence[str]
    ) -> RankingGroups:
        """Return groups of one query each, without anchors; `queries` has the query of each sequence."""
        anchors = np.full((len(queries), 2), NO_ANCHOR, np.int64)
        return cls(queries, documents, anchors, sizes, np.ones(len(sizes), bool), texts)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: slice) -> RankingGroups:
        return self.take(np.arange(*index.indices(len(self))))

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each group begins, int64 [groups]."""
        return np.cumsum(self.sizes) - self.sizes

    def take(self, indices: np.ndarray) -> RankingGroups:
        """Return the groups at `indices`, in this order."""
        sizes = self.sizes[indices]
        positions = positions_of_lists(self.starts[indices], sizes)
        return RankingGroups(
            queries=self.queries[positions],
            documents=self.documents[positions],
            anchors=self.anchors[positions],
            sizes=sizes,
            shares_query=self.shares_query[indices],
            texts=self.texts,
        )


class GroupSource(Protocol):
    """Where a step's groups come from."""

    def groups(self, step: int) -> RankingGroups:
        """Return the groups of optimiser step `step`, counted from 0."""
