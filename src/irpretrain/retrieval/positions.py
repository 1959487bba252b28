"""Where every term of a corpus stands: postings with positions, for windows and exact document lengths.

Lucene keeps lengths in one byte and scores a window by its width, so Indri's formulas cannot be had from its index.
Documents are cut into words as `text.words` says, as term weights and so weighted queries are, and each word becomes
the terms of `retrieval.indri`'s analyser (`irpretrain.retrieval.analysis`). A stop word has no postings but keeps its
place, so that words on its two sides are no neighbours.
"""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from irpretrain.atomic import atomic_directory
from irpretrain.config.retrieval import IndriConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import InputError, IntegrityError
from irpretrain.growing_array import GrowingArray
from irpretrain.progress import Counter
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.compose import stream_texts
from irpretrain.text.words import WordKind, word_finder

DOCUMENTS_AT_ONCE = 1024
"""Documents in memory at a time."""
OCCURRENCES_AT_ONCE = 1 << 26
"""Occurrences of terms in memory at a time; sorting them takes up to 40 bytes each."""
PAIR = np.dtype([("term", np.int32), ("place", np.int64)])


def build_positions(
    documents: Sequence[str | Path], options: IndriConfig, text: TextConfig, output: str | Path
) -> dict[str, int]:
    """Write the postings of a corpus.

    Args:
        documents: DOCUMENTS tables, all shards of the corpus.
        output: directory; `Positions.open` reads it. Making it takes memory for the different words
            alone, and 24 bytes of disk for each occurrence, of which 8 stay.

    Returns:
        Counts: documents, terms, occurrences.

    Raises:
        InputError: there is not one term.
    """
    numbers: dict[str, int] = {}
    names: list[str] = []
    starts, lengths = array("q", [0]), array("i")  # a document is 12 bytes here, not 80
    with atomic_directory(output) as folder:
        with GrowingArray(folder / "terms.npy", np.dtype(np.int32)) as terms:
            with GrowingArray(folder / "places.npy", np.dtype(np.int64)) as places:
                for name, terms_by_place in _terms_by_place(documents, options, text):
                    kept = [place for place, term in enumerate(terms_by_place) if term]
                    term_numbers = [numbers.setdefault(terms_by_place[place], len(numbers)) for place in kept]
                    terms.add(np.array(term_numbers, np.int32))
                    places.add(np.array(kept, np.int64) + starts[-1])
                    names.append(name)
                    lengths.append(len(term_numbers))
                    starts.append(starts[-1] + len(terms_by_place))
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


def _terms_by_place(
    documents: Sequence[str | Path], options: IndriConfig, text: TextConfig
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
    """Put places in the order of their terms, and write where each term's begin.

    Occurrences go to files by ranges of terms first, each small enough to be sorted in memory.
    """
    bounds = np.zeros(terms + 1, np.int64)
    for numbers in _chunks(folder / "terms.npy"):
        bounds[1:] += np.bincount(numbers, minlength=terms)
    np.cumsum(bounds, out=bounds)
    np.save(folder / "bounds.npy", bounds)
    file_of_term = bounds[:-1] // OCCURRENCES_AT_ONCE
    counter = Counter("sort positions", "occurrences", int(bounds[-1]))
    for numbers, places in zip(_chunks(folder / "terms.npy"), _chunks(folder / "places.npy"), strict=True):
        files = file_of_term[numbers]
        for number in np.unique(files):
            chosen = files == number
            pairs = np.empty(np.count_nonzero(chosen), PAIR)
            pairs["term"], pairs["place"] = numbers[chosen], places[chosen]
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
    """Postings of a corpus.

    Attributes:
        documents: identifiers.
        starts: int64 [documents + 1], the corpus's place at which each document begins.
        lengths: int32 [documents], terms in each document; stop words are none.
        numbers: term → its number.
        bounds: int64 [terms + 1], where each term's places begin.
        places: int64 [occurrences], places in the corpus by term, rising within each.
    """

    documents: list[str]
    starts: np.ndarray
    lengths: np.ndarray
    numbers: dict[str, int]
    bounds: np.ndarray
    places: np.ndarray

    @classmethod
    def open(cls, folder: str | Path, options: IndriConfig, words: WordKind) -> Self:
        """Read what `build_positions` wrote.

        Args:
            words: how queries will be cut into words.

        Raises:
            IntegrityError: it is not there, or was made with another stemmer, other stop words, or other words.
        """
        folder = Path(folder)
        try:
            record: dict[str, Any] = json.loads((folder / "names.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise IntegrityError(
                folder, "these are not positions", remedy="Delete it and run again."
            ) from None
        expected = {"stemmer": options.stemmer, "stop_list": options.stop_list, "words": words}
        for name, value in expected.items():
            if record.get(name) != value:
                fault = f"made with {name} {record.get(name, 'unknown')}, the configuration has {value}"
                raise IntegrityError(folder, fault, remedy="Delete it and run again.")
        read = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("bounds", "places")}
        numbers = {term: number for number, term in enumerate(record["terms"])}
        starts, lengths = np.load(folder / "starts.npy"), np.load(folder / "lengths.npy")
        return cls(record["documents"], starts, lengths, numbers, read["bounds"], read["places"])

    @property
    def occurrences(self) -> int:
        """Terms of all documents together."""
        return len(self.places)

    def of_term(self, term: str) -> np.ndarray:
        """Return the places of a term (int64, rising); none for one that the corpus lacks."""
        number = self.numbers.get(term)
        if number is None:
            return np.zeros(0, np.int64)
        return np.asarray(self.places[self.bounds[number] : self.bounds[number + 1]])

    def ordered(self, first: str, second: str) -> np.ndarray:
        """Return the places of `first` that `second` follows at once."""
        first_places, second_places = self.of_term(first), self.of_term(second)
        adjacent = first_places[np.isin(first_places + 1, second_places, assume_unique=True)]
        return adjacent[self.documents_of(adjacent) == self.documents_of(adjacent + 1)]

    def unordered(self, first: str, second: str, window: int) -> np.ndarray:
        """Return where windows of `window` words begin that hold both terms: occurrences of either one of which the
        other's next occurrence is close enough. Of one word twice, its occurrences that it follows again.
        """
        first_places, second_places = self.of_term(first), self.of_term(second)
        if first == second:
            return self._followed(first_places, first_places, window)
        return np.sort(
            np.concatenate(
                [
                    self._followed(first_places, second_places, window),
                    self._followed(second_places, first_places, window),
                ]
            )
        )

    def documents_of(self, places: np.ndarray) -> np.ndarray:
        """Return the number of the document of each place."""
        return np.searchsorted(self.starts, places, side="right") - 1

    def _followed(self, places: np.ndarray, others: np.ndarray, window: int) -> np.ndarray:
        """Those of `places` whose next one of `others` lies in the same document and window."""
        following = np.searchsorted(others, places, side="right")
        has_next = following < len(others)
        places, next_ones = places[has_next], others[following[has_next]]
        close = next_ones - places < window
        places, next_ones = places[close], next_ones[close]
        return places[self.documents_of(places) == self.documents_of(next_ones)]
