"""Identifiers that differ by zeros in front of numbers, case or separators alone: X-756, X-0756, x-756, X_756."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.contracts import DOCUMENTS


def near_hint(lost: Iterable[str], names: Iterable[pa.Array], where: str) -> str:
    """Return a sentence on why identifiers may be unknown; nothing where none resembles a known one.

    Args:
        lost: identifiers that are unknown.
        names: the known identifiers, in batches, which are read until one resembles an unknown one.
        where: what holds the known ones, such as "the corpus".
    """
    unknown = pa.array(sorted(lost), pa.string())
    forms = _forms(unknown)
    for batch in names:
        near = pc.index_in(forms, _forms(batch))
        if near.null_count < len(near):
            place = pc.index(pc.is_valid(near), True).as_py()
            return (
                f"{where[:1].upper()}{where[1:]} has {batch[near[place].as_py()]} in place of {unknown[place]}: "
                "identifiers differ by zeros in front of numbers, case or separators alone; mend one of the files."
            )
    return ""


def document_names(documents: Sequence[str | Path]) -> Iterator[pa.Array]:
    """Yield the identifiers of all documents of a corpus' shards, in batches."""
    for path in documents:
        for batch in DOCUMENTS.stream(path, columns=["document_id"]):
            yield batch.column(0)


def _forms(names: pa.Array) -> pa.Array:
    """Identifiers in small letters, with one sign as every separator, their numbers without zeros in front."""
    parts = pc.replace_substring_regex(pc.utf8_lower(names), r"[-_./: ]+", "-")
    return pc.replace_substring_regex(parts, r"(^|[^0-9])0+([0-9])", r"\1\2")
