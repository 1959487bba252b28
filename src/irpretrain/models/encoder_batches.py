"""Batches of sequences for an encoder, padded or laid end to end: on the host, and on the device that encodes them.

Each new size costs a GPU's libraries a plan and its allocator memory, and a processor the preparation of each product
in narrow precision. So there batches have few sizes: they are filled up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from irpretrain.models.length_batches import to_device

# Rows are filled up to one of SIZE_CLASSES numbers between a power of two and the next, rows that are read to one
# of READ_SIZE_CLASSES; both at least to a multiple of MIN_STEP, as padded sequences are.
SIZE_CLASSES, READ_SIZE_CLASSES, MIN_STEP = 16, 8, 64


class Layout(NamedTuple):
    """How the batches of a model lie: decided before they are made, perhaps in another process."""

    packs: bool = False  # end to end, without padding
    fills_up: bool = False  # to few different sizes
    # Whether attention reads on the device where sequences end: batches of one shape are then computed alike, whatever
    # their sequences, so that a pass can be recorded.
    ends_on_device: bool = False


PADDED = Layout()

# Seeds of dropout are less than this.
SEED_LIMIT = (1 << 31) - 1


def filled_size(row_count: int, size_classes: int = SIZE_CLASSES) -> int:
    """Return the size that a batch of so many rows is filled up to."""
    size_step = _size_step(row_count, size_classes)
    return -(-row_count // size_step) * size_step


def _size_step(row_count: int, size_classes: int) -> int:
    """Return the difference between sizes near so many rows."""
    return max(MIN_STEP, (1 << max(row_count - 1, 1).bit_length() - 1) // size_classes)


@dataclass(frozen=True)
class PaddedBatch:
    """The sequences of a batch as a table, on the host."""

    input_ids: np.ndarray  # int64 [sequences, positions]; [CLS] comes first
    token_type_ids: np.ndarray  # int64 [sequences, positions]
    attention_mask: np.ndarray  # int64 [sequences, positions]; 0 for padding
    # bool [sequences, positions]: whose last hidden state is read beside [CLS].
    mlm_mask: np.ndarray | None = None

    def take(self, sequence_indices: np.ndarray) -> PaddedBatch:
        """Return some sequences, by their positions, without the columns that are padding in all of them."""
        width = int(self.attention_mask[sequence_indices].sum(axis=1).max(initial=0))
        return self._map(lambda array: array[sequence_indices, :width])

    def widened(self, max_length: int) -> PaddedBatch:
        """Return the batch with padding up to a multiple of MIN_STEP positions, at most to `max_length`."""
        width = self.input_ids.shape[1]
        added_positions = max(min(-(-width // MIN_STEP) * MIN_STEP, max_length) - width, 0)
        return self._map(lambda array: np.pad(array, ((0, 0), (0, added_positions))))

    def _map(self, change: Callable[[np.ndarray], np.ndarray]) -> PaddedBatch:
        return PaddedBatch(**{name: change(array) for name, array in _arrays(self).items()})


# Sequences that fill up a batch, besides twice those for the rows between two sizes.
SPARE_FILLERS = 4


@dataclass(frozen=True)
class PackedBatch:
    """The sequences of a batch end to end, on the host. All arrays are int32: other processes send them.

    A batch that is filled up has sequences behind the others that nobody reads, of word piece 0.
    """

    input_ids: np.ndarray  # [rows]
    token_type_ids: np.ndarray  # [rows]
    position_ids: np.ndarray  # [rows]
    sequence_ends: np.ndarray  # [sequences + 1] where each sequence ends, after a 0
    max_length: int  # no sequence is longer; in positions
    # [rows read] the rows whose last hidden state is read: [CLS] of each sequence, and masked positions. None: all.
    read_rows: np.ndarray | None
    read_ends: np.ndarray  # [sequences + 1] as `sequence_ends`, of the rows read
    cls_rows: np.ndarray  # [sequences without fillers] where each begins among the rows read
    # [masked positions] each among the rows read, row-major; filled up by zeros. None without masking.
    masked_rows: np.ndarray | None

    @classmethod
    def of(
        cls,
        padded: PaddedBatch,
        max_length: int,  # no batch has longer sequences
        reads_all: bool = False,  # whether all positions are read
        fills_up: bool = False,  # to few different sizes
    ) -> PackedBatch:
        is_token, is_masked = padded.attention_mask.astype(bool), padded.mlm_mask
        width = is_token.shape[1]
        rows = np.flatnonzero(is_token)
        lengths = read_lengths = is_token.sum(1)
        read_rows = masked_rows = None
        if not reads_all:
            is_read = np.zeros_like(is_token) if is_masked is None else is_masked.copy()
            is_read[:, 0] = True
            read_lengths = is_read.sum(1)
            read_rows = np.flatnonzero(is_read.ravel()[rows])
            if is_masked is not None:
                masked_rows = np.flatnonzero(is_masked.ravel()[rows[read_rows]])
        batch = cls(
            padded.input_ids.ravel()[rows],
            padded.token_type_ids.ravel()[rows],
            rows % width,
            _ends(lengths),
            min(-(-width // MIN_STEP) * MIN_STEP, max_length) if fills_up else width,
            read_rows,
            _ends(read_lengths),
            np.cumsum(read_lengths) - read_lengths,
            masked_rows,
        )
        batch = batch._filled_up() if fills_up else batch
        int32_arrays: dict[str, Any] = {n: array.astype(np.int32) for n, array in _arrays(batch).items()}
        return replace(batch, **int32_arrays)

    def _filled_up(self) -> PackedBatch:
        row_count, read_count = len(self.input_ids), 0 if self.read_rows is None else len(self.read_rows)
        added_count = filled_size(row_count + 1) - row_count
        # No filler is longer than the longest sequence, nor read more often; of each with rows some are read: torch's
        # attention leaves the gradients of what nobody reads unwritten.
        while True:
            nonempty_fillers = -(-added_count // self.max_length)
            added_read_count = filled_size(read_count + nonempty_fillers, READ_SIZE_CLASSES) - read_count
            if added_read_count <= nonempty_fillers * self.max_length:
                break
            added_count = filled_size(row_count + nonempty_fillers * self.max_length + 1) - row_count
        # As many for all batches of a size, some of them empty.
        fillers_per_step = -(-_size_step(row_count, SIZE_CLASSES) // self.max_length)
        filler_count = max(nonempty_fillers, 2 * fillers_per_step + SPARE_FILLERS)
        filler_starts = self.max_length * np.arange(filler_count)
        lengths = np.clip(added_count - filler_starts, 0, self.max_length)
        read_lengths = np.zeros(filler_count, np.int64)
        read_lengths[:nonempty_fillers] = np.diff(
            np.linspace(0, added_read_count, nonempty_fillers + 1).round().astype(np.int64)
        )
        zeros = np.zeros(added_count, np.int64)
        ends = np.concatenate([self.sequence_ends, row_count + np.cumsum(lengths)])
        read_rows, read_ends, masked_rows = self.read_rows, ends, self.masked_rows
        if read_rows is not None:
            read_rows = np.concatenate([read_rows, row_count + np.repeat(filler_starts, read_lengths)])
            read_ends = np.concatenate([self.read_ends, read_count + np.cumsum(read_lengths)])
        if masked_rows is not None:
            padding = filled_size(max(len(masked_rows), 1), READ_SIZE_CLASSES) - len(masked_rows)
            masked_rows = np.pad(masked_rows, (0, padding))
        return replace(
            self,
            input_ids=np.concatenate([self.input_ids, zeros]),
            token_type_ids=np.concatenate([self.token_type_ids, zeros]),
            position_ids=np.concatenate([self.position_ids, np.arange(added_count) % self.max_length]),
            sequence_ends=ends,
            read_rows=read_rows,
            read_ends=read_ends,
            masked_rows=masked_rows,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all arrays, and what else decides the shape of every computation."""
        return (self.max_length, *map(len, _arrays(self).values()))

    def flat(self, device: torch.device) -> Tensor:
        """Return all arrays end to end on a device, int32; a GPU copies them at once, in its turn."""
        arrays = [*_arrays(self).values()]
        if device.type != "cpu":
            # Of the stream that the trainer has seeded.
            arrays.append(torch.randint(SEED_LIMIT, (1,), dtype=torch.int32).numpy())
        return to_device(torch.from_numpy(np.concatenate(arrays)), device)

    def on(self, device: torch.device, flat: Tensor | None = None) -> PackedSequences:
        """Return the batch on a device, from what `flat` has copied there; by default it is copied now."""
        flat = self.flat(device) if flat is None else flat
        arrays = _arrays(self)
        sizes = [*map(len, arrays.values())]
        tensors = dict(zip([*arrays, "seed"], flat.split([*sizes, len(flat) - sum(sizes)]), strict=True))
        bounds = read_bounds = SequenceBounds(
            tensors.pop("sequence_ends"), self.max_length, self.sequence_ends
        )
        read_ends = tensors.pop("read_ends")
        if self.read_rows is not None:
            read_bounds = SequenceBounds(read_ends, self.max_length, self.read_ends)
        return PackedSequences(bounds=bounds, read_bounds=read_bounds, **tensors)


def _arrays(batch: PaddedBatch | PackedBatch) -> dict[str, np.ndarray]:
    """Return the arrays that a batch has, by their names, in the order of its fields."""
    return {name: value for name, value in vars(batch).items() if isinstance(value, np.ndarray)}


def _ends(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)])


@dataclass(frozen=True)
class SequenceBounds:
    """Where each of some sequences, laid end to end, begins and ends."""

    ends: Tensor  # int32 [sequences + 1], on the device that attends
    max_length: int  # no sequence is longer; in positions
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
    read_bounds: SequenceBounds
    cls_rows: Tensor
    seed: Tensor  # [1] of dropout in fused layers; on a processor [0]
    read_rows: Tensor | None = None
    masked_rows: Tensor | None = None


EncoderBatch = PaddedBatch | PackedBatch


def encoder_batch(
    layout: Layout, padded: PaddedBatch, max_length: int, reads_all: bool = False
) -> EncoderBatch:
    """Return a padded batch in the layout of a model that reads at most `max_length` positions."""
    if layout.packs:
        return PackedBatch.of(padded, max_length, reads_all, layout.fills_up)
    return padded.widened(max_length) if layout.fills_up else padded
