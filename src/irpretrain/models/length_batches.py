"""Batches of sequences, of one padded length or to be packed, for models that answer for every sequence alone.

Sequences are sorted by length and padded to the next multiple of LENGTH_STEP, or to the longest that is allowed where
that is less. Where batches are filled up, all of one length have the same number of rows. So the arithmetic of a
sequence has a shape that depends on its own length alone, and on one CPU thread its result is the same bytes whatever
else is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch

LENGTH_STEP = 8
"""Sequences are padded to multiples of so many positions."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class LengthBatch(Generic[Item]):
    """Sequences that are computed together.

    Attributes:
        length: positions of each row, padding included.
        rows: of the batch; those beyond its items fill it up.
        items: what the sequences belong to.
        positions: that are computed.
    """

    length: int
    rows: int
    items: list[Item]
    positions: int

    def __len__(self) -> int:
        """Number of items."""
        return len(self.items)


def length_batches(
    lengths: Iterable[tuple[Item, int]], longest: int, rows: Callable[[int], int], device: torch.device
) -> Iterator[LengthBatch[Item]]:
    """Yield batches, those of the longest sequences first: the memory runs out at once or never.

    Args:
        lengths: each item and the positions of its sequence, special tokens included.
        longest: padded sequences have no more positions.
        rows: padded length -> most rows of a batch, 1 or more.
        device: on a CPU batches are filled up. A GPU promises no equal bytes, and its batches are so large that most
            rows would be spare ones.
    """
    by_length: dict[int, list[Item]] = defaultdict(list)
    for item, length in lengths:
        by_length[min(-(-length // LENGTH_STEP) * LENGTH_STEP, longest)].append(item)
    for length in sorted(by_length, reverse=True):
        most, group = rows(length), by_length[length]
        for first in range(0, len(group), most):
            items = group[first : first + most]
            filled = most if device.type == "cpu" else len(items)
            yield LengthBatch(length, filled, items, length * filled)


def packed_batches(lengths: Iterable[tuple[Item, int]], budget: int) -> Iterator[LengthBatch[Item]]:
    """Yield batches of at most `budget` word pieces of sequences of any lengths, longest first.

    Args:
        lengths: each item and the positions of its sequence, special tokens included.
        budget: word pieces of a batch; a longer sequence is a batch of its own.
    """
    longest, pieces, items = 0, 0, list[Item]()
    for item, length in sorted(lengths, key=lambda pair: -pair[1]):
        if items and pieces + length > budget:
            yield LengthBatch(longest, len(items), items, pieces)
            longest, pieces, items = 0, 0, []
        longest, pieces = longest or length, pieces + length
        items.append(item)
    if items:
        yield LengthBatch(longest, len(items), items, pieces)


def padded(
    sequences: Sequence[Sequence[int]], rows: int, length: int, pad: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return word pieces and attention mask, int64 [rows, length]; rows beyond the sequences are empty ones."""
    ids = np.full((rows, length), pad, np.int64)
    attention = np.zeros_like(ids)
    attention[:, 0] = 1  # of empty rows too: a softmax over nothing is not a number
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        attention[row, : len(sequence)] = 1
    return ids, attention
