"""Postings with positions of a corpus, for windows and exact document lengths.

Lucene stores lengths in one byte and scores a window by its width, so its index cannot serve Indri's formulas.
Documents are cut into words by `text.words`, as term weights are, and each word becomes the terms of `Analyser`. A stop
word has no postings but keeps its position, so that words on its two sides are no neighbours.
"""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from irpretrain.config.retrieval import IndriOptions
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.out_of_core import GrowingArray
from irpretrain.foundation.progress import Counter
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.texts import stream_texts
from irpretrain.text.words import WordKind, word_finder

# Documents in memory at a time.
DOCUMENTS_AT_ONCE = 1024

# Occurrences of terms in memory at a time; sorting them takes up to 40 bytes each.
OCCURRENCES_AT_ONCE = 1 << 26
PAIR = np.dtype([("term", np.int32), ("place", np.int64)])


def build_positions(
    documents: Sequence[str | Path], options: IndriOptions, text: TextConfig, output: str | Path
) -> dict[str, int]:
    """Write the postings of a corpus (DOCUMENTS, all shards) into a directory; return counts of documents, terms,
    occurrences.

    InputError without a term.
    """
    # Memory grows with the distinct words alone. Disk: 24 bytes per occurrence, of which 8 stay.
    numbers: dict[str, int] = {}
    names: list[str] = []
    starts, lengths = array("q", [0]), array("i")  # a document is 12 bytes here, not 80
    with atomic_directory(output) as folder:
        with GrowingArray(folder / "terms.npy", np.dtype(np.int32)) as terms:
            with GrowingArray(folder / "places.npy", np.dtype(np.int64)) as positions:
                for name, terms_by_position in _terms_by_position(documents, options, text):
                    retained = [position for position, term in enumerate(terms_by_position) if term]
                    term_numbers = [
                        numbers.setdefault(terms_by_position[position], len(numbers)) for position in retained
                    ]
                    terms.add(np.array(term_numbers, np.int32))
                    positions.add(np.array(retained, np.int64) + starts[-1])
                    names.append(name)
                    lengths.append(len(term_numbers))
                    starts.append(starts[-1] + len(terms_by_position))
        if not numbers:
            raise InputError(documents[0], "these documents have no terms")
        _invert(folder, len(numbers))
        np.save(folder / "starts.npy", np.array(starts, np.int64))
        np.save(folder / "lengths.npy", np.array(lengths, np.int32))
        record = {
            "stemmer": options.stemmer,
            "stop_list": options.stop_list,
            "words": text.word_kind,
            "documents": names,
            "terms": list(numbers),
        }
        (folder / "names.json").write_text(json.dumps(record), encoding="utf-8")
    return {"documents": len(names), "terms": len(numbers), "occurrences": sum(lengths)}


def _terms_by_position(
    documents: Sequence[str | Path], options: IndriOptions, text: TextConfig
) -> Iterator[tuple[str, list[str]]]:
    """Yield each document's identifier and its terms in order, "" in the place of a stop word."""
    find, analyser = word_finder(text.word_kind), Analyser.of(options, text.word_kind)
    counter = Counter("find positions", "documents", sum(map(DOCUMENTS.count, documents)))
    for path in documents:
        for identifiers, texts in stream_texts(path, text, DOCUMENTS_AT_ONCE):
            cut = [find(document_text) for document_text in texts]
            analyser.learn(word for words in cut for word in words)
            for name, words in zip(identifiers, cut, strict=True):
                # Lucene cuts some words further, such as runs of ideographs: each piece has a place.
                yield name, [term for word in words for term in analyser.terms_of_word(word) or ("",)]
            counter.add(len(identifiers))


def _invert(folder: Path, terms: int) -> None:
    """Sort positions by their terms, and write where each term's begin."""
    bounds = np.zeros(terms + 1, np.int64)
    for numbers in _chunks(folder / "terms.npy"):
        bounds[1:] += np.bincount(numbers, minlength=terms)
    np.cumsum(bounds, out=bounds)
    np.save(folder / "bounds.npy", bounds)
    # Occurrences go to files by ranges of terms first, each small enough to be sorted in memory.
    file_of_term = bounds[:-1] // OCCURRENCES_AT_ONCE
    counter = Counter("sort positions", "occurrences", int(bounds[-1]))
    for numbers, positions in zip(_chunks(folder / "terms.npy"), _chunks(folder / "places.npy"), strict=True):
        files = file_of_term[numbers]
        for number in np.unique(files):
            chosen = files == number
            pairs = np.empty(np.count_nonzero(chosen), PAIR)
            pairs["term"], pairs["place"] = numbers[chosen], positions[chosen]
            with open(folder / f"{number}.pairs", "ab") as file:
                pairs.tofile(file)
        counter.add(len(numbers))
    counter = Counter("write positions", "occurrences", int(bounds[-1]))
    with GrowingArray(folder / "sorted.npy", np.dtype(np.int64)) as by_term:
        for number in np.unique(file_of_term):
            pairs = np.fromfile(folder / f"{number}.pairs", PAIR)
            by_term.add(pairs["place"][np.argsort(pairs["term"], kind="stable")])
            (folder / f"{number}.pairs").unlink()
            counter.add(len(pairs))
    (folder / "sorted.npy").replace(folder / "places.npy")
    (folder / "terms.npy").unlink()


