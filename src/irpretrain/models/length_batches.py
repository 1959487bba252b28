"""Batches of sequences sorted by length, and loops over them that never wait for the device.

Sequences are sorted by length and padded to the next multiple of LENGTH_STEP, at most to `max_length`. Filled batches
of one length have the same number of rows. A model scores each sequence independently. So the shape of a sequence's
arithmetic depends on its own length alone, and on one CPU thread its result is the same bytes whatever else is in the
batch.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from irpretrain.models.parameters import is_bert

# Sequences are padded to multiples of this many positions.
LENGTH_STEP = 8

Item = TypeVar("Item")


@dataclass(frozen=True)
class LengthBatch(Generic[Item]):
    length: int  # positions of each row, padding included
    row_count: int  # of the batch; those beyond its items fill it up
    items: list[Item]  # what the sequences belong to
    position_count: int  # that are computed


def length_batches(
    lengths: Iterable[tuple[Item, int]],
    max_length: int,
    max_rows_at: Callable[[int], int],
    device: torch.device,
) -> Iterator[LengthBatch[Item]]:
    """Yield batches of (item, positions with special tokens); `max_rows_at`: padded length → most rows of a batch."""
    items_by_length: dict[int, list[Item]] = defaultdict(list)
    for item, length in lengths:
        items_by_length[min(-(-length // LENGTH_STEP) * LENGTH_STEP, max_length)].append(item)
    # The longest first: memory runs out at once or never.
    for length in sorted(items_by_length, reverse=True):
        max_rows, items_of_length = max_rows_at(length), items_by_length[length]
        for start in range(0, len(items_of_length), max_rows):
            items = items_of_length[start : start + max_rows]
            # A GPU promises no equal bytes, and its batches are so large that most rows would be fillers.
            padded_rows = max_rows if device.type == "cpu" else len(items)
            yield LengthBatch(length, padded_rows, items, length * padded_rows)


def packed_batches(lengths: Iterable[tuple[Item, int]], max_pieces: int) -> Iterator[LengthBatch[Item]]:
    """Yield batches of at most `max_pieces` word pieces, longest sequences first; a longer sequence is alone."""
    max_length, piece_count, items = 0, 0, list[Item]()
    for item, length in sorted(lengths, key=lambda pair: -pair[1]):
        if items and piece_count + length > max_pieces:
            yield LengthBatch(max_length, len(items), items, piece_count)
            max_length, piece_count, items = 0, 0, []
        max_length, piece_count = max_length or length, piece_count + length
        items.append(item)
    if items:
        yield LengthBatch(max_length, len(items), items, piece_count)


def pad_sequences(
    sequences: Sequence[Sequence[int]], row_count: int, length: int, pad_id: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return word pieces and attention mask, int64 [rows, length]; rows beyond the sequences are empty ones."""
    ids = np.full((row_count, length), pad_id, np.int64)
    attention = np.zeros_like(ids)
    attention[:, 0] = 1  # of empty rows too: a softmax over nothing is NaN
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        attention[row, : len(sequence)] = 1
    return ids, attention


Batch = TypeVar("Batch")
Prefetched = TypeVar("Prefetched")


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor on a device. From the host a GPU takes it in its turn, out of pinned memory, and nobody waits."""
    if tensor.device.type != "cpu" or device.type == "cpu":
        return tensor.to(device)
    source = tensor.pin_memory() if device.type == "cuda" else tensor
    return source.to(device, non_blocking=True)


def host_to_device(array: np.ndarray, device: torch.device) -> Tensor:
    return to_device(torch.from_numpy(np.asarray(array, order="C")), device)


def to_host(tensor: Tensor) -> Callable[[], Tensor]:
    """Begin to copy a tensor to the host; return a wait for the copy."""
    if tensor.device.type != "cuda":
        return tensor.cpu
    # Waits only for work submitted before; a plain `.cpu()` waits for all work of the GPU until then.
    copy, copy_event = tensor.to("cpu", non_blocking=True), torch.cuda.Event()
    copy_event.record()

    def wait() -> Tensor:
        copy_event.synchronize()
        return copy

    return wait


def prefetch(
    batches: Iterable[Batch], begin: Callable[[Batch], Prefetched], device: torch.device
) -> Iterator[tuple[Batch, Prefetched]]:
    """Yield each batch with the result of `begin`; on a GPU after `begin` of the next: it computes meanwhile."""
    max_pending = 0 if device.type == "cpu" else 1
    pending = deque[tuple[Batch, Prefetched]]()
    for batch in batches:
        pending.append((batch, begin(batch)))
        if len(pending) > max_pending:
            yield pending.popleft()
    yield from pending


def padding_mask(encoder: Any, attention_mask: Tensor, device: torch.device) -> Tensor | None:
    """Return the mask to call an encoder on `device` with, for int64 [sequences, positions]; None without padding."""
    attention_kind = encoder.config._attn_implementation
    if attention_mask.device == device or not is_bert(encoder) or attention_kind not in ("sdpa", "eager"):
        return to_device(attention_mask, device)
    # What transformers makes of the mask, made on the host: transformers would ask the device whether anything is
    # padding, and a GPU would first finish all its work.
    if attention_mask.all():
        return None
    is_token = to_device(attention_mask.bool(), device)
    if attention_kind == "eager":
        is_token = torch.where(
            is_token, torch.zeros((), dtype=encoder.dtype, device=device), torch.finfo(encoder.dtype).min
        )
    return is_token[:, None, None].expand(-1, 1, is_token.shape[1], -1)
