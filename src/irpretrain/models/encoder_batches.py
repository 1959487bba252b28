"""Batches of sequences for an encoder, padded or laid end to end: on the host, and on the device that encodes them.

On a GPU each new size costs its libraries a plan and the allocator memory, so batches for it have few sizes: they are
filled up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from irpretrain.models.length_batches import to_device

# Rows are filled up to one of SIZES numbers between a power of two and the next, rows that are read to one of
# SIZES_READ; both at least to a multiple of LEAST_STEP, as padded sequences are.
SIZES, SIZES_READ, LEAST_STEP = 16, 8, 64


class Layout(NamedTuple):
    """How the batches of a model lie: decided before they are made, perhaps in another process."""

    packs: bool = False  # end to end, without padding
    fills_up: bool = False  # to few different sizes, as a GPU needs it


PADDED = Layout()

# Seeds of dropout are less than this.
SEEDS = (1 << 31) - 1


def filled_up(rows: int, sizes: int = SIZES) -> int:
    """Return the size that a batch of so many rows is filled up to."""
    step = _step(rows, sizes)
    return -(-rows // step) * step


def _step(rows: int, sizes: int) -> int:
    """Return the difference between sizes near so many rows."""
    return max(LEAST_STEP, (1 << max(rows - 1, 1).bit_length() - 1) // sizes)


@dataclass(frozen=True)
class PaddedBatch:
    """The sequences of a batch as a table, on the host."""

    input_ids: np.ndarray  # int64 [sequences, positions]; [CLS] comes first
    token_type_ids: np.ndarray  # int64 [sequences, positions]
    attention_mask: np.ndarray  # int64 [sequences, positions]; 0 for padding
    # bool [sequences, positions]: whose last hidden state is read beside [CLS].
    masked: np.ndarray | None = None

    def take(self, sequences: np.ndarray) -> PaddedBatch:
        """Return some sequences, by their positions, without the columns that are padding in all of them."""
        mask = self.attention_mask[sequences]
        width = int(mask.sum(axis=1).max(initial=0))
        masked = None if self.masked is None else self.masked[sequences, :width]
        ids, types = self.input_ids[sequences, :width], self.token_type_ids[sequences, :width]
        return PaddedBatch(ids, types, mask[:, :width], masked)

    def widened(self, longest: int) -> PaddedBatch:
        """Return the batch with padding up to a multiple of LEAST_STEP positions, at most to `longest`."""
        width = self.input_ids.shape[1]
        added = max(min(-(-width // LEAST_STEP) * LEAST_STEP, longest) - width, 0)

        def widen(array: np.ndarray) -> np.ndarray:
            return np.pad(array, ((0, 0), (0, added)))

        masked = None if self.masked is None else widen(self.masked)
        return PaddedBatch(
            widen(self.input_ids), widen(self.token_type_ids), widen(self.attention_mask), masked
        )


# Sequences that fill up a batch, besides twice those for the rows between two sizes.
FILLERS = 4


@dataclass(frozen=True)
class PackedBatch:
    """The sequences of a batch end to end, on the host. All arrays are int32: other processes send them.

    A batch that is filled up has sequences behind the others that nobody reads, of word piece 0.
    """

    input_ids: np.ndarray  # [rows]
    token_type_ids: np.ndarray  # [rows]
    position_ids: np.ndarray  # [rows]
    ends: np.ndarray  # [sequences + 1] where each sequence ends, after a 0
    longest: int  # no sequence is longer; in positions
    # [rows read] the rows whose last hidden state is read: [CLS] of each sequence, and masked positions. None: all.
    read: np.ndarray | None
    read_ends: np.ndarray  # [sequences + 1] as `ends`, of the rows read
    first: np.ndarray  # [sequences without fillers] where each begins among the rows read
    # [masked positions] each among the rows read, row-major; filled up by zeros. None without masking.
    masked: np.ndarray | None

    @classmethod
    def of(
        cls,
        padded: PaddedBatch,
        longest: int,  # no batch has longer sequences
        reads_all: bool = False,  # whether all positions are read
        fills_up: bool = False,  # to few different sizes
    ) -> PackedBatch:
        is_token, is_masked = padded.attention_mask.astype(bool), padded.masked
        width = is_token.shape[1]
        rows = np.flatnonzero(is_token)
        lengths = read_lengths = is_token.sum(1)
        read = masked_among_read = None
        if not reads_all:
            is_read = np.zeros_like(is_token) if is_masked is None else is_masked.copy()
            is_read[:, 0] = True
            read_lengths = is_read.sum(1)
            read = np.flatnonzero(is_read.ravel()[rows])
            if is_masked is not None:
                masked_among_read = np.flatnonzero(is_masked.ravel()[rows[read]])
        batch = cls(
            padded.input_ids.ravel()[rows],
            padded.token_type_ids.ravel()[rows],
            rows % width,
            _ends(lengths),
            min(-(-width // LEAST_STEP) * LEAST_STEP, longest) if fills_up else width,
            read,
            _ends(read_lengths),
            np.cumsum(read_lengths) - read_lengths,
            masked_among_read,
        )
        batch = batch._filled_up() if fills_up else batch
        int32_arrays: dict[str, Any] = {n: array.astype(np.int32) for n, array in batch._arrays().items()}
        return replace(batch, **int32_arrays)

    def _filled_up(self) -> PackedBatch:
        rows, rows_read = len(self.input_ids), 0 if self.read is None else len(self.read)
        rows_added = filled_up(rows + 1) - rows
        # No filler is longer than the longest sequence, nor read more often; of each with rows some are read: torch's
        # attention leaves the gradients of what nobody reads unwritten.
        while True:
            fillers_with_rows = -(-rows_added // self.longest)
            read_rows_added = filled_up(rows_read + fillers_with_rows, SIZES_READ) - rows_read
            if read_rows_added <= fillers_with_rows * self.longest:
                break
            rows_added = filled_up(rows + fillers_with_rows * self.longest + 1) - rows
        # As many for all batches of a size, some of them empty.
        fillers = max(fillers_with_rows, 2 * -(-_step(rows, SIZES) // self.longest) + FILLERS)
        filler_starts = self.longest * np.arange(fillers)
        lengths = np.clip(rows_added - filler_starts, 0, self.longest)
        read_lengths = np.zeros(fillers, np.int64)
        read_lengths[:fillers_with_rows] = np.diff(
            np.linspace(0, read_rows_added, fillers_with_rows + 1).round().astype(np.int64)
        )
        zeros = np.zeros(rows_added, np.int64)
        ends = np.concatenate([self.ends, rows + np.cumsum(lengths)])
        read, read_ends, masked = self.read, ends, self.masked
        if read is not None:
            read = np.concatenate([read, rows + np.repeat(filler_starts, read_lengths)])
            read_ends = np.concatenate([self.read_ends, rows_read + np.cumsum(read_lengths)])
        if masked is not None:
            masked_added = filled_up(max(len(masked), 1), SIZES_READ) - len(masked)
            masked = np.concatenate([masked, np.zeros(masked_added, np.int64)])
        return PackedBatch(
            np.concatenate([self.input_ids, zeros]),
            np.concatenate([self.token_type_ids, zeros]),
            np.concatenate([self.position_ids, np.arange(rows_added) % self.longest]),
            ends,
            self.longest,
            read,
            read_ends,
            self.first,
            masked,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all arrays, and what else decides the shape of every computation."""
        return (self.longest, *map(len, self._arrays().values()))

    def flat(self, device: torch.device) -> Tensor:
        """Return all arrays end to end on a device, int32; a GPU copies them at once, in its turn."""
        arrays = [*self._arrays().values()]
        if device.type != "cpu":
            # Of the stream that the trainer has seeded.
            arrays.append(torch.randint(SEEDS, (1,), dtype=torch.int32).numpy())
        return to_device(torch.from_numpy(np.concatenate(arrays)), device)

    def sequences(self, flat: Tensor) -> PackedSequences:
        """Return the batch on a device, from what `flat` has copied there."""
        arrays = self._arrays()
        sizes = [*map(len, arrays.values())]
        tensors = dict(zip([*arrays, "seed"], flat.split([*sizes, len(flat) - sum(sizes)]), strict=True))
        bounds = SequenceBounds(tensors["ends"], self.longest, self.ends)
        return PackedSequences(
            tensors["input_ids"],
            tensors["token_type_ids"],
            tensors["position_ids"],
            bounds,
            tensors.get("read"),
            bounds
            if self.read is None
            else SequenceBounds(tensors["read_ends"], self.longest, self.read_ends),
            tensors["first"],
            tensors.get("masked"),
            tensors["seed"],
        )

    def on(self, device: torch.device) -> PackedSequences:
        return self.sequences(self.flat(device))

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {
            "input_ids": self.input_ids,
            "token_type_ids": self.token_type_ids,
            "position_ids": self.position_ids,
            "ends": self.ends,
            "read": self.read,
            "read_ends": self.read_ends,
            "first": self.first,
            "masked": self.masked,
        }
        return {name: array for name, array in arrays.items() if array is not None}


