"""Whether a fine-tuned model ranks its own training queries better than a random order of their candidates.

A falling loss does not show it: groups may teach something that no candidate list needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from irpretrain.evaluation.runs import Qrels, Run, relevant, top
from irpretrain.evaluation.significance import area
from irpretrain.foundation.progress import notice
from irpretrain.foundation.randomness import generator
from irpretrain.training.metrics import StepMetrics

# Name of the random stream that draws the queries.
STAGE = "training-order"

# Each costs as much as a test query.
MOST_QUERIES = 20
RANDOM_ORDER = 0.5


class TrainingOrder(NamedTuple):
    """How training queries are ranked."""

    queries: int  # how many were ranked; queries with only relevant or only other candidates are skipped
    # Of the pairs of a relevant and another candidate, those in the right order, equal scores counting half;
    # mean over queries. A random order has 0.5. None without queries.
    share: float | None

    @property
    def is_below_random(self) -> bool:
        """Whether the model ranks these queries worse than a random order does."""
        return self.share is not None and self.share < RANDOM_ORDER


def training_order(
    rank: Callable[[Sequence[str]], Run],  # returns how the model ranks the candidates of queries
    queries: Sequence[str],
    qrels: Qrels,  # judgements
    candidates: Run,  # first-stage run
    depth: int | None,  # candidates that are ranked; None for all
    seed: int,  # draws the queries, at most MOST_QUERIES
) -> TrainingOrder:
    """Rank at most MOST_QUERIES training queries, drawn by `seed`."""
    known = {query: relevant(qrels.get(query, {})) for query in queries}
    ranked = top(candidates, depth)
    telling = [
        query
        for query in queries
        if 0 < sum(document in known[query] for document, _ in ranked.get(query, [])) < len(ranked[query])
    ]
    drawn = generator(seed, STAGE).permutation(len(telling))[:MOST_QUERIES]
    run = rank([telling[position] for position in sorted(drawn)])
    shares = [
        area([score for _, score in ranking], [document in known[query] for document, _ in ranking])
        for query, ranking in run.items()
    ]
    return TrainingOrder(len(shares), float(np.mean(shares)) if shares else None)


def warn_below_random(order: TrainingOrder, title: str, positives: str) -> None:
    if order.is_below_random:
        among = "set finetuning.positives to candidates, " if positives == "all" else ""
        notice(
            title,
            f"the model ranks its own training queries below a random order: a relevant candidate comes before another "
            f"in {order.share:.1%} of the pairs ({order.queries} queries; random order: 50 %). Do not use its scores. "
            f"Lower finetuning.learning_rates, {among}or give more queries.",
        )
    if order.share is None:
        notice(
            title,
            "no training query has both a relevant and another document among the candidates that are ranked, so the "
            "model's order of them cannot be checked; what it learned may speak against shared words. Retrieve "
            "deeper, or give more queries.",
        )


# How far the search of a fine-tuning over grid points and epochs is.


@dataclass
class Progress:
    """How far the search is; all that a checkpoint needs beside weights and optimiser."""

    point: int = 0  # index of the grid point in work
    epochs: int = 0  # epochs of that point that are trained and validated
    history: list[list[dict[str, Any]]] = field(default_factory=list)  # per grid point, one record an epoch
    # Record of the best epoch so far, with its grid point; empty before the first.
    best: dict[str, Any] = field(default_factory=dict)
    steps: int = 0  # steps done of the epoch in work
    loss: float = 0.0  # sum over their pairs
    pairs: int = 0  # of these steps
    correct_pairs: int = 0  # those among them that were in the right order

    def add(self, step: StepMetrics) -> None:
        self.steps += 1
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
        }
        self.history[-1].append(record)
        self.steps, self.loss, self.pairs, self.correct_pairs = 0, 0.0, 0, 0
        return record
