"""Writing an objective's groups, and merging the shards' files in a fixed order.

The groups that an objective makes of one shard, written as a GROUPS table.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.contracts import GROUPS, ContractWriter
from irpretrain.errors import IntegrityError
from irpretrain.foundation.atomic import atomic_file
from irpretrain.foundation.out_of_core import merge_rounds
from irpretrain.foundation.progress import progress
from irpretrain.objectives.registry import load_objective
from irpretrain.objectives.shard import Counts, Shard


def write_groups(shard: Shard, options: Any, output: str | Path) -> dict[str, Any]:
    """Write an objective's groups of a shard, whole or not at all; return its counts, groups and sequences."""
    counts = Counts()
    groups = sequences = 0
    with atomic_file(output) as temporary, ContractWriter(GROUPS, temporary) as writer:
        for made in counts.tally(load_objective(options).make_groups(shard, options, counts)):
            if isinstance(made, pa.Table):
                writer.add(made)
                groups += made.num_rows
                sequences += pc.sum(pc.list_value_length(made["scores"])).as_py() or 0
            else:
                writer.add_row(made)
                groups += 1
                sequences += len(made["scores"])
    by_name = {name: dict(sorted(n.items())) if isinstance(n, Counter) else n for name, n in counts.items()}
    return {**by_name, "groups": groups, "sequences": sequences}


# Putting the shards' ranking groups into one file, in an order that does not depend on the shards.


ORDER = ("part", "position", "sample")


def merge_groups(
    shards: Sequence[str | Path] | Sequence[Sequence[str | Path]], output: str | Path
) -> dict[str, Any]:
    """Merge GROUPS tables that are each in corpus order; return counts of corpora, shards, groups.

    Args:
        shards: one list of shard files per corpus, or a flat list for one corpus. Corpora keep their order; within a
            corpus groups are sorted by (part, position, sample).
        output: a GROUPS table; its bytes depend on neither number nor order of the shards of a corpus.
    """
    corpora = [[shard] if isinstance(shard, str | Path) else list(shard) for shard in shards]
    if shards and all(isinstance(shard, str | Path) for shard in shards):
        corpora = [[path for corpus in corpora for path in corpus]]
    with atomic_file(output) as temporary, ContractWriter(GROUPS, temporary) as writer:
        for corpus in corpora:
            rounds = merge_rounds([GROUPS.stream(shard) for shard in corpus], _location)
            for rows in progress(
                _in_order(rounds, corpus), "merge groups", "groups", sum(map(GROUPS.count, corpus)), size=len
            ):
                writer.add(rows)
        groups = writer.rows
    return {"corpora": len(corpora), "shards": sum(map(len, corpora)), "groups": groups}


def _location(block: pa.RecordBatch, row: int) -> tuple[int, ...]:
    return tuple(block.column(name)[row].as_py() for name in ORDER)


def _in_order(rounds: Iterator[pa.Table], corpus: Sequence[str | Path]) -> Iterator[pa.Table]:
    """Sort each round; refuse places that occur twice or go back, which a shard out of order would cause."""
    last: tuple[int, ...] = (-1,)
    for rows in rounds:
        ordered = rows.sort_by([(name, "ascending") for name in ORDER]).combine_chunks()
        for batch in ordered.to_batches():
            if _location(batch, 0) <= last or _has_repeat(batch):
                raise IntegrityError(
                    corpus[0],
                    "the groups of this corpus's shards overlap or are out of order",
                    remedy="Delete the shards' groups and run the workflow again.",
                )
            last = _location(batch, batch.num_rows - 1)
        yield ordered


def _has_repeat(batch: pa.RecordBatch) -> bool:
    columns = [batch.column(name).to_numpy() for name in ORDER]
    same = [np.diff(column) == 0 for column in columns]
    return bool(np.any(np.logical_and.reduce(same)))
