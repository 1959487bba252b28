"""The postings of a collection: which documents hold a term, how often, read memory-mapped.

`irpretrain.axioms.rank_engine.build_postings` writes them. Files of a folder:

    offsets.npy              int64[terms + 1]      where each term's postings begin and end
    documents.npy            int32[postings]       documents that hold the term, ascending
    frequencies.npy          uint8[postings]       occurrences; 255 means "see the next two files"
    overflow_positions.npy   int64[overflows]      postings whose term occurs 255 times or more, ascending
    overflow_frequencies.npy int32[overflows]      and how often it does
    directory_offsets.npy    int64[terms + 1]      where each term's directory begins and ends
    directory.npy            int32[entries]        postings of the term before each run of documents (see below)
    lengths.npy              int32[documents]      terms of each document, those without a term number left out
    identifiers.parquet      document_id           of each document
    postings.json            what is in the folder
    impacts/                 upper bounds of scores for pruning (irpretrain.axioms.rank_engine.impacts)

A *directory* finds one document in a long list: documents are cut into runs of 2**shift, where shift is such that a run
holds at most eight of the term's postings on average; entry r is how many of the list's postings come before run r.
Lists of fewer than `DIRECTORY_FROM` postings have none and are searched by bisection.
"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.out_of_core import create_mapped

RECORD = "postings.json"
VERSION = 1

# Stands in `frequencies.npy` for itself and all that is larger.
OVERFLOW = 255
DIRECTORY_FROM = 64
POSTINGS_IN_RUN = 8
ARRAYS = {
    "offsets": np.int64,
    "documents": np.int32,
    "frequencies": np.uint8,
    "overflow_positions": np.int64,
    "overflow_frequencies": np.int32,
    "directory_offsets": np.int64,
    "directory": np.int32,
    "lengths": np.int32,
}


class Lists(NamedTuple):
    """The arrays of the postings, as the file's head has them."""

    offsets: np.ndarray
    documents: np.ndarray
    frequencies: np.ndarray
    overflow_positions: np.ndarray
    overflow_frequencies: np.ndarray
    directory_offsets: np.ndarray
    directory: np.ndarray
    lengths: np.ndarray


