"""Queries for which a first stage finds no document: they score 0, whatever re-ranks its candidates."""

from collections.abc import Collection, Iterable
from pathlib import Path

from irpretrain.corpora.losses import Loss


def tell_lost_queries(output: str | Path, asked: Iterable[str], ranked: Collection[str]) -> int:
    """Return how many of the queries have no candidate, and say so on the screen where any has none.

    Args:
        output: the run, `results/runs/<data set>/<first stage>/first-stage.run.gz`.
        asked: identifiers of all queries.
        ranked: identifiers of those that have candidates.
    """
    queries = list(asked)
    lost = [query for query in queries if query not in ranked]
    if lost:
        place = Path(output).parent
        loss = Loss(len(lost), len(queries), "queries have no candidate and score 0", f"query {lost[0]}")
        loss.tell(f"{place.parent.name}, {place.name}")
    return len(lost)
