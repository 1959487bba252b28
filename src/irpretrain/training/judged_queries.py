"""Judged queries of fine-tuning: the groups that are made of them, and how the trained model ranks them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np

from irpretrain.config.finetuning import FEWEST_GROUPS
from irpretrain.evaluation.runs import Qrels, Run, relevant, top
from irpretrain.evaluation.significance import area
from irpretrain.foundation.errors import count_of
from irpretrain.foundation.progress import notice
from irpretrain.foundation.randomness import generator
from irpretrain.text.document_rows import DocumentRows
from irpretrain.training.metrics import StepMetrics
from irpretrain.training.ranking_groups import RankingGroups, make_spans, text_rows


@dataclass(frozen=True)
class JudgedQuery:
    identifier: str
    text: str
    # Rows of the relevant documents that are learned from, in the order of the judgements.
    relevant: np.ndarray
    negatives: np.ndarray  # rows of its candidates that are not relevant, best first


def judged_queries(
    training_queries: Sequence[str],
    texts: Mapping[str, str],  # query → text
    qrels: Qrels,
    candidates: Run,  # first-stage run, in canonical order
    store: DocumentRows[Any],  # the corpus's documents
    # Relevant documents to learn from: those among all candidates, and all of a query without any there; or
    # all of every query.
    positives: Literal["candidates", "all"],
) -> tuple[list[JudgedQuery], dict[str, int]]:
    """Return the queries that can be trained on, and counts of the skipped ones by reason.

    Candidates without a judgement count as not relevant. Relevant documents must be in the corpus.
    """
    positives_of_query, negatives_of_query = [], []
    for query in training_queries:
        judgements = qrels.get(query, {})
        ranked = [document for document, _ in candidates.get(query, [])]
        learned_documents = relevant_documents = relevant(judgements)
        if positives == "candidates":
            # Negatives are the first stage's best, so they share words with the query. A relevant document that shares
            # none beside them teaches against words.
            learned_documents = relevant_documents.intersection(ranked) or relevant_documents
        positives_of_query.append([document for document in judgements if document in learned_documents])
        negatives_of_query.append([document for document in ranked if document not in relevant_documents])
    rows, negative_rows = _rows(store.find, positives_of_query), _rows(store.rows, negatives_of_query)
    queries, skipped = [], Counter[str]()
    for query, relevant_rows, other_rows in zip(training_queries, rows, negative_rows, strict=True):
        if not (relevant_rows >= 0).any():
            skipped["without_relevant_document"] += 1
        elif len(other_rows) == 0:
            skipped["without_other_candidate"] += 1
        else:
            in_corpus = relevant_rows[relevant_rows >= 0]
            queries.append(JudgedQuery(query, texts[query], in_corpus, other_rows))
    return queries, dict(skipped)


def _rows(
    look_up: Callable[[list[str]], np.ndarray], document_lists: Sequence[list[str]]
) -> list[np.ndarray]:
    """Return the rows of each list of documents, looked up together: each call costs a pass over the store."""
    ends = np.cumsum([len(document_ids) for document_ids in document_lists])
    return np.split(look_up([*chain.from_iterable(document_lists)]), ends)[: len(document_lists)]


class JudgedGroups:
    """The groups of each step: every relevant document once per epoch, in a fresh order, with fresh negatives.

    The negatives of a query depend on (seed, query, epoch) only.
    """

    def __init__(self, queries: Sequence[JudgedQuery], negatives: int, batch_size: int, seed: int) -> None:
        self._queries, self._negatives, self._batch_size, self._seed = queries, negatives, batch_size, seed
        self.steps_per_epoch = -(-sum(len(query.relevant) for query in queries) // batch_size)
        self._texts = [query.text for query in queries]
        self._epoch: tuple[int, RankingGroups] | None = None

    def groups(self, step: int) -> RankingGroups:
        epoch, position = divmod(step, self.steps_per_epoch)
        if self._epoch is None or epoch != self._epoch[0]:
            self._epoch = epoch, self.epoch(epoch)
        return self._epoch[1][position * self._batch_size : (position + 1) * self._batch_size]

    def epoch(self, epoch: int) -> RankingGroups:
        documents = np.concatenate([self._documents(query, epoch) for query in self._queries])
        order = generator(self._seed, "data order", f"judged/{epoch}").permutation(len(documents))
        group_counts = [len(query.relevant) for query in self._queries]
        query_numbers = np.repeat(range(len(self._queries)), group_counts)[order]
        size = 1 + self._negatives
        return RankingGroups.of_queries(
            make_spans(np.repeat(text_rows(query_numbers), size)),
            make_spans(documents[order].ravel()),
            np.full(len(order), size),
            self._texts,
        )

    def _documents(self, query: JudgedQuery, epoch: int) -> np.ndarray:
        """Rows of the documents of the query's groups, the relevant one first; int64 [groups, documents]."""
        rng = generator(self._seed, "negatives", f"{query.identifier}/{epoch}")
        has_too_few = len(query.negatives) < self._negatives
        groups = [
            (row, *rng.choice(query.negatives, self._negatives, replace=has_too_few))
            for row in query.relevant
        ]
        return np.array(groups, np.int64)


