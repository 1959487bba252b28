"""Ranking groups of judged queries, for fine-tuning: one relevant document beside non-relevant candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from irpretrain.evaluation.runs import Qrels, Run, relevant
from irpretrain.foundation.randomness import generator
from irpretrain.training.batches import RankingGroup, StoreSpan


class ReadsDocumentRows(Protocol):
    """Documents of a corpus by their rows: a token store, or word stores."""

    def rows(self, document_ids: list[str], /) -> np.ndarray:
        """Return the row (int64) of each document; InputError if one is missing."""

    def find(self, document_ids: list[str], /) -> np.ndarray:
        """Like `rows`, with -1 for missing documents."""


@dataclass(frozen=True)
class JudgedQuery:
    # identifier, text: of the query.
    identifier: str
    text: str
    # Rows of the relevant documents that are learned from, in the order of the judgements.
    relevant: np.ndarray
    others: np.ndarray  # rows of its candidates that are not relevant, best first


def judged_queries(
    chosen: Sequence[str],  # training queries
    texts: Mapping[str, str],  # query → text
    qrels: Qrels,
    candidates: Run,  # first-stage run, in canonical order
    store: ReadsDocumentRows,  # the corpus's documents
    # Relevant documents to learn from: those among all candidates, and all of a query without any there; or
    # all of every query.
    positives: Literal["candidates", "all"],
) -> tuple[list[JudgedQuery], dict[str, int]]:
    """Return the queries that can be trained on, and counts of the skipped ones by reason.

    Candidates without a judgement count as not relevant. Relevant documents must be in the corpus.
    """
    relevant_documents = {query: relevant(qrels.get(query, {})) for query in chosen}
    learned = {query: set(documents) for query, documents in relevant_documents.items()}
    if positives == "candidates":
        # Negatives are the first stage's best, so they share words with the query. A relevant document that shares none
        # beside them teaches against words.
        for query in chosen:
            learned[query] &= {document for document, _ in candidates.get(query, [])}
            learned[query] = learned[query] or set(relevant_documents[query])
    rows = _rows(store.find, [[d for d in qrels.get(query, {}) if d in learned[query]] for query in chosen])
    others = _rows(
        store.rows,
        [[d for d, _ in candidates.get(query, []) if d not in relevant_documents[query]] for query in chosen],
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
    """Return the rows of each list of documents, looked up together: each call costs a pass over the store."""
    rows = look_up([document for some in documents for document in some])
    ends = np.cumsum([len(some) for some in documents])
    return [rows[end - len(some) : end] for some, end in zip(documents, ends, strict=True)]


class JudgedGroups:
    """The groups of each step: every relevant document once per epoch, in a fresh order, with fresh negatives.

    The negatives of a query depend on (seed, query, epoch) only.
    """

    def __init__(self, queries: Sequence[JudgedQuery], negatives: int, batch_size: int, seed: int) -> None:
        self._queries, self._negatives, self._batch_size, self._seed = queries, negatives, batch_size, seed
        self.number = sum(len(query.relevant) for query in queries)
        self.steps_per_epoch = -(-self.number // batch_size)
        self._epoch, self._groups = -1, list[RankingGroup]()

    def groups(self, step: int) -> list[RankingGroup]:
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._groups = epoch, self.epoch(epoch)
        return self._groups[position * self._batch_size : (position + 1) * self._batch_size]

    def epoch(self, epoch: int) -> list[RankingGroup]:
        groups = [group for query in self._queries for group in self._of_query(query, epoch)]
        order = generator(self._seed, "data order", f"judged/{epoch}").permutation(len(groups))
        return [groups[position] for position in order]

    def _of_query(self, query: JudgedQuery, epoch: int) -> list[RankingGroup]:
        draw = generator(self._seed, "negatives", f"{query.identifier}/{epoch}")
        scarce = len(query.others) < self._negatives
        groups = []
        for row in query.relevant:
            drawn = draw.choice(query.others, self._negatives, replace=scarce)
            groups.append(RankingGroup((query.text,), tuple(StoreSpan(int(r)) for r in (row, *drawn))))
        return groups
