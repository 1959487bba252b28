"""Draws that objectives share: documents of the collection at random, and lists that are repeated when scarce.

All take the random stream of the document that a group is made of, named by (seed, objective, document id), and nothing
that depends on shards.
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
    return [items[place] for place in np.sort(rng.choice(len(items), size=most, replace=False))]


def as_many(rng: np.random.Generator, items: Sequence[Item], count: int) -> tuple[list[Item], int]:
    """Return `count` of the items, and how many of these are repeats.

    All are different as long as they last, in random order; the rest are drawn with replacement.
    """
    places = places_as_many(rng, len(items), count)
    return [items[place] for place in places], max(0, count - len(items))


def places_as_many(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Return `count` places below `size`, as `as_many` draws them (int64)."""
    places = rng.permutation(size)[:count]
    if size >= count:
        return places
    return np.concatenate((places, rng.integers(size, size=count - size)))


class RandomDocuments:
    """The documents of a collection that can be drawn, by their number.

    Args:
        words: int [nodes], words of each document of the collection, in the order of their numbers.
        least_words: shorter documents are never drawn; empty ones never are.
    """

    def __init__(self, words: np.ndarray, least_words: int = 1) -> None:
        self._words = words
        self._numbers = np.flatnonzero(words >= max(least_words, 1)).astype(np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    def draw(self, rng: np.random.Generator, count: int, excluded: Collection[int]) -> tuple[list[int], int]:
        """Return `count` documents with equal probabilities, none of the excluded, and how many are repeats.

        They are different unless the collection is too small; the list is empty where nothing can be drawn.
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
    """Return places of draws by document, and streams by place, given the document and the stream of each draw."""
    places: dict[str, list[int]] = defaultdict(list)
    streams = []
    for place, (document_id, stream) in enumerate(wanted):
        places[document_id].append(place)
        streams.append(stream)
    return places, streams
