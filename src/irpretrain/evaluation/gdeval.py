"""nDCG and ERR as gdeval computes them, the script of TREC's Web tracks (gdeval.pl, version 1.2).

It has the gain 2^grade - 1 where trec_eval has the grade itself, and grades go up to 4. Its own means leave out judged
queries for which nothing was retrieved; ours count them as 0, as for all measures here.
"""

import math
from collections.abc import Iterable, Sequence

from irpretrain.errors import ConfigError

HIGHEST = 4
"""Highest grade of the Web tracks: a document of this grade satisfies with probability 15/16."""


def gain(grade: int) -> float:
    """Return 2^grade - 1, 0 for a grade below 0."""
    return 2.0 ** max(grade, 0) - 1


def discounted(grades: Iterable[int], cutoff: int) -> float:
    """Return the sum of gain / log2(rank + 1) over the first `cutoff` grades (Burges et al., ICML 2005)."""
    first = list(grades)[:cutoff]
    return math.fsum(gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(first, 1))


def ndcg(ranked: Sequence[int], judged: Iterable[int], cutoff: int) -> float:
    """Return nDCG at a cut-off.

    Args:
        ranked: grades of the ranking, 0 for documents without a judgement.
        judged: grades of all judged documents of the query.
        cutoff: ranks that count.
    """
    ideal = discounted(sorted(judged, reverse=True), cutoff)
    return discounted(ranked, cutoff) / ideal if ideal else 0.0


def err(ranked: Sequence[int], cutoff: int) -> float:
    """Return the expected reciprocal rank at a cut-off (Chapelle et al., CIKM 2009): the mean of 1 / rank of the
    document that satisfies a user who reads down and is satisfied by each with probability gain / 2^4.
    """
    score, reached = 0.0, 1.0
    for rank, grade in enumerate(ranked[:cutoff], 1):
        satisfied = gain(grade) / 2**HIGHEST
        score += reached * satisfied / rank
        reached *= 1 - satisfied
    return score


def check_grades(query: str, grades: Iterable[int]) -> None:
    """Raise ConfigError where a query has a grade for which ERR is not defined; gdeval refuses such judgements too."""
    if (highest := max(grades, default=0)) > HIGHEST:
        raise ConfigError(
            f"measures: ERR is defined for grades up to {HIGHEST}, and query {query} has a judgement of {highest}; "
            "leave ERR out of the data set's measures"
        )
