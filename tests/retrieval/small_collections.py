"""Small collections of numbered terms, as shards of a word store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.axioms.rank_engine.build_postings import WordsInMemory
from irpretrain.axioms.rank_engine.impacts import Bm25
from irpretrain.axioms.rank_engine.postings import Postings

Build = Callable[..., Postings]
"""The fixture `build`: (documents, number of terms, name of the folder, options of `write_postings`) → postings."""


def with_bm25(options: dict[str, Any]) -> dict[str, Any]:
    """Put k1, b and lengths, where given, into one object."""
    others = {name: value for name, value in options.items() if name not in Bm25._fields}
    return others | {"bm25": Bm25(**{n: options[n] for n in Bm25._fields if n in options})}


def shard_of(
    documents: Sequence[Sequence[int]], rows: Sequence[int] | None = None, name: str = "d"
) -> WordsInMemory:
    """Make a shard of some documents (by default all) of one part."""
    rows = range(len(documents)) if rows is None else rows
    chosen = [np.asarray(documents[row], np.int32) for row in rows]
    return WordsInMemory(
        np.concatenate([*chosen, np.zeros(0, np.int32)]),
        np.cumsum([0, *map(len, chosen)]),
        np.zeros(len(chosen), np.int32),
        np.array(list(rows), np.int64),
        pa.array([f"{name}{row}" for row in rows], pa.string()),
    )
