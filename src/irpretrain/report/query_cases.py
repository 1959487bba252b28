"""Which queries a page of two rankings shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from irpretrain.config.query_pages import ChosenQueriesConfig, QueryPageConfig
from irpretrain.errors import ConfigError
from irpretrain.randomness import stream_key

NAMED, GAIN, LOSS, TIE, RANDOM = "named", "gain", "loss", "tie", "random"
DIGITS = 9
"""Decimal places of differences: 0.6 - 0.5 and 0.3 - 0.2 are equal."""


class ChosenQuery(NamedTuple):
    """A query and the rule that chose it."""

    query: str
    rule: str


def choose_queries(
    name: str,
    options: QueryPageConfig,
    queries: Collection[str],
    left: Mapping[str, float],
    right: Mapping[str, float],
    seed: int,
) -> list[ChosenQuery]:
    """Return the queries that the configuration names, or those that its rules choose, in the rules' order.

    Args:
        name: of the page, for messages.
        options: its section.
        queries: queries of the data set.
        left, right: judged query → value of the measure under each ranking.
        seed: of the draws.

    Raises:
        ConfigError: a query is not in the data set, or the rules find none.
    """
    where = f"query_pages.{name}"
    for query in options.queries:
        if query not in queries:
            raise ConfigError(f"{where}.queries: {query!r} is not among the queries of {options.dataset}")
    if options.queries:
        return [ChosenQuery(query, NAMED) for query in options.queries]
    differences = {query: size for query, size in differences_of(left, right).items() if query in queries}
    chosen = dict.fromkeys(_by_rules(options.choose, differences, f"query-pages/{name}", seed))
    if not chosen:
        raise ConfigError(
            f"{where}.choose: no judged query of {options.dataset} fits ({_counted(differences)}); change "
            "the numbers, or name queries"
        )
    return list(chosen)


def differences_of(left: Mapping[str, float], right: Mapping[str, float]) -> dict[str, float]:
    """Return by how much each judged query, in the order of ids, is better on the right."""
    return {query: round(right[query] - left[query], DIGITS) for query in sorted(left)}


def compared(differences: Mapping[str, float]) -> dict[str, int]:
    """Return on how many queries right is better than left, equal, and worse."""
    better = sum(size > 0 for size in differences.values())
    worse = sum(size < 0 for size in differences.values())
    return {"better": better, "equal": len(differences) - better - worse, "worse": worse}


def _by_rules(
    numbers: ChosenQueriesConfig, differences: Mapping[str, float], stream: str, seed: int
) -> Iterator[ChosenQuery]:
    gains = sorted((-size, query) for query, size in differences.items() if size > 0)
    losses = sorted((size, query) for query, size in differences.items() if size < 0)
    ties = _drawn((query for query, size in differences.items() if not size), stream, seed)
    taken = [ChosenQuery(query, GAIN) for _, query in gains[: numbers.gains]]
    taken += [ChosenQuery(query, LOSS) for _, query in losses[: numbers.losses]]
    taken += [ChosenQuery(query, TIE) for query in ties[: numbers.ties]]
    yield from taken
    others = differences.keys() - {query for query, _ in taken}
    yield from (ChosenQuery(query, RANDOM) for query in _drawn(others, stream, seed)[: numbers.random])


def _drawn(queries: Iterable[str], stream: str, seed: int) -> list[str]:
    """The queries in an order that depends on the seed and on each query's own id alone."""
    return sorted(queries, key=lambda query: (stream_key(seed, stream, query), query))


def _counted(differences: Mapping[str, float]) -> str:
    outcomes = compared(differences)
    return f"gains {outcomes['better']}, losses {outcomes['worse']}, ties {outcomes['equal']}"
