"""The word store: every document of a corpus shard as numbers of words, in text order, memory-mapped.

A word's number is its row in the collection's WORD_COUNTS table, so stems and stop lists are maps over numbers
(`irpretrain.text.terms`) and a position in the store is a position in the document. A store is a directory of
`words.npy` (int32, all documents end to end), `offsets.npy` (int64 [documents + 1]), `documents.parquet`
(document_id, part, position) and `store.json` (counts, and hashes of the contents).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.errors import MAKE_AGAIN, IntegrityError, refusing_damage
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.out_of_core import GrowingArray
from irpretrain.foundation.progress import progress
from irpretrain.text.texts import texts_of
from irpretrain.text.words import word_finder

DOCUMENTS_AT_ONCE = 1024
KEYS = ("document_id", "part", "position")


@dataclass(frozen=True)
class WordStore:
    words: np.ndarray  # int32 [words], memory-mapped
    offsets: np.ndarray  # int64 [documents + 1]; document i has words[offsets[i] : offsets[i + 1]]
    documents: pa.Table  # table of document_id, part and position, one row per document
    vocabulary: int  # rows of the WORD_COUNTS table that the numbers refer to
    record: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def parts(self) -> np.ndarray:
        """int32 [documents]: with `positions`, the positions of the documents in their corpus."""
        return self.documents["part"].to_numpy()

    @property
    def positions(self) -> np.ndarray:
        """int64 [documents]."""
        return self.documents["position"].to_numpy()

    @property
    def document_ids(self) -> pa.ChunkedArray:
        """string [documents]."""
        return self.documents["document_id"]

    @classmethod
    def open(cls, directory: str | Path) -> WordStore:
        """Open a store; IntegrityError if a file is missing or damaged, or the files do not fit together."""
        folder = Path(directory)
        with refusing_damage(directory, "this is not a word store", MAKE_AGAIN):
            record = json.loads((folder / "store.json").read_text())
            # An empty file cannot be memory-mapped.
            mode: Literal["r"] | None = "r" if record["words"] else None
            words = np.load(folder / "words.npy", mmap_mode=mode)
            offsets = np.load(folder / "offsets.npy")
            documents = pq.read_table(folder / "documents.parquet")
            store = cls(words, offsets, documents, record["vocabulary"], record)
        if len(words) != offsets[-1] or documents.num_rows != len(store):
            raise IntegrityError(directory, "the word store's files do not fit together", remedy=MAKE_AGAIN)
        return store


def write_word_store(
    documents: str | Path, statistics: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Write the words of a corpus shard (DOCUMENTS) by number; return counts of documents and words.

    Args:
        statistics: merged WORD_COUNTS of a collection that holds the shard.
        text: how fields become a text, and a text words; as the statistics were made with.

    Raises:
        IntegrityError: the statistics lack a word of the shard, so they are of other documents.
    """
    numbers = word_numbers(statistics)
    lengths: list[np.ndarray] = []
    keys: list[pa.RecordBatch] = []
    names = hashlib.sha256()
    with atomic_directory(output) as folder:
        with GrowingArray(folder / "words.npy", np.dtype(np.int32)) as words:
            for rows, word_lists in _batches(documents, text):
                try:
                    flat = [numbers[word] for text_words in word_lists for word in text_words]
                except KeyError as error:
                    raise IntegrityError(
                        statistics,
                        f"{documents} holds the word {error.args[0]!r}, which these statistics lack",
                        remedy="Delete the statistics and run the workflow again.",
                    ) from None
                words.add(np.array(flat, np.int32))
                lengths.append(np.fromiter(map(len, word_lists), np.int64, len(word_lists)))
                keys.append(rows.select(list(KEYS)))
                names.update("".join(f"{name}\0" for name in rows.column("document_id").to_pylist()).encode())
        offsets = np.concatenate(
            [np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))]
        )
        np.save(folder / "offsets.npy", offsets)
        schema = pa.schema([DOCUMENTS.schema.field(name) for name in KEYS])
        pq.write_table(pa.Table.from_batches(keys, schema).combine_chunks(), folder / "documents.parquet")
        counts = {"documents": len(offsets) - 1, "words": int(offsets[-1])}
        contents = {
            "words": words.sha256(),
            "offsets": hashlib.sha256(offsets.tobytes()).hexdigest(),
            "documents": names.hexdigest(),
        }
        record = {**counts, "vocabulary": len(numbers), "contents": contents}
        (folder / "store.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return counts


def word_numbers(statistics: str | Path) -> dict[str, int]:
    """Return word → number (its row) of a WORD_COUNTS table."""
    words: list[str] = []
    for batch in WORD_COUNTS.stream(statistics, ["word"]):
        words += batch.column("word").to_pylist()
    return {word: number for number, word in enumerate(words)}


def _batches(documents: str | Path, text: TextConfig) -> Iterator[tuple[pa.RecordBatch, list[list[str]]]]:
    find = word_finder(text.word_kind)
    columns = list(dict.fromkeys([*KEYS, *text.fields]))
    batches = DOCUMENTS.stream(documents, columns, DOCUMENTS_AT_ONCE)
    title = f"number words {Path(documents).parent.name}"
    for rows in progress(batches, title, "documents", DOCUMENTS.count(documents), size=len):
        yield rows, [find(document) for document in texts_of(rows, text)]
