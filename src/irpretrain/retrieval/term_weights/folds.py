"""Queries weighted by models that have not seen them: one model a test fold, or one for all queries."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from irpretrain.contracts import TERM_WEIGHTS
from irpretrain.errors import InputError
from irpretrain.evaluation.folds import read_folds
from irpretrain.text.texts import Text


class Weigher(Protocol):
    """What weights texts."""

    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of some texts, in their order, and counts."""


def models_of_folds(
    # Open one model a test fold, in their order; or one, for all texts.
    models: Sequence[Callable[[], Weigher]],
    texts: Sequence[Text],  # queries
    folds: str | Path | None,  # what `make_folds` wrote; None with one model
    output: str | Path,
) -> dict[str, Any]:
    """Write the weights of all texts, in their order, as TERM_WEIGHTS; return the sums of the models' counts.

    Raises:
        InputError: the folds do not fit the queries or the models.
    """
    groups = [list(texts)] if folds is None else _by_fold(texts, folds, len(models))
    rows: list[dict[str, Any]] = []
    totals: dict[str, int] = defaultdict(int)
    for opened, group in zip(models, groups, strict=True):
        table, counts = opened().rows(group)
        rows += table.to_pylist()
        for name, value in counts.items():
            totals[name] += value
    TERM_WEIGHTS.write(output, sorted(rows, key=lambda row: row["position"]))
    return dict(totals)


def _by_fold(texts: Sequence[Text], folds: str | Path, models: int) -> list[list[Text]]:
    query_folds = read_folds(folds)
    missing = [text.document_id for text in texts if text.document_id not in query_folds.fold_of]
    if missing or query_folds.number != models:
        fault = (
            f"query {missing[0]!r} has no fold"
            if missing
            else f"{query_folds.number} folds for {models} models"
        )
        raise InputError(folds, fault, remedy="Delete the folds and run the workflow again.")
    groups: list[list[Text]] = [[] for _ in range(models)]
    for text in texts:
        groups[query_folds.fold_of[text.document_id] - 1].append(text)
    return groups