class Postings:
    """An inverted index of a collection, its arrays memory-mapped.

    Attributes:
        record: the content of postings.json: documents, documents_with_terms, terms, postings, total_length, …
        document_count: Lucene's N, the documents with at least one term.
        average_length: mean number of terms of these (float; 0.0 without any).
        impacts: the last parameters of BM25 → their bounds, see `impacts_of`.
    """

    def __init__(self, directory: Path, lists: Lists, record: dict[str, Any]) -> None:
        self.directory, self.lists, self.record = directory, lists, record
        self.document_count: int = record["documents_with_terms"]
        self.average_length: float = record["total_length"] / max(1, self.document_count)
        self.impacts: dict[Any, Any] = {}

    @classmethod
    def open(cls, directory: str | Path) -> Self:
        """Open the postings in a folder; IntegrityError if files are missing, or do not fit together."""
        folder = Path(directory)
        with refusing_damage(folder, "these are not whole postings", MAKE_AGAIN):
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            if record["version"] != VERSION:
                raise ValueError(f"version {record['version']}, not {VERSION}")
            lists = Lists(**{name: map_array(folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()})
            _check(lists, record)
        return cls(folder, lists, record)

    def __len__(self) -> int:
        """The number of documents, those without terms included."""
        return len(self.lists.lengths)

    @property
    def terms(self) -> int:
        return len(self.lists.offsets) - 1

    @cached_property
    def document_ids(self) -> pa.ChunkedArray:
        try:
            identifiers = pq.read_table(self.directory / "identifiers.parquet").column("document_id")
        except (OSError, KeyError, pa.ArrowInvalid) as error:
            raise IntegrityError(self.directory, f"identifiers.parquet: {error}", remedy=MAKE_AGAIN) from None
        if len(identifiers) != len(self):
            fault = f"{len(identifiers):,} identifiers for {len(self):,} documents"
            raise IntegrityError(self.directory, fault, remedy=MAKE_AGAIN)
        return identifiers

    def rows(self, document_ids: pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Return the number (int64) of each document, InputError if one is missing. A call reads all identifiers."""
        numbers = pc.fill_null(pc.index_in(document_ids, value_set=self.document_ids), -1)
        rows = numbers.to_numpy().astype(np.int64)
        if (rows < 0).any():
            lost = [str(document_ids[int(i)]) for i in np.flatnonzero(rows < 0)[:3]]
            raise InputError(
                self.directory,
                f"{int((rows < 0).sum()):,} documents are not in these postings, such as {', '.join(lost)}",
                remedy="Both must come from the same corpora; run the workflow again.",
            )
        return rows

    def document_frequencies(self) -> np.ndarray:
        """Return how many documents hold each term (int64[terms])."""
        return np.diff(self.lists.offsets)


def map_array(path: Path, kind: Any) -> np.ndarray:
    """Map a file's one-dimensional array, read-only; ValueError where it holds another type."""
    # An empty file cannot be memory-mapped.
    empty = np.load(path, mmap_mode=None) if path.stat().st_size <= 128 else None
    array = empty if empty is not None and len(empty) == 0 else np.load(path, mmap_mode="r")
    if array.dtype != kind or array.ndim != 1:
        raise ValueError(f"{path.name} holds {array.ndim}-dimensional {array.dtype}, not {np.dtype(kind)}")
    return frozen(np.asarray(array))


def created(folder: Path, name: str, length: int, kind: Any) -> np.ndarray:
    """Create `<name>.npy` and return its array, memory-mapped for writing."""
    kind = np.dtype(kind)
    if length == 0:  # an empty file cannot be memory-mapped
        np.save(folder / f"{name}.npy", np.zeros(0, kind))
        return np.zeros(0, kind)
    return np.asarray(create_mapped(folder / f"{name}.npy", kind, (length,)))


def frozen(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, so that kernels meet one type whether it was mapped or computed."""
    array.flags.writeable = False
    return array


def _check(lists: Lists, record: dict[str, Any]) -> None:
    expected = {
        "offsets": record["terms"] + 1,
        "documents": record["postings"],
        "frequencies": record["postings"],
        "overflow_positions": record["overflows"],
        "overflow_frequencies": record["overflows"],
        "directory_offsets": record["terms"] + 1,
        "directory": record["directory_entries"],
        "lengths": record["documents"],
    }
    for name, length in expected.items():
        actual = len(getattr(lists, name))
        if actual != length:
            raise ValueError(f"{name}.npy has {actual:,} entries where {length:,} are recorded")
    for name, end in (("offsets", record["postings"]), ("directory_offsets", record["directory_entries"])):
        offsets = getattr(lists, name)
        if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
            raise ValueError(f"{name}.npy does not rise from 0 to {end:,}")


@compiled
def directory_shift(held: int, documents: int) -> int:
    """Return log2 of the number of documents in a run of the directory of a list of `held` postings."""
    shift = 0
    while (held << (shift + 1)) <= POSTINGS_IN_RUN * documents:
        shift += 1
    return shift


@compiled
def directory_entries(held: int, documents: int) -> int:
    """Return the length of the directory of a list of `held` postings."""
    if held < DIRECTORY_FROM:
        return 0
    return ((documents - 1) >> directory_shift(held, documents)) + 2


@compiled
def first_not_below(documents: np.ndarray, low: int, high: int, wanted: int) -> int:
    """Return the first index in [low, high) whose document is at least `wanted`, else `high`."""
    while high - low > POSTINGS_IN_RUN:
        middle = (low + high) >> 1
        if documents[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    while low < high and documents[low] < wanted:
        low += 1
    return low


@compiled
def frequency_at(
    frequencies: np.ndarray, overflow_positions: np.ndarray, overflow_frequencies: np.ndarray, position: int
) -> int:
    frequency = int(frequencies[position])
    if frequency < OVERFLOW:
        return frequency
    return int(overflow_frequencies[np.searchsorted(overflow_positions, position)])
