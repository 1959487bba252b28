"""Long tables computed block by block; an interrupted job resumes at its last saved batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import torch

from irpretrain.contracts import Contract
from irpretrain.errors import IntegrityError
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.progress import Counter, print_line
from irpretrain.foundation.provenance import content_hash, sha256
from irpretrain.models.length_batches import prefetch
from irpretrain.training.checkpoints import Checkpoints

Batch = TypeVar("Batch", bound=Sized)


class KeptBatches:
    """Results of a block's batches, saved by the clock: an interrupted job goes on after the last that were saved."""

    def __init__(
        self,
        results: list[list[Any]] | None = None,  # of the first batches
        # Called with all results so far and the share of all items that is done, after each batch.
        keep: Callable[[list[list[Any]], float], None] = lambda results, share: None,
    ) -> None:
        self._results, self._keep = results or [], keep

    def results(
        self,
        batches: Iterable[Batch],  # each has a length, its number of items
        # Batch → what waits for its results; see `prefetch`.
        begin: Callable[[Batch], Callable[[], list[Any]]],
        items: int,  # number of items in all batches
        device: torch.device,  # where batches are computed
    ) -> Iterator[tuple[Batch, list[Any]]]:
        """Yield every batch with its results, new or from before an interruption; saved arrays come back as lists."""
        retained = self._results

        def begin_missing(numbered: tuple[int, Batch]) -> Callable[[], list[Any]] | None:
            number, batch = numbered
            return None if number < len(retained) else begin(batch)

        done = 0
        for (number, batch), wait in prefetch(enumerate(batches), begin_missing, device):
            done += len(batch)
            if wait is not None:
                retained.append(wait())
            self._keep(retained, done / items)
            yield batch, retained[number]


Block = TypeVar("Block", bound=Sized)


class Unfinished(NamedTuple):
    """Where a job stores its finished blocks and batches."""

    job: dict[str, Any]  # everything that the results depend on, JSON-able
    root: str | Path  # folder of all jobs' unfinished work
    title: str  # for messages
    texts: int  # number of texts in all blocks
    minutes: float  # longest time between two savings


def write_in_blocks(
    contract: Contract,
    output: str | Path,  # where it is written
    blocks: Iterable[Block],  # the inputs; iterated whole, whichever are finished
    # Block, and what its batches gave before → its rows, and counts that are added up.
    compute: Callable[[Block, KeptBatches], tuple[pa.Table, dict[str, int]]],
    unfinished: Unfinished,  # where blocks are stored
) -> dict[str, int]:
    """Write a table whose rows come from consecutive blocks; return the sums of the blocks' counts.

    An interrupted job resumes after its last whole block, and of the next block after the last batch that was saved.
    """
    totals: dict[str, int] = {}
    job, root, title, texts, minutes = unfinished
    with Checkpoints(root, job, title, minutes) as folder:
        state = folder.load()
        if state is None and any(folder.directory.glob("block-*")):
            folder.go_on()
        finished: list[Path] = []
        counter = Counter(title, "texts", texts)
        done = resumed = 0
        for number, block in enumerate(blocks):
            path = folder.directory / f"block-{number:06d}.parquet"
            counts = _finished(contract, path)
            if counts is None:
                folder.record()
                kept = state["results"] if state is not None and state["block"] == number else []
                batches = KeptBatches(kept, partial(_keep, folder, counter, number, done, len(block)))
                rows, counts = compute(block, batches)
                contract.write(path, rows)
                folder.record()  # what was imported meanwhile, too
                # Last: it marks the block as whole.
                write_text(_beside(path), json.dumps({"counts": counts, "hash": _hash(path, counts)}))
            else:
                resumed += len(block)
                counter.skip(len(block))
            done += len(block)
            finished.append(path)
            for name, value in counts.items():
                totals[name] = totals.get(name, 0) + value
        if resumed:
            print_line(f"[{title}] {resumed:,} of {done:,} texts were done before")
        parts = (part for path in finished for part in contract.stream(path))
        contract.write_tables(output, (pa.Table.from_batches([part]) for part in parts))
        folder.discard()
    return totals


def _keep(
    folder: Checkpoints,
    counter: Counter,
    block: int,
    done: int,
    texts: int,
    results: list[list[Any]],
    share: float,
) -> None:
    counter.reach_within(done, texts, share)
    if folder.clock.due():
        # Checkpoints hold plain values and tensors alone.
        plain = [
            [value.tolist() if isinstance(value, np.ndarray) else value for value in batch]
            for batch in results
        ]
        folder.save(done + len(results), {"block": block, "results": plain})


def _finished(contract: Contract, path: Path) -> dict[str, int] | None:
    try:
        contract.check(path)
        record = json.loads(_beside(path).read_text())
        counts: dict[str, int] = record["counts"]
        return counts if record["hash"] == _hash(path, counts) else None
    except (IntegrityError, OSError, ValueError, TypeError, KeyError):
        return None


def _hash(path: Path, counts: dict[str, int]) -> str:
    return content_hash({"block": path.name, "rows": sha256(path), "counts": counts})


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")
