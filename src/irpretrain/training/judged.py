"""Ranking groups of judged queries, for fine-tuning: one relevant document beside non-relevant candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from irpretrain.evaluation.qrels import Qrels, relevant
from irpretrain.evaluation.runs import Run
from irpretrain.randomness import generator
from irpretrain.training.batches import RankingGroup, StoreSpan


class DocumentRows(Protocol):
    """Documents of a corpus by their rows: a token store, or word stores."""

    def rows(self, document_ids: list[str], /) -> np.ndarray:
        """Return the row (int64) of each document; InputError where one is lacking."""

    def find(self, document_ids: list[str], /) -> np.ndarray:
        """Like `rows`, with -1 for documents that are lacking."""


@dataclass(frozen=True)
class JudgedQuery:
    """A training query.

    Attributes:
        identifier, text: of the query.
        relevant: rows of its relevant documents in the store, in the order of the judgements.
        others: rows of its candidates that are not relevant, best first.
    """

    identifier: str
    text: str
    relevant: np.ndarray
    others: np.ndarray


def judged_queries(
    chosen: Sequence[str],
    texts: Mapping[str, str],
    qrels: Qrels,
    candidates: Run,
    store: DocumentRows,
    depth: int | None,
) -> tuple[list[JudgedQuery], dict[str, int]]:
    """Return the queries that can be trained on, and why others are left out.

    Relevant documents need not be among the candidates, but in the corpus. Candidates without a judgement count
    as not relevant.

    Args:
        chosen: training queries.
        texts: query → text.
        qrels: judgements.
        candidates: first-stage run, in canonical order.
        store: the corpus's documents.
        depth: take non-relevant documents from so many top candidates; None for all.

    Returns:
        The queries, and counts by reason of those skipped.
    """
    relevant_documents = {query: relevant(qrels.get(query, {})) for query in chosen}
    rows = _rows(
        store.find, [[d for d in qrels.get(query, {}) if d in relevant_documents[query]] for query in chosen]
    )
    others = _rows(
        store.rows,
        [
            [d for d, _ in candidates.get(query, [])[:depth] if d not in relevant_documents[query]]
            for query in chosen
        ],
    )
    queries, skipped = [], Counter[str]()
    for query, relevant_rows, other_rows in zip(chosen, rows, others, strict=True):
        if not (relevant_rows >= 0).any():
            skipped["without_relevant_document"] += 1
        elif len(other_rows) == 0:
            skipped["without_other_candidate"] += 1
        else:
            in_corpus = relevant_rows[relevant_rows >= 0]
            queries.append(JudgedQuery(query, texts[query], in_corpus, other_rows))
    return queries, dict(skipped)


def _rows(look_up: Callable[[list[str]], np.ndarray], documents: Sequence[list[str]]) -> list[np.ndarray]:
    """Return the rows of each list of documents, looked up all at once: each call costs a pass over the store."""
    rows = look_up([document for some in documents for document in some])
    ends = np.cumsum([len(some) for some in documents])
    return [rows[end - len(some) : end] for some, end in zip(documents, ends, strict=True)]


class JudgedGroups:
    """The groups of each step: every relevant document once an epoch, in a fresh order, with fresh negatives.

    The negatives of a query depend on (seed, query, epoch) only.

    Args:
        queries: training queries; at least one.
        negatives: non-relevant documents beside each relevant one; drawn with replacement where there are fewer.
        batch_size: groups a step; the last step of an epoch may have fewer.
        seed: of draws and order.
    """

    def __init__(self, queries: Sequence[JudgedQuery], negatives: int, batch_size: int, seed: int) -> None:
        self._queries, self._negatives, self._batch_size, self._seed = queries, negatives, batch_size, seed
        self.number = sum(len(query.relevant) for query in queries)
        self.steps_per_epoch = -(-self.number // batch_size)
        self._epoch, self._groups = -1, list[RankingGroup]()

    def groups(self, step: int) -> list[RankingGroup]:
        """Return the groups of a step, counted from 0 over all epochs."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._groups = epoch, self.epoch(epoch)
        return self._groups[place * self._batch_size : (place + 1) * self._batch_size]

    def epoch(self, epoch: int) -> list[RankingGroup]:
        """Return all groups of an epoch, counted from 0, in their order."""
        groups = [group for query in self._queries for group in self._of_query(query, epoch)]
        order = generator(self._seed, "data order", f"judged/{epoch}").permutation(len(groups))
        return [groups[place] for place in order]

    def _of_query(self, query: JudgedQuery, epoch: int) -> list[RankingGroup]:
        draw = generator(self._seed, "negatives", f"{query.identifier}/{epoch}")
        scarce = len(query.others) < self._negatives
        groups = []
        for row in query.relevant:
            drawn = draw.choice(query.others, self._negatives, replace=scarce)
            groups.append(RankingGroup((query.text,), tuple(StoreSpan(int(r)) for r in (row, *drawn))))
        return groups
