"""The groups that an objective makes of one shard, written as a GROUPS table."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.atomic import atomic_file
from irpretrain.contracts import GROUPS, ContractWriter
from irpretrain.objectives.registry import load_objective
from irpretrain.objectives.shard import Counts, Shard


def write_groups(shard: Shard, options: Any, output: str | Path) -> dict[str, Any]:
    """Write the groups that the objective of `options` makes of a shard, whole or not at all.

    Returns:
        What the objective counts, groups, and sequences.
    """
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
