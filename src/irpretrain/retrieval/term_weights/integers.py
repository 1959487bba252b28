"""Integer term weights: from real weights to the list of terms that an index stores (DeepCT, equation 4)."""

from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.foundation.contracts import TERM_VECTORS, TERM_WEIGHTS
from irpretrain.retrieval.weighted_index import LONGEST_DOCUMENT

# Different terms of a text up to which LARGEST is its limit; DeepCT reads a passage's first 128 word pieces.
MANY_TERMS = 1000

# Larger weights become this, so that an index holds any text, even one all of whose weights are infinite. Where a
# text has more than MANY_TERMS different terms, its limit is LONGEST_DOCUMENT divided by their number.
LARGEST_WEIGHT = LONGEST_DOCUMENT // MANY_TERMS
SPECIAL_CASES = ("not_a_number", "negative", "zero", "overflow")


# N: an integer weight is round(N·y), or round(N·√y) (DeepCT, equation 4). N is 100 in section 3.2 and in the released
# code.
SCALE = 100.0


def integer_weights(
    weights: np.ndarray, scale: float, square_root: bool, largest_allowed: np.ndarray | int = LARGEST_WEIGHT
) -> tuple[np.ndarray, dict[str, int]]:
    """Return float32 weights as scale · weight or scale · √weight, int32, rounded half to even, and counts of special
    cases.

    NaN becomes 0 (not_a_number), less than 0 becomes 0 (negative), rounding to 0 counts as zero, more than
    `largest_allowed` (one limit for all, or one each) becomes that (overflow; infinity too).
    """
    double_weights = weights.astype(np.float64)
    is_nan = np.isnan(double_weights)
    clipped = np.where(is_nan | (double_weights < 0), 0.0, double_weights)
    rounded = np.rint(scale * (np.sqrt(clipped) if square_root else clipped))
    counts = {
        "not_a_number": int(is_nan.sum()),
        "negative": int((double_weights < 0).sum()),
        "zero": int(((rounded == 0) & ~is_nan & ~(double_weights < 0)).sum()),
        "overflow": int((rounded > largest_allowed).sum()),
    }
    return np.minimum(rounded, largest_allowed).astype(np.int32), counts


def write_vectors(weights: str | Path, scale: float, square_root: bool, output: str | Path) -> dict[str, Any]:
    """Write the integer weights of a TERM_WEIGHTS table as a TERM_VECTORS table, without terms of weight 0.

    Returns:
        Counts: texts, terms, texts left without any term, and terms by the counts of `integer_weights`.
    """
    totals = dict.fromkeys(("texts", "texts_without_terms", "terms", *SPECIAL_CASES), 0)

    def tables() -> Iterator[pa.Table]:
        for batch in TERM_WEIGHTS.stream(weights):
            table, counts = _vectors(batch, scale, square_root)
            for name, value in counts.items():
                totals[name] += value
            yield table

    TERM_VECTORS.write(output, tables())
    return totals


def _vectors(batch: pa.RecordBatch, scale: float, square_root: bool) -> tuple[pa.Table, dict[str, int]]:
    term_lists = batch.column("terms")
    entries_flat = term_lists.flatten()
    lengths = term_lists.value_lengths().to_numpy()
    row_of_entry = np.repeat(np.arange(len(term_lists)), lengths)
    largest = LONGEST_DOCUMENT // np.maximum(lengths, MANY_TERMS)
    weights = entries_flat.field("weight").to_numpy()
    integers, counts = integer_weights(weights, scale, square_root, largest[row_of_entry])
    is_positive = integers > 0
    kept_counts = np.bincount(row_of_entry[is_positive], minlength=len(term_lists))
    offsets = np.concatenate([[0], np.cumsum(kept_counts)]).astype(np.int32)
    list_type = TERM_VECTORS.schema.field("terms").type
    columns = [entries_flat.field("term").filter(pa.array(is_positive)), pa.array(integers[is_positive])]
    entries = pa.StructArray.from_arrays(columns, fields=list(list_type.value_type))
    terms = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries, type=list_type)
    key_columns = [batch.column(name) for name in ("part", "position", "document_id")]
    counts |= {
        "texts": len(term_lists),
        "texts_without_terms": int((kept_counts == 0).sum()),
        "terms": int(is_positive.sum()),
    }
    return pa.Table.from_arrays([*key_columns, terms], schema=TERM_VECTORS.schema), counts


def weighted_terms(
    words: Sequence[str], weights: np.ndarray, is_read: np.ndarray | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Return distinct words by code point with their largest weight, and the number of words that are not read."""
    weight_of_word: dict[str, float] = {}
    read_mask = np.ones(len(words), bool) if is_read is None else is_read
    for word, weight in compress(zip(words, weights.tolist(), strict=True), read_mask):
        best_weight = weight_of_word.get(word)
        # A NaN stays: it is a fault, and must be seen where weights become integers.
        if best_weight is None or (best_weight == best_weight and not weight <= best_weight):
            weight_of_word[word] = weight
    terms = [{"term": word, "weight": weight_of_word[word]} for word in sorted(weight_of_word)]
    return terms, int((~read_mask).sum())
