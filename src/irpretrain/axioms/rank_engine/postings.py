"""The postings of a collection: which documents hold a term, how often, read memory-mapped.

`irpretrain.axioms.rank_engine.build_postings` writes them. Files of a folder:

    <name>.npy            the arrays of `Lists`
    impacts/<name>.npy    the arrays of `ScoreBounds`, which `irpretrain.axioms.rank_engine.impacts` writes
    identifiers.parquet   document_id of each document
    postings.json, impacts/impacts.json   what is in the folders

A *directory* finds one document in a long list: documents are cut into runs of 2**shift, where shift is such that a run
holds at most eight of the term's postings on average; entry r is how many of the list's postings come before run r.
Lists of fewer than `MIN_DIRECTORY_POSTINGS` postings have none and are searched by bisection.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypeVar, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.rank_engine.bm25 import document_norms, in_one_byte
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.compiled import compiled, compiled_uncounted
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.foundation.out_of_core import create_mapped
from irpretrain.foundation.tables import read_parquet

RECORD = "postings.json"
IMPACTS, IMPACTS_RECORD = "impacts", "impacts.json"
VERSION = 1

# Stands in `frequencies.npy` for itself and all that is larger.
OVERFLOW = 255
MIN_DIRECTORY_POSTINGS = 64
POSTINGS_PER_RUN = 8

# Postings from which on a list is long, see `irpretrain.axioms.rank_engine.impacts`.
MIN_LONG_POSTINGS = 128

# Where the last entry of offsets is the end of other arrays.
END_SIZES = {
    "offsets": "postings",
    "directory_offsets": "directory_entries",
    "hull_offsets": "vertices",
    "prefix_offsets": "prefix_entries",
}


# Arrays are annotated with the type of their numbers, and what the records call the number of their entries; offsets
# have one entry more.


class Lists(NamedTuple):
    """The arrays of the postings."""

    offsets: Annotated[np.ndarray, np.int64, "terms"]  # where each term's postings begin and end
    documents: Annotated[np.ndarray, np.int32, "postings"]  # that hold the term, ascending
    frequencies: Annotated[np.ndarray, np.uint8, "postings"]  # occurrences; 255 means "see the next two"
    # Postings whose term occurs 255 times or more, ascending; and how often it does.
    overflow_positions: Annotated[np.ndarray, np.int64, "overflows"]
    overflow_frequencies: Annotated[np.ndarray, np.int32, "overflows"]
    directory_offsets: Annotated[np.ndarray, np.int64, "terms"]  # where each term's directory begins and ends
    # Postings of the term before each run of documents.
    directory: Annotated[np.ndarray, np.int32, "directory_entries"]
    # Terms of each document, those without a term number left out.
    lengths: Annotated[np.ndarray, np.int32, "documents"]


class ScoreBounds(NamedTuple):
    """Upper bounds of scores for pruning (`irpretrain.axioms.rank_engine.impacts`)."""

    levels: Annotated[np.ndarray, np.uint8, "postings"]  # 1 … 255
    tops: Annotated[np.ndarray, np.uint8, "terms"]  # the highest level in a list; 0 if it is empty
    # Terms with at least `MIN_LONG_POSTINGS` postings, ascending; and the place of a term among them, -1 for others.
    long_lists: Annotated[np.ndarray, np.int32, "long"]
    long_numbers: Annotated[np.ndarray, np.int32, "terms"]
    # Vertices (l, n) of the lower convex hull of: n postings of a list are above level l; from (0, all) to (top, 0).
    hull_offsets: Annotated[np.ndarray, np.int64, "long"]
    hull_levels: Annotated[np.ndarray, np.uint8, "vertices"]
    hull_above: Annotated[np.ndarray, np.int32, "vertices"]
    # A list's prefix: its documents of the highest levels, all above its floor, by falling level, then by number.
    prefix_offsets: Annotated[np.ndarray, np.int64, "long"]
    prefix_documents: Annotated[np.ndarray, np.int32, "prefix_entries"]
    prefix_levels: Annotated[np.ndarray, np.uint8, "prefix_entries"]
    floors: Annotated[np.ndarray, np.uint8, "long"]


Arrays = TypeVar("Arrays", Lists, ScoreBounds)


def _described_arrays(kind: type[Lists] | type[ScoreBounds]) -> dict[str, tuple[Any, str]]:
    """Return the type and the name of the size of each array."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__ for name, hint in hints.items()}


class Index(NamedTuple):
    lists: Lists  # the postings
    bounds: ScoreBounds  # of their parts of scores
    norms: np.ndarray  # float32[documents], of BM25
    filled_documents: int  # documents with at least one term: Lucene's N


