"""Blocks of a table that are computed one after the other and kept as they are finished.

A job that is broken off goes on after its last whole block, and of the next block after the last batch that was kept
by the clock. Blocks lie in `<root>/<hash of everything that the job's results depend on>/`, as checkpoints do, and go
when the table is written.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sized
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from irpretrain.atomic import write_text
from irpretrain.contracts import Contract
from irpretrain.errors import IntegrityError
from irpretrain.progress import Counter, say
from irpretrain.provenance import content_hash
from irpretrain.training.checkpoint_clock import CheckpointClock
from irpretrain.training.job_lock import hold
from irpretrain.training.kept_batches import KeptBatches

Block = TypeVar("Block", bound=Sized)


class Unfinished(NamedTuple):
    """Where a job keeps what it has done.

    Attributes:
        job: everything that the results depend on, JSON-able.
        root: folder of all jobs' unfinished work.
        title: for messages.
        texts: number of texts in all blocks.
        minutes: longest time between two savings.
    """

    job: dict[str, Any]
    root: str | Path
    title: str
    texts: int
    minutes: float


def write_in_blocks(
    contract: Contract,
    output: str | Path,
    blocks: Iterable[Block],
    compute: Callable[[Block, KeptBatches], tuple[pa.Table, dict[str, int]]],
    unfinished: Unfinished,
) -> dict[str, int]:
    """Write a table of which each block gives some rows, in the order of the blocks.

    Args:
        contract: of the table.
        output: where it is written.
        blocks: what is computed from; gone through whole, whichever are finished.
        compute: block, and what its batches gave before → its rows, and counts that are added up.
        unfinished: where blocks are kept.

    Returns:
        Sums of the counts.
    """
    key, root = content_hash(unfinished.job), Path(unfinished.root)
    folder = root / key
    totals: dict[str, int] = {}
    clock = CheckpointClock(unfinished.minutes)
    with hold(root / f"{key}.lock", unfinished.title):
        finished: list[Path] = []
        counter = Counter(unfinished.title, "texts", unfinished.texts)
        done = resumed = 0
        for number, block in enumerate(blocks):
            path = folder / f"block-{number:06d}.parquet"
            counts = _finished(contract, path)
            if counts is None:
                told = partial(counter.reach_within, done, len(block))
                batches = KeptBatches(path.with_suffix(".batches"), clock, told)
                rows, counts = compute(block, batches)
                contract.write(path, rows)
                write_text(_beside(path), json.dumps(counts))  # last: it says that the block is whole
                batches.discard()
            else:
                resumed += len(block)
                counter.skip(len(block))
            done += len(block)
            finished.append(path)
            for name, value in counts.items():
                totals[name] = totals.get(name, 0) + value
        if resumed:
            say(f"[{unfinished.title}] {resumed:,} of {done:,} texts were done before")
        parts = (part for path in finished for part in contract.stream(path))
        contract.write_tables(output, (pa.Table.from_batches([part]) for part in parts))
        shutil.rmtree(folder, ignore_errors=True)
    return totals


def _finished(contract: Contract, path: Path) -> dict[str, int] | None:
    """The counts of a whole block; None for one that is missing or damaged."""
    try:
        contract.check(path)
        counts: dict[str, int] = json.loads(_beside(path).read_text())
    except (IntegrityError, OSError, ValueError):
        return None
    return counts


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")
