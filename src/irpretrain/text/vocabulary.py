"""The words, and the character n-graphs, that a word ranker reads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from irpretrain.foundation.contracts import VOCABULARY, WORD_COUNTS
from irpretrain.foundation.errors import ConfigError, IntegrityError
from irpretrain.text.words import WordKind, word_finder

# The vocabulary of a word ranker, and texts and word stores as ids from 1 (0: padding), without unknown words.

FILE_NAME = "vocabulary.parquet"


@dataclass(frozen=True)
class Vocabulary:
    words: Sequence[str]  # in the order of their ids, which begin with 1
    word_numbers: np.ndarray  # int64 [words], rows of the words in the collection's WORD_COUNTS table, rising
    collection_words: int  # rows of that table
    kind: WordKind  # how texts are cut into words

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of_collection(cls, statistics: str | Path, kind: WordKind, minimum_count: int) -> Self:
        """Return the frequent words of a WORD_COUNTS table; ConfigError if there are none."""
        table = WORD_COUNTS.read(statistics, ["word", "count"])
        words: list[str] = table["word"].to_pylist()
        word_rows = np.flatnonzero(table["count"].to_numpy() >= minimum_count)
        if not len(word_rows):
            raise ConfigError(
                f"neural.minimum_count: no word of the collection occurs {minimum_count} times; lower it"
            )
        return cls([words[row] for row in word_rows], word_rows.astype(np.int64), len(words), kind)

    @classmethod
    def read(cls, directory: str | Path, collection_words: int, kind: WordKind) -> Self:
        """Read a model's vocabulary; IntegrityError if missing, or its numbers are not rising rows of the table."""
        path = Path(directory) / FILE_NAME
        table = VOCABULARY.read(path)
        numbers = table["number"].to_numpy().astype(np.int64)
        if not len(numbers) or (np.diff(numbers, prepend=-1, append=collection_words) <= 0).any():
            raise IntegrityError(
                path,
                f"its numbers are not rising rows of a collection with {collection_words:,} words",
                remedy="Delete the model and run the workflow again.",
            )
        return cls(table["word"].to_pylist(), numbers, collection_words, kind)

    def write(self, folder: str | Path) -> None:
        table = pa.table({"word": pa.array(self.words, pa.string()), "number": pa.array(self.word_numbers)})
        VOCABULARY.write(Path(folder) / FILE_NAME, table)

    def encode(self, text: str) -> np.ndarray:
        """Return the ids of a text's known words, in order (int64)."""
        ids = (self._ids.get(word, 0) for word in word_finder(self.kind)(text))
        return np.array([word_id for word_id in ids if word_id], np.int64)

    def ids_of_numbers(self, word_numbers: np.ndarray) -> np.ndarray:
        """Return the ids of the known words among those of a word store, in order (int64)."""
        ids = self._id_of_number[word_numbers]
        return ids[ids > 0]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: word_id for word_id, word in enumerate(self.words, 1)}

    @cached_property
    def _id_of_number(self) -> np.ndarray:
        ids = np.zeros(self.collection_words, np.int64)
        ids[self.word_numbers] = np.arange(1, len(self) + 1)
        return ids


# Character n-graphs of words (Mitra, Diaz, Craswell, WWW 2017): the runs of up to n characters of #word#.


def ngraphs_of(word: str, max_letters: int) -> Iterator[str]:
    """Yield every n-graph of a word, between marks of its beginning and end, as often as it occurs."""
    bounded_word = f"#{word}#"
    for start in range(len(bounded_word)):
        for end in range(start + 1, min(start + max_letters, len(bounded_word)) + 1):
            yield bounded_word[start:end]


def frequent_ngraphs(words: Sequence[str], counts: np.ndarray, limit: int, max_letters: int) -> list[str]:
    """Return the most frequent n-graphs of a text with these words, so often each; of equal ones by code points."""
    totals: Counter[str] = Counter()
    for word, count in zip(words, counts.tolist(), strict=True):
        for ngraph in ngraphs_of(word, max_letters):
            totals[ngraph] += count
    ranked = sorted(totals, key=lambda ngraph: (-totals[ngraph], ngraph))
    return ranked[:limit]


def number_ngraphs(
    words: Sequence[str], ngraphs: Sequence[str], max_letters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the known n-graphs of words by number, as often as they occur, and offsets, both int64.

    Word i has numbers[offsets[i] : offsets[i + 1]].
    """
    id_of_ngraph = {ngraph: ngraph_id for ngraph_id, ngraph in enumerate(ngraphs)}
    id_lists = [
        [id_of_ngraph[ngraph] for ngraph in ngraphs_of(word, max_letters) if ngraph in id_of_ngraph]
        for word in words
    ]
    offsets = np.cumsum([0, *map(len, id_lists)])
    return np.array([ngraph_id for ids in id_lists for ngraph_id in ids], np.int64), offsets.astype(np.int64)
