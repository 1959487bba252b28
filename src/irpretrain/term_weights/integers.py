"""Integer weights that stand for term frequencies (DeepCT, equation 4): round(N·y), or round(N·√y)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.contracts import TERM_VECTORS, TERM_WEIGHTS
from irpretrain.retrieval.weighted_index import LONGEST_DOCUMENT

MANY_TERMS = 1000
"""Different terms of a text up to which LARGEST is its limit; DeepCT reads a passage's first 128 word pieces."""
LARGEST = LONGEST_DOCUMENT // MANY_TERMS
"""Larger weights become this, so that an index holds any text, even one all of whose weights are infinite. Where a text
has more than MANY_TERMS different terms, its limit is LONGEST_DOCUMENT divided by their number."""
COUNTED = ("not_a_number", "negative", "zero", "overflow")


def integer_weights(
    weights: np.ndarray, scale: float, square_root: bool, largest: np.ndarray | int = LARGEST
) -> tuple[np.ndarray, dict[str, int]]:
    """Return integer weights, int32 of the same shape, and counts of those that are no plain ones.

    Computed in double precision, halves to the even integer. What is not a number becomes 0 and is counted as such,
    what is below 0 becomes 0 (negative), what rounds to 0 counts as zero, what exceeds `largest` becomes `largest`
    (overflow; infinity too).

    Args:
        weights: float32.
        scale: N.
        square_root: take the root of weights above 0 first.
        largest: limit of an integer; one for all, or one each.
    """
    wide = weights.astype(np.float64)
    unknown = np.isnan(wide)
    positive = np.where(unknown | (wide < 0), 0.0, wide)
    scaled = np.rint(scale * (np.sqrt(positive) if square_root else positive))
    counts = {
        "not_a_number": int(unknown.sum()),
        "negative": int((wide < 0).sum()),
        "zero": int(((scaled == 0) & ~unknown & ~(wide < 0)).sum()),
        "overflow": int((scaled > largest).sum()),
    }
    return np.minimum(scaled, largest).astype(np.int32), counts


def write_vectors(weights: str | Path, scale: float, square_root: bool, output: str | Path) -> dict[str, Any]:
    """Write the integer weights of a TERM_WEIGHTS table as a TERM_VECTORS table; terms with weight 0 are left out.

    Returns:
        Counts: texts, terms, texts left without any term, and terms by what `integer_weights` counts.
    """
    totals = dict.fromkeys(("texts", "texts_without_terms", "terms", *COUNTED), 0)

    def tables() -> Iterator[pa.Table]:
        for batch in TERM_WEIGHTS.stream(weights):
            table, counts = _vectors(batch, scale, square_root)
            for name, value in counts.items():
                totals[name] += value
            yield table

    TERM_VECTORS.write_tables(output, tables())
    return totals


def _vectors(batch: pa.RecordBatch, scale: float, square_root: bool) -> tuple[pa.Table, dict[str, int]]:
    lists = batch.column("terms")
    flat = lists.flatten()
    lengths = lists.value_lengths().to_numpy()
    row_of = np.repeat(np.arange(len(lists)), lengths)
    largest = LONGEST_DOCUMENT // np.maximum(lengths, MANY_TERMS)
    weights = flat.field("weight").to_numpy()
    numbers, counts = integer_weights(weights, scale, square_root, largest[row_of])
    kept = numbers > 0
    sizes = np.bincount(row_of[kept], minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    kind = TERM_VECTORS.schema.field("terms").type
    entries = pa.StructArray.from_arrays(
        [flat.field("term").filter(pa.array(kept)), pa.array(numbers[kept], pa.int32())],
        fields=list(kind.value_type),
    )
    terms = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries, type=kind)
    keys = [batch.column(name) for name in ("part", "position", "document_id")]
    counts |= {"texts": len(lists), "texts_without_terms": int((sizes == 0).sum()), "terms": int(kept.sum())}
    return pa.Table.from_arrays([*keys, terms], schema=TERM_VECTORS.schema), counts
