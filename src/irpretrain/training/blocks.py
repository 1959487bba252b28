"""Blocks of a table that are computed one after the other and kept as they are finished.

A job that is broken off goes on after its last whole block. Blocks lie in `<root>/<hash of everything that the job's
results depend on>/`, as checkpoints do, and go when the table is written.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from irpretrain.atomic import write_text
from irpretrain.contracts import Contract
from irpretrain.errors import IntegrityError
from irpretrain.provenance import content_hash
from irpretrain.training.job_lock import hold

Block = TypeVar("Block")


def write_in_blocks(
    contract: Contract,
    output: str | Path,
    blocks: Iterable[Block],
    compute: Callable[[Block], tuple[pa.Table, dict[str, int]]],
    job: dict[str, Any],
    root: str | Path,
    title: str,
) -> dict[str, int]:
    """Write a table of which each block gives some rows, in the order of the blocks.

    Args:
        contract: of the table.
        output: where it is written.
        blocks: what is computed from; gone through whole, whichever are finished.
        compute: block → its rows, and counts that are added up.
        job: everything that the rows depend on, JSON-able.
        root: folder of all jobs' unfinished work.
        title: for messages.

    Returns:
        Sums of the counts.
    """
    key = content_hash(job)
    folder = Path(root) / key
    totals: dict[str, int] = {}
    with hold(Path(root) / f"{key}.lock", title):
        finished: list[Path] = []
        resumed = 0
        for number, block in enumerate(blocks):
            path = folder / f"block-{number:06d}.parquet"
            counts = _finished(contract, path)
            if counts is None:
                rows, counts = compute(block)
                contract.write(path, rows)
                write_text(_beside(path), json.dumps(counts))  # last: it says that the block is whole
            else:
                resumed += 1
            finished.append(path)
            for name, value in counts.items():
                totals[name] = totals.get(name, 0) + value
        if resumed:
            print(f"[{title}] {resumed} of {len(finished)} blocks were finished before", file=sys.stderr)
        batches = (batch for path in finished for batch in contract.stream(path))
        contract.write_tables(output, (pa.Table.from_batches([batch]) for batch in batches))
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
