"""The documents of one or several word stores, found by identifier and gathered into flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.compiled import compiled
from irpretrain.errors import InputError, IntegrityError
from irpretrain.text.word_store import WordStore


class DocumentWords:
    """Word stores seen as one; rows go through them in order."""

    def __init__(self, directories: Sequence[str | Path], vocabulary: int) -> None:
        """Open the stores.

        Raises:
            IntegrityError: a store is damaged, or was made with statistics of another size.
        """
        self._directories = [Path(directory) for directory in directories]
        self._stores = [WordStore.open(directory) for directory in directories]
        for directory, store in zip(directories, self._stores, strict=True):
            if store.vocabulary != vocabulary:
                raise IntegrityError(
                    directory,
                    f"it numbers {store.vocabulary:,} words, but the statistics have {vocabulary:,}",
                    remedy="Delete the store and run the workflow again.",
                )
        self._firsts = np.cumsum([0, *map(len, self._stores)])

    def rows(self, document_ids: pa.ChunkedArray) -> np.ndarray:
        """Return the row (int64) of each document. One call costs a pass over all identifiers.

        Raises:
            InputError: no store holds a document.
        """
        chunks = [chunk for store in self._stores for chunk in store.documents["document_id"].chunks]
        places = pc.index_in(document_ids, value_set=pa.chunked_array(chunks, pa.string()))
        rows = pc.fill_null(places, -1).to_numpy().astype(np.int64)
        if (rows < 0).any():
            lost = pc.unique(document_ids.filter(pa.array(rows < 0)))
            raise InputError(
                self._directories[0] if self._directories else "word stores",
                f"{len(lost):,} documents are in none of the {len(self._stores)} word stores, such as "
                f"{', '.join(lost[:3].to_pylist())}",
                remedy="Stores and queries must come from the same corpora; run the workflow again.",
            )
        return rows

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of some documents end to end (int32), and where each begins and ends (int64)."""
        numbers = np.searchsorted(self._firsts, rows, side="right") - 1
        inside = rows - self._firsts[numbers]
        used = np.unique(numbers)
        lengths = np.zeros(len(rows), np.int64)
        for number in used:
            mine = numbers == number
            lengths[mine] = np.diff(self._stores[number].offsets)[inside[mine]]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        words = np.empty(offsets[-1], np.int32)
        for number in used:
            mine = np.flatnonzero(numbers == number)
            store = self._stores[number]
            _copy(
                np.asarray(store.words), store.offsets[inside[mine]], words, offsets[:-1][mine], lengths[mine]
            )
        return words, offsets


@compiled
def _copy(
    source: np.ndarray, starts: np.ndarray, target: np.ndarray, places: np.ndarray, lengths: np.ndarray
) -> None:
    """Copy runs of `source` from `starts` to `places` of `target`."""
    for run in range(len(starts)):
        for index in range(lengths[run]):
            target[places[run] + index] = source[starts[run] + index]