def _chunks(path: Path) -> Iterator[np.ndarray]:
    """Yield an array in pieces of `OCCURRENCES_AT_ONCE`, each mapped anew: what is read of a map stays in memory."""
    for start in range(0, len(np.load(path, mmap_mode="r")), OCCURRENCES_AT_ONCE):
        yield np.load(path, mmap_mode="r")[start : start + OCCURRENCES_AT_ONCE]


@dataclass(frozen=True)
class Positions:
    documents: list[str]  # identifiers
    starts: np.ndarray  # int64 [documents + 1], the corpus's place at which each document begins
    lengths: np.ndarray  # int32 [documents], terms in each document; stop words are none
    numbers: dict[str, int]  # term → its number
    bounds: np.ndarray  # int64 [terms + 1], where each term's places begin
    positions: np.ndarray  # int64 [occurrences], places in the corpus by term, rising within each

    @classmethod
    def open(cls, folder: str | Path, options: IndriOptions, words: WordKind) -> Self:
        """Read the output of `build_positions`; IntegrityError if missing, or of other stems, stop words or words."""
        folder = Path(folder)
        expected = {"stemmer": options.stemmer, "stop_list": options.stop_list, "words": words}
        with refusing_damage(folder, "these are not positions", MAKE_AGAIN):
            record: dict[str, Any] = json.loads((folder / "names.json").read_text(encoding="utf-8"))
            for name, value in expected.items():
                if record.get(name) != value:
                    fault = f"made with {name} {record.get(name, 'unknown')}, the configuration has {value}"
                    raise IntegrityError(folder, fault, remedy=MAKE_AGAIN)
            read = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("bounds", "places")}
            numbers = {term: number for number, term in enumerate(record["terms"])}
            starts, lengths = np.load(folder / "starts.npy"), np.load(folder / "lengths.npy")
            return cls(record["documents"], starts, lengths, numbers, read["bounds"], read["places"])

    @property
    def occurrences(self) -> int:
        return len(self.positions)

    def of_term(self, term: str) -> np.ndarray:
        """Return the positions of a term (int64, rising); none for one that the corpus lacks."""
        number = self.numbers.get(term)
        if number is None:
            return np.zeros(0, np.int64)
        return np.asarray(self.positions[self.bounds[number] : self.bounds[number + 1]])

    def ordered(self, first: str, second: str) -> np.ndarray:
        """Return the positions of `first` that `second` follows at once."""
        first_positions, second_positions = self.of_term(first), self.of_term(second)
        adjacent = first_positions[np.isin(first_positions + 1, second_positions, assume_unique=True)]
        return adjacent[self.documents_of(adjacent) == self.documents_of(adjacent + 1)]

    def unordered(self, first: str, second: str, window: int) -> np.ndarray:
        """Return where windows of `window` words with both terms begin."""
        first_positions, second_positions = self.of_term(first), self.of_term(second)
        if first == second:
            return self._followed(first_positions, first_positions, window)
        return np.sort(
            np.concatenate(
                [
                    self._followed(first_positions, second_positions, window),
                    self._followed(second_positions, first_positions, window),
                ]
            )
        )

    def documents_of(self, positions: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.starts, positions, side="right") - 1

    def _followed(self, positions: np.ndarray, others: np.ndarray, window: int) -> np.ndarray:
        """Those of `positions` whose next one of `others` lies in the same document and window."""
        following = np.searchsorted(others, positions, side="right")
        has_next = following < len(others)
        positions, next_ones = positions[has_next], others[following[has_next]]
        close = next_ones - positions < window
        positions, next_ones = positions[close], next_ones[close]
        return positions[self.documents_of(positions) == self.documents_of(next_ones)]
