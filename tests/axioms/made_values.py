"""Made-up AXIOM_VALUES: a default for every column, so that a test writes only what it is about."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.foundation.contracts import AXIOM_VALUES

DEFAULTS: dict[str, Any] = {
    "terms": 2,
    "rank": 3,
    "rep_ql": -2.0,
    "rep_tfidf": 1.0,
    "prox_1": 4.0,
    "prox_2": 5.0,
    "reg": 1.0,
    "stm_1": 0.5,
    "stm_2": 1.0,
    "stm_3": 0.5,
}
COLUMNS = ("rank", "rep_ql", "rep_tfidf", "prox_1", "prox_2", "reg", "stm_1", "stm_2", "stm_3")
SMALLER_IS_BETTER = ("rank", "prox_1", "prox_2")


def row(document: int, sample: int, query: str = "a b", query_id: str = "", **values: Any) -> dict[str, Any]:
    """A query of document `d<number>`, which stands at that position of part 0."""
    position = {"part": 0, "position": document, "sample": sample, "document_id": f"d{document}"}
    return {**position, "query_id": query_id, "query": query, **DEFAULTS, **values}


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    AXIOM_VALUES.write(path, [dict(one) for one in rows])
    return path


def random_rows(
    rng: np.random.Generator, documents: int, queries: int, lengths: Sequence[int] = (2,)
) -> list[dict[str, Any]]:
    """Pseudo-queries with coarse values, so that there are ties; texts are `d<document>q<sample>` repeated."""
    return [
        row(
            document,
            sample,
            " ".join([f"d{document}q{sample}"] * int(rng.choice(lengths))),
            rank=int(rng.integers(0, 4)),
            **{name: float(rng.integers(0, 3)) for name in COLUMNS[1:6]},
            **{name: float(rng.integers(0, 5)) / 20 for name in COLUMNS[6:]},
        )
        for document in range(documents)
        for sample in range(queries)
    ]


def reference_features(first: Mapping[str, Any], second: Mapping[str, Any], threshold: float) -> list[int]:
    """Equation 9, spelled out for one pair of rows."""
    found = []
    for name in COLUMNS:
        one, other = first[name], second[name]
        if name == "rank":
            one, other = one or float("inf"), other or float("inf")
        if name in SMALLER_IS_BETTER:
            one, other = other, one
        found.append((one > other) - (one < other))
    if abs(first["stm_1"] - second["stm_1"]) >= threshold:
        found[COLUMNS.index("stm_2")] = 0
    return found