class Postings:
    """An inverted index of a collection for one choice of BM25's parameters, its arrays memory-mapped.

    Attributes:
        index: what ranks are computed from.
        lists: the postings alone.
        bm25: the parameters.
    """

    def __init__(self, directory: Path, index: Index, bm25: Bm25Config) -> None:
        self.directory, self.index, self.lists, self.bm25 = directory, index, index.lists, bm25

    @classmethod
    def open(cls, directory: str | Path, byte_lengths: bool = False) -> Self:
        """Open the postings in a folder; IntegrityError if files are missing, or do not fit together.

        With `byte_lengths` documents have the lengths of Lucene's indexes, for searches: ranks are pruned by bounds of
        scores with exact lengths.
        """
        folder = Path(directory)
        with refusing_damage(folder, "these are not whole postings", MAKE_AGAIN):
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            if record["version"] != VERSION:
                raise ValueError(f"version {record['version']}, not {VERSION}")
            lists = map_arrays(Lists, folder, record)
            sizes = record | json.loads((folder / IMPACTS / IMPACTS_RECORD).read_text(encoding="utf-8"))
            sizes["long"] = int(np.count_nonzero(np.diff(lists.offsets) >= MIN_LONG_POSTINGS))
            bounds = map_arrays(ScoreBounds, folder / IMPACTS, sizes)
            bm25 = Bm25Config(k1=sizes["k1"], b=sizes["b"])
        lengths = in_one_byte(lists.lengths) if byte_lengths else lists.lengths
        norms = document_norms(lengths, average_length(record), bm25)
        return cls(folder, Index(lists, bounds, norms, record["documents_with_terms"]), bm25)

    def __len__(self) -> int:
        """The number of documents, those without terms included."""
        return len(self.lists.lengths)

    @property
    def terms(self) -> int:
        return len(self.lists.offsets) - 1

    @cached_property
    def document_ids(self) -> pa.ChunkedArray:
        try:
            identifiers = read_parquet(self.directory / "identifiers.parquet").column("document_id")
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
            missing_ids = [str(document_ids[int(i)]) for i in np.flatnonzero(rows < 0)[:3]]
            raise InputError(
                self.directory,
                f"{int((rows < 0).sum()):,} documents are not in these postings, such as {', '.join(missing_ids)}",
                remedy="Both must come from the same corpora; run the workflow again.",
            )
        return rows

    def document_frequencies(self) -> np.ndarray:
        """Return how many documents hold each term (int64[terms])."""
        return np.diff(self.lists.offsets)


def average_length(record: Mapping[str, Any]) -> float:
    """Return the mean number of terms of the documents that have one, 0 without any."""
    return float(record["total_length"] / max(1, record["documents_with_terms"]))


def map_arrays(kind: type[Arrays], folder: Path, sizes: Mapping[str, Any]) -> Arrays:
    """Map arrays, read-only; ValueError where one has another type or size, or offsets that fall."""
    mapped_arrays: dict[str, np.ndarray] = {}
    for name, (number_type, size_key) in _described_arrays(kind).items():
        shape = (sizes[size_key] + (name in END_SIZES),)
        # An empty file cannot be memory-mapped.
        array = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r" if shape[0] else None))
        if array.dtype != number_type or array.shape != shape:
            expected = f"{np.dtype(number_type)} {shape}"
            raise ValueError(f"{name}.npy holds {array.dtype} {array.shape}, not {expected}")
        if name in END_SIZES:
            end = sizes[END_SIZES[name]]
            if array[0] != 0 or array[-1] != end or (np.diff(array) < 0).any():
                raise ValueError(f"{name}.npy does not rise from 0 to {end:,}")
        array.flags.writeable = False  # so that kernels meet one type, whether an array is empty or not
        mapped_arrays[name] = array
    return kind(**mapped_arrays)


def create_array(folder: Path, name: str, length: int) -> np.ndarray:
    """Create `<name>.npy` and return its array, memory-mapped for writing."""
    number_type = np.dtype((_described_arrays(Lists) | _described_arrays(ScoreBounds))[name][0])
    if length == 0:  # an empty file cannot be memory-mapped
        np.save(folder / f"{name}.npy", np.zeros(0, number_type))
        return np.zeros(0, number_type)
    return np.asarray(create_mapped(folder / f"{name}.npy", number_type, (length,)))


@compiled
def directory_shift(posting_count: int, document_count: int) -> int:
    """Return log2 of the number of documents in a run of the directory of a list of `posting_count` postings."""
    shift = 0
    while (posting_count << (shift + 1)) <= POSTINGS_PER_RUN * document_count:
        shift += 1
    return shift


@compiled
def first_not_below(documents: np.ndarray, low: int, high: int, target: int) -> int:
    """Return the first index in [low, high) whose document is at least `target`, else `high`."""
    while high - low > POSTINGS_PER_RUN:
        middle = (low + high) >> 1
        if documents[middle] < target:
            low = middle + 1
        else:
            high = middle
    while low < high and documents[low] < target:
        low += 1
    return low


@compiled_uncounted
def frequency_at(lists: Lists, position: int) -> int:
    frequency = int(lists.frequencies[position])
    if frequency < OVERFLOW:
        return frequency
    return int(lists.overflow_frequencies[np.searchsorted(lists.overflow_positions, position)])
