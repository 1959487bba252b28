"""How many pseudo-queries find their document at which ranks: the intervals of ARES, section 4.1.

The paper prints [1, 2] 32.08 %, [2, 5] 11.19 %, [6, 10] 4.28 %, [11, 50] 10.07 % and beyond 42.38 %, and states that
more than 30 % are at rank 1. Its intervals overlap in rank 2, yet add up to 100 %, so the second one is read as 3 to 5.
Ranks 1 and 2 are counted separately here, for either reading.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import AXIOM_VALUES
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError
from irpretrain.foundation.progress import progress

# Where the intervals end; what is beyond the last one is one more.
LAST_RANKS = (1, 2, 5, 10, 50)


def rank_intervals(
    axiom_values: Sequence[str | Path], output: str | Path, depth: int = LAST_RANKS[-1]
) -> dict[str, Any]:
    """Count queries of AXIOM_VALUES tables by the interval of their RANK; IntegrityError on a rank beyond the depth.

    Args:
        output: a JSON file: queries, depth, and intervals, a map from "1", "2", "3-5", "6-10", "11-50" and ">50" to
            queries; also the result.
        depth: of RANK (`axioms.rank_depth`). Under 50, intervals are cut at it: at depth 7 they are "1", "2", "3-5",
            "6-7" and ">7". Above 50, ranks beyond 50 still make one interval.
    """
    end_ranks = sorted({min(rank, depth) for rank in LAST_RANKS})
    counts = np.zeros(len(end_ranks) + 1, np.int64)
    for path in progress(axiom_values, "count ranks", "tables"):
        for batch in AXIOM_VALUES.stream(path, ["rank"]):
            ranks = batch.column("rank").to_numpy()
            if len(ranks) and not 0 <= ranks.min() <= ranks.max() <= depth:
                ends = f"{ranks.min()} to {ranks.max()}"
                fault = f"this table has ranks from {ends}, but RANK must be known up to {depth}"
                raise IntegrityError(path, fault, remedy=MAKE_AGAIN)
            counts += count_in_intervals(ranks, end_ranks)
    result = {
        "queries": int(counts.sum()),
        "depth": depth,
        "intervals": dict(zip(interval_names(end_ranks), counts.tolist(), strict=True)),
    }
    write_text(output, json.dumps(result, indent=1) + "\n")
    return result


def count_in_intervals(ranks: np.ndarray, end_ranks: Sequence[int]) -> np.ndarray:
    """Return how many ranks lie in each interval and beyond (int64 [intervals + 1]); 0 is beyond the depth."""
    positions = np.where(ranks == 0, len(end_ranks), np.searchsorted(end_ranks, ranks))
    return np.bincount(positions, minlength=len(end_ranks) + 1)


def interval_names(end_ranks: Sequence[int]) -> list[str]:
    """Return the names of the intervals that end at these ranks, and of what is beyond."""
    first_ranks = [1, *(end + 1 for end in end_ranks)]
    pairs = zip(first_ranks, end_ranks, strict=False)
    return [*(str(end) if first == end else f"{first}-{end}" for first, end in pairs), f">{end_ranks[-1]}"]


def interval_ends(names: Sequence[str]) -> list[int]:
    """Return where intervals with these names end, the inverse of `interval_names`; ValueError on other names."""
    end_ranks = [int(name.rpartition("-")[2]) for name in names[:-1]]
    if not end_ranks or interval_names(end_ranks) != list(names):
        raise ValueError(f"{', '.join(names)} are no intervals of all ranks, such as 1-2, 3-5, >5")
    return end_ranks