def note_few_groups(groups: int, regime: str, title: str) -> None:
    """Print a notice where a fine-tuning with all queries has fewer than `FEWEST_GROUPS` groups."""
    if regime == "full" and groups < FEWEST_GROUPS:
        notice(
            title,
            f"it learns from {count_of(groups, 'group')} (relevant documents of training queries), and from fewer than "
            f"{FEWEST_GROUPS} it is not shown to learn. Judge more queries, or use it as it was (zero-shot).",
        )


def note_still_learning(chosen_epoch: Mapping[str, Any], epochs: int, title: str) -> bool:
    """Return whether the loss was still falling when the last of `epochs` ended; if so, print a notice."""
    still_learning = chosen_epoch["still_falling"] and chosen_epoch["epoch"] == epochs
    if still_learning:
        losses = ", ".join(f"{loss:.3f}" for loss in chosen_epoch["loss_by_tenth"][-5:])
        notice(
            title,
            f"the loss was still falling when training ended (means of the last five tenths of the steps: {losses}): "
            "with more questions or epochs, comparisons with this model may end otherwise.",
        )
    return still_learning


# Share of the loss of equal scores above which scores hardly tell documents apart. Measured (fresh score heads, five
# and three folds): at 99.9 % fine-tuning changed the test's nDCG@10 by +0.005 [-0.061, 0.071], at 97.7 % by +0.108.
UNLEARNED_SHARE = 0.99


def note_nothing_learned(chosen_epoch: Mapping[str, Any], equal_scores_loss: float, title: str) -> bool:
    """Return whether the loss of the second half of an epoch stayed at that of equal scores; if so, print a notice."""
    loss = float(np.mean(chosen_epoch["loss_by_tenth"][-5:]))
    has_learned = loss < UNLEARNED_SHARE * equal_scores_loss
    if not has_learned:
        notice(
            title,
            f"hardly anything was learned: the loss ended at {loss:.3f}, and equal scores for all documents have "
            f"{equal_scores_loss:.3f}. A lead over this model says little; judge more queries.",
        )
    return not has_learned


# Name of the random stream that draws the queries.
STAGE = "training-order"

# Each costs as much as a test query.
MOST_QUERIES = 20
RANDOM_ORDER = 0.5


