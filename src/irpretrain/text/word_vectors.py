"""Word vectors of a collection: one row a word of its WORD_COUNTS table, trained on it or read from a file.

A directory of `vectors.npy` (float32 [words, dimensions], memory-mapped; zero rows where there is no vector) and
`vectors.json` (source, words, dimensions, words_with_vector, …). To look at them with gensim:

    words = WORD_COUNTS.read("…/words.parquet")["word"].to_pylist()
    vectors = np.load("…/vectors.npy")
    keyed = gensim.models.KeyedVectors(vectors.shape[1])
    keyed.add_vectors(words, vectors)
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from irpretrain.atomic import atomic_directory
from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.errors import IntegrityError, refusing_damage
from irpretrain.text.read_vectors import read_vectors
from irpretrain.text.train_vectors import train_vectors
from irpretrain.text.word_store import WordStore, word_numbers

RECORD = "vectors.json"


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words by number.

    Attributes:
        record: what vectors.json says.
    """

    rows: np.ndarray
    record: dict[str, Any]

    @classmethod
    def open(cls, directory: str | Path, words: int) -> Self:
        """Open the vectors of a collection with so many different words.

        Raises:
            IntegrityError: they are damaged, or of another collection.
        """
        folder = Path(directory)
        with refusing_damage(
            directory, "these are not word vectors", "Delete them and run the workflow again."
        ):
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            shape = record["words"], record["dimensions"]
            # An empty file cannot be memory-mapped.
            rows = np.asarray(np.load(folder / "vectors.npy", mmap_mode="r" if shape[0] else None))
            if rows.shape != shape or rows.dtype != np.float32:
                raise ValueError(f"vectors.npy holds {rows.dtype} {rows.shape}, not float32 {shape}")
        if len(rows) != words:
            raise IntegrityError(
                directory,
                f"they are for {len(rows):,} words, but the statistics have {words:,}",
                remedy="Delete them and run the workflow again.",
            )
        rows.flags.writeable = False
        return cls(rows, record)


def make_word_vectors(
    options: WordVectorsConfig,
    words: Sequence[str | Path] | Sequence[Sequence[str | Path]],
    statistics: str | Path,
    seed: int,
    output: str | Path,
    given: str | Path | None = None,
) -> dict[str, Any]:
    """Write the word vectors of a collection.

    Args:
        words: word stores of the collection's shards: one list a corpus, or a flat list for a single corpus. Documents
            are read corpus after corpus, within a corpus by (part, position), so the shards do not matter.
        statistics: merged WORD_COUNTS of the collection.
        seed: of training, and of the choice of documents under `most_words`.
        output: directory to write.
        given: a file to read in place of training.

    Returns:
        The record: source, words, dimensions, words_with_vector, and what training used or the file held.

    Raises:
        InputError: the file is missing, or no file of vectors.
        ConfigError: no word is frequent enough to be trained.
        IntegrityError: a store is damaged, or not of these statistics.
    """
    with atomic_directory(output) as folder:
        path = folder / "vectors.npy"
        if given is not None:
            record = read_vectors(given, word_numbers(statistics), path)
        else:
            record = train_vectors(_corpora(words), statistics, options, seed, path)
        (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return record


def _corpora(words: Sequence[str | Path] | Sequence[Sequence[str | Path]]) -> list[list[WordStore]]:
    flat = [directory for directory in words if isinstance(directory, str | Path)]
    lists = (
        [flat]
        if flat
        else [list(directories) for directories in words if not isinstance(directories, str | Path)]
    )
    return [[WordStore.open(directory) for directory in corpus] for corpus in lists]