def _ends(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)])


@dataclass(frozen=True)
class SequenceBounds:
    """Where each of some sequences, laid end to end, begins and ends."""

    ends: Tensor  # int32 [sequences + 1], on the device that attends
    longest: int  # no sequence is longer; in positions
    host_ends: np.ndarray  # `ends` on the host

    @cached_property
    def lengths(self) -> list[int]:
        return list(np.diff(self.host_ends).tolist())


@dataclass(frozen=True)
class PackedSequences:
    """A `PackedBatch` on the device that encodes it; tensors are int32."""

    input_ids: Tensor
    token_type_ids: Tensor
    position_ids: Tensor
    bounds: SequenceBounds
    read: Tensor | None
    read_bounds: SequenceBounds
    first: Tensor
    masked: Tensor | None
    seed: Tensor  # [1] of dropout in fused layers; on a processor [0]

    def without_types(self) -> PackedSequences:
        """Return the sequences for an encoder that reads no token types: 0 throughout."""
        return replace(self, token_type_ids=torch.zeros_like(self.token_type_ids))


EncoderBatch = PaddedBatch | PackedBatch


def encoder_batch(layout: Layout, padded: PaddedBatch, longest: int, reads_all: bool = False) -> EncoderBatch:
    """Return a padded batch in the layout of a model that reads at most `longest` positions."""
    if layout.packs:
        return PackedBatch.of(padded, longest, reads_all, layout.fills_up)
    return padded.widened(longest) if layout.fills_up else padded
