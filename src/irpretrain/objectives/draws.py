"""Draws that objectives share: random documents of the collection, and lists that are repeated when scarce.

All take the random stream of the source document, named by (seed, objective, document id), and nothing that depends on
shards.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def some(rng: np.random.Generator, items: Sequence[Item], most: int | None) -> list[Item]:
    """Return at most `most` different items at random, in their own order; all where `most` is null."""
    if most is None or len(items) <= most:
        return list(items)
    return [items[position] for position in np.sort(rng.choice(len(items), size=most, replace=False))]


def as_many(rng: np.random.Generator, items: Sequence[Item], count: int) -> tuple[list[Item], int]:
    """Return `count` of the items in random order, and the number of repeats: drawn when items run out."""
    positions = positions_as_many(rng, len(items), count)
    return [items[position] for position in positions], max(0, count - len(items))


def positions_as_many(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Return `count` positions below `size`, as `as_many` draws them (int64)."""
    positions = rng.permutation(size)[:count]
    if size >= count:
        return positions
    return np.concatenate((positions, rng.integers(size, size=count - size)))


class RandomDocuments:
    """The documents of a collection that can be drawn, by number: those with at least `least_words` words."""

    def __init__(self, words: np.ndarray, least_words: int = 1) -> None:
        self._words = words
        self._numbers = np.flatnonzero(words >= max(least_words, 1)).astype(np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    def draw(self, rng: np.random.Generator, count: int, excluded: Collection[int]) -> tuple[list[int], int]:
        """Return `count` documents with equal probabilities, none of the excluded, and the number of repeats.

        They are different unless the collection is too small; the list is empty if nothing can be drawn.
        """
        barred = set(excluded)
        # Few others: list them. Else a draw meets a barred or drawn one with a probability of at most one half.
        if len(self) < 2 * (count + len(barred)):
            others = [int(number) for number in self._numbers if int(number) not in barred]
            return as_many(rng, others, count) if others else ([], 0)
        drawn: list[int] = []
        while len(drawn) < count:
            number = int(self._numbers[rng.integers(len(self))])
            if number not in barred:
                barred.add(number)
                drawn.append(number)
        return drawn, 0


def by_document(wanted: Iterable[tuple[str, str]]) -> tuple[dict[str, list[int]], list[str]]:
    """Return positions of draws by document, and streams by position, from document and stream of each draw."""
    positions: dict[str, list[int]] = defaultdict(list)
    streams = []
    for position, (document_id, stream) in enumerate(wanted):
        positions[document_id].append(position)
        streams.append(stream)
    return positions, streams
