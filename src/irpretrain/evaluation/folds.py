"""Folds for cross-validation: which queries train, which validate, which test.

Folds are numbered from 1. With test fold f of k, fold f % k + 1 validates and the other k - 2 train. So each
query is tested exactly once, by a model that has never seen it. Where another data set is tested, fold 1
validates and the other k - 1 train. Where nothing is chosen no fold validates: all but the tested one train.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from irpretrain.config.finetuning import shots_of
from irpretrain.foundation.errors import MAKE_AGAIN, ConfigError, count_of, refusing_damage
from irpretrain.foundation.randomness import stream_key

# In place of a test fold: all queries, of another data set than the one that trains.
WHOLE = 0


class Roles(NamedTuple):
    """Queries by role, each in the data set's order."""

    train: list[str]
    validation: list[str]
    test: list[str]


@dataclass(frozen=True)
class Folds:
    """The fold of each query, from 1 to `fold_count`, in the data set's order."""

    fold_count: int
    fold_of: dict[str, int]

    def queries(self, fold: int) -> list[str]:
        """Return the queries of one fold."""
        return [query for query, query_fold in self.fold_of.items() if query_fold == fold]


def read_folds(path: str | Path) -> Folds:
    """Read what `make_folds` wrote."""
    with refusing_damage(path, "these are not folds", MAKE_AGAIN):
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return Folds(int(content["folds"]), {query: int(fold) for query, fold in content["queries"].items()})


def roles(folds: Folds, test_fold: int, *, validates: bool = True) -> Roles:
    """Return the queries that train, validate and test when `test_fold` is tested; with `WHOLE`, none of these
    queries is tested. Without `validates` no query validates, and the fold that would trains.
    """
    validation_fold = test_fold % folds.fold_count + 1
    held_out = (test_fold, validation_fold) if validates else (test_fold,)
    train = [query for query, fold in folds.fold_of.items() if fold not in held_out]
    validation = folds.queries(validation_fold) if validates else []
    return Roles(train, validation, folds.queries(test_fold))


def training_queries(
    train: Sequence[str], regime: str, seed: int, order: Literal["drawn", "first"] = "drawn"
) -> list[str]:
    """Return the queries that a regime trains on: all for full, n for few-shot-<n>.

    These n are the first, or drawn at random: then a query's place depends on the seed and its identifier alone. Either
    way more shots contain fewer.

    Raises:
        ConfigError: there are fewer than n.
    """
    shots = shots_of(regime)
    if not shots:
        return list(train)
    if shots > len(train):
        queries = count_of(len(train), "query")
        raise ConfigError(f"{regime}: the training folds have only {queries}; ask for fewer shots")
    if order == "first":
        return list(train[:shots])
    return sorted(train, key=lambda query: (stream_key(seed, "few-shot", query), query))[:shots]
