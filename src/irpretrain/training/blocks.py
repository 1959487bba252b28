"""Long tables computed block by block; an interrupted job resumes at its last saved batch.

Results of batches, saved by the clock: an interrupted job resumes where it stopped.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import torch

from irpretrain.atomic import write_text
from irpretrain.contracts import Contract
from irpretrain.errors import IntegrityError
from irpretrain.models.length_batches import prefetch
from irpretrain.other_code import go_on_from, keep_code
from irpretrain.progress import Counter, print_line
from irpretrain.provenance import content_hash
from irpretrain.training.checkpoint_clock import CheckpointClock
from irpretrain.training.job_lock import hold

Batch = TypeVar("Batch", bound=Sized)


class KeptBatches:
    def __init__(
        self,
        path: Path | None = None,  # file of the results; None stores nothing
        clock: CheckpointClock | None = None,  # when to save
        # Called with the share of all items that is done, after each batch.
        reported: Callable[[float], None] = lambda share: None,
    ) -> None:
        self._path, self._clock, self._reported = path, clock, reported

    def results(
        self,
        batches: Iterable[Batch],  # each has a length, its number of items
        # Batch → what waits for its results; see `prefetch`.
        begin: Callable[[Batch], Callable[[], list[Any]]],
        items: int,  # number of items in all batches
        device: torch.device,  # where batches are computed
    ) -> Iterator[tuple[Batch, list[Any]]]:
        """Yield every batch with its results, new or from before an interruption; saved arrays come back as lists."""
        retained = self._read()

        def begin_missing(numbered: tuple[int, Batch]) -> Callable[[], list[Any]] | None:
            number, batch = numbered
            return None if number < len(retained) else begin(batch)

        done = 0
        for (number, batch), wait in prefetch(enumerate(batches), begin_missing, device):
            if wait is not None:
                retained.append(wait())
                self._save(retained)
            done += len(batch)
            self._reported(done / items)
            yield batch, retained[number]

    def _save(self, retained: list[list[Any]]) -> None:
        if self._path is not None and self._clock is not None and self._clock.due():
            write_text(self._path, json.dumps(retained, default=lambda array: array.tolist()))
            self._clock.saved()

    def discard(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _read(self) -> list[list[Any]]:
        try:
            retained: list[list[Any]] = json.loads(self._path.read_text()) if self._path is not None else []
        except (OSError, ValueError):  # none, or damaged
            return []
        return retained


# Blocks of a table that are computed in order and stored as they are finished.
#
# An interrupted job resumes after its last whole block, and of the next block after the last batch that was
# kept by the clock. Blocks lie in `<root>/<hash of everything that the job's results depend on>/`, as checkpoints do,
# and go when the table is written.


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
    """Write a table whose rows come from consecutive blocks; return the sums of the blocks' counts."""
    key, root = content_hash(unfinished.job), Path(unfinished.root)
    folder = root / key
    totals: dict[str, int] = {}
    clock = CheckpointClock(unfinished.minutes)
    with hold(root / f"{key}.lock", unfinished.title):
        code = folder / "code.json"
        if any(folder.glob("block-*")):
            go_on_from(code)
        finished: list[Path] = []
        counter = Counter(unfinished.title, "texts", unfinished.texts)
        done = resumed = 0
        for number, block in enumerate(blocks):
            path = folder / f"block-{number:06d}.parquet"
            counts = _finished(contract, path)
            if counts is None:
                reported = partial(counter.reach_within, done, len(block))
                keep_code(code)
                batches = KeptBatches(path.with_suffix(".batches"), clock, reported)
                rows, counts = compute(block, batches)
                contract.write(path, rows)
                keep_code(code)  # what was imported meanwhile, too
                write_text(_beside(path), json.dumps(counts))  # last: it marks the block as whole
                batches.discard()
            else:
                resumed += len(block)
                counter.skip(len(block))
            done += len(block)
            finished.append(path)
            for name, value in counts.items():
                totals[name] = totals.get(name, 0) + value
        if resumed:
            print_line(f"[{unfinished.title}] {resumed:,} of {done:,} texts were done before")
        parts = (part for path in finished for part in contract.stream(path))
        contract.write_tables(output, (pa.Table.from_batches([part]) for part in parts))
        shutil.rmtree(folder, ignore_errors=True)
    return totals


def _finished(contract: Contract, path: Path) -> dict[str, int] | None:
    """The counts of a whole block; None for a missing or damaged one."""
    try:
        contract.check(path)
        counts: dict[str, int] = json.loads(_beside(path).read_text())
    except (IntegrityError, OSError, ValueError):
        return None
    return counts


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")