def check_training_order(
    rank: Callable[[Sequence[str]], Run],  # returns how the model ranks the candidates of queries
    queries: Sequence[str],
    qrels: Qrels,  # judgements
    candidates: Run,  # first-stage run
    depth: int | None,  # candidates that are ranked; None for all
    seed: int,  # draws the queries, at most MOST_QUERIES
    title: str,  # name of the job in a notice
    positives: str,  # the option
) -> dict[str, Any]:
    """Rank at most MOST_QUERIES training queries, drawn by `seed`; print a notice where a random order is better.

    A falling loss does not show it: groups may teach something that no candidate list needs.

    Returns:
        How many were ranked: queries with only relevant or only other candidates are skipped. Of the pairs of a
        relevant and another candidate, the share in the right order, equal scores counting half; mean over queries,
        None without any. Whether that is below a random order's 0.5.
    """
    relevant_of_query = {query: relevant(qrels.get(query, {})) for query in queries}
    ranked = top(candidates, depth)
    mixed_queries = [
        query
        for query in queries
        if 0
        < sum(document in relevant_of_query[query] for document, _ in ranked.get(query, []))
        < len(ranked[query])
    ]
    drawn_positions = generator(seed, STAGE).permutation(len(mixed_queries))[:MOST_QUERIES]
    run = rank([mixed_queries[position] for position in sorted(drawn_positions)])
    shares = [
        area(
            [score for _, score in ranking], [document in relevant_of_query[query] for document, _ in ranking]
        )
        for query, ranking in run.items()
    ]
    if not shares:
        notice(
            title,
            "no training query has both a relevant and another document among the candidates that are ranked, so the "
            "model's order of them cannot be checked; what it learned may speak against shared words. Retrieve "
            "deeper, or give more queries.",
        )
        return {"queries": 0, "share": None, "below_random": False}
    share = float(np.mean(shares))
    if share < RANDOM_ORDER:
        candidates_advice = "set finetuning.positives to candidates, " if positives == "all" else ""
        notice(
            title,
            f"the model ranks its own training queries below a random order: a relevant candidate comes before another "
            f"in {share:.1%} of the pairs ({len(shares)} queries; random order: 50 %). Do not use its scores. "
            f"Lower finetuning.learning_rates, {candidates_advice}or give more queries.",
        )
    return {"queries": len(shares), "share": share, "below_random": share < RANDOM_ORDER}


@dataclass
class Progress:
    """How far the search over grid points and epochs is; all that a checkpoint needs beside weights and optimiser."""

    point: int = 0  # index of the grid point in work
    epochs: int = 0  # epochs of that point that are trained and validated
    history: list[list[dict[str, Any]]] = field(default_factory=list)  # per grid point, one record an epoch
    # Record of the best epoch so far, with its grid point; empty before the first.
    best: dict[str, Any] = field(default_factory=dict)
    steps: int = 0  # steps done of the epoch in work
    loss: float = 0.0  # sum over their pairs
    pairs: int = 0  # of these steps
    correct_pairs: int = 0  # those among them that were in the right order
    step_losses: list[float] = field(default_factory=list)  # of these steps, in order

    @property
    def chosen_steps(self) -> int:
        """Optimiser steps behind the best epoch's weights."""
        return sum(record["steps"] for record in self.history[self.best["point"]][: self.best["epoch"]])

    def add(self, step: StepMetrics) -> None:
        self.steps += 1
        self.step_losses.append(step.loss)
        for task in step.tasks.values():
            self.loss += task.weighted_loss * task.pairs
            self.pairs += task.pairs
            self.correct_pairs += task.correct_pairs

    def end_epoch(self, validation: float | None) -> dict[str, Any]:
        """Append the record of the current epoch, whose means are weighted by pairs, to the history, and return it."""
        self.epochs += 1
        record = {
            "epoch": self.epochs,
            "validation": validation,
            "steps": self.steps,
            "loss": self.loss / self.pairs,
            "pair_accuracy": self.correct_pairs / self.pairs,
            "loss_by_tenth": [
                float(np.mean(losses)) for losses in np.array_split(self.step_losses, 10) if len(losses)
            ],
            "still_falling": is_falling(self.step_losses),
        }
        self.history[-1].append(record)
        self.steps, self.loss, self.pairs, self.correct_pairs, self.step_losses = 0, 0.0, 0, 0, []
        return record


# With fewer steps in a third of an epoch, the spread of their losses says too little.
FEWEST_STEPS_OF_THIRD = 8

# Standard errors by which the loss must have fallen: by chance, a flat curve does in one fine-tuning of 40.
CLEAR_FALL = 2.0


def is_falling(step_losses: Sequence[float]) -> bool:
    """Return whether the loss was clearly lower in the last third of an epoch's steps than in the third before.

    In a first epoch every group is new to the model, so its losses are those of unseen queries.
    """
    _, middle, last = np.array_split(np.asarray(step_losses, np.float64), 3)
    if len(last) < FEWEST_STEPS_OF_THIRD:
        return False
    standard_error = np.sqrt(sum(third.var(ddof=1) / len(third) for third in (middle, last)))
    return bool(middle.mean() - last.mean() > CLEAR_FALL * standard_error)
