"""Mentions of titles in a text: whole words, written as the title or with capitals at its words.

Titles are held as sorted 64-bit hashes of their beginnings (a trie without nodes): about 8 bytes for a token of a title
besides the titles' text, however many titles there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.wikipedia.titles import spaced

# Titles of more words and signs are not looked for.
MOST_TOKENS = 24
TITLES_AT_ONCE = 100_000
_TOKEN = re.compile(r"\w+|[^\w\s]")
_FACTOR, _GLUED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


# Makes of a title one of the ways in which it is written in texts.
Form = Callable[[str], str]


class Mention(NamedTuple):
    """One mention: text[start:end], and the number of the title among `TitleFinder.titles`."""

    start: int
    end: int
    title: int


class TitleFinder:
    """Finds titles in texts.

    A title is found where its words and signs stand in the text as in the title, as in `title_cased` of it, or (where
    asked for) as in `lower_first` of it; any run of white space counts as one space. Neither end lies within a word.
    Of overlapping mentions the leftmost is taken, of those that begin together the longest. Where two titles share a
    form, the one that is written so is taken, then one that is title-cased so, then the smaller by code points.
    """

    def __init__(self, titles: Iterable[str], minimum_length: int = 1, with_lower_case: bool = False) -> None:
        """Take titles, in any order and repeated or not.

        Args:
            titles: underscores count as spaces.
            minimum_length: titles of fewer characters are left out.
            with_lower_case: find them with a small first letter too, as in running text.
        """
        self._forms = (str, title_cased, lower_first) if with_lower_case else (str, title_cased)
        chunks = [_spaced(batch, minimum_length) for batch in _batches(iter(titles))]
        unique = pc.unique(pa.chunked_array(chunks, pa.string()))
        self.titles: pa.StringArray = unique.take(pc.sort_indices(unique))
        self._beginnings, self._wholes, self._numbers = _tables(self.titles, self._forms)

    def find(self, text: str) -> list[Mention]:
        """Return the mentions in `text`, in its order."""
        tokens = _Tokens(text)
        lengths, title_numbers = self._longest(tokens)
        mentions: list[Mention] = []
        next_free = 0
        for first_token in np.flatnonzero(lengths).tolist():
            if first_token < next_free:
                continue
            last_token = first_token + int(lengths[first_token]) - 1
            start, end = int(tokens.starts[first_token]), int(tokens.ends[last_token])
            title = self.titles[int(title_numbers[first_token])].as_py()
            # Hashes of different words may be equal, if hardly ever.
            if " ".join(text[start:end].split()) in [form(title) for form in self._forms]:
                mentions.append(Mention(start, end, int(title_numbers[first_token])))
                next_free = last_token + 1
        return mentions

    def _longest(self, tokens: _Tokens) -> tuple[np.ndarray, np.ndarray]:
        lengths, title_numbers = np.zeros(len(tokens), np.int64), np.zeros(len(tokens), np.int64)
        alive, sums = np.arange(len(tokens)), tokens.hashes
        for size in range(1, MOST_TOKENS + 1):
            is_beginning = _positions(self._beginnings, sums) >= 0
            alive, sums = alive[is_beginning], sums[is_beginning]
            positions = _positions(self._wholes, sums)
            hits = positions >= 0
            lengths[alive[hits]] = size
            title_numbers[alive[hits]] = self._numbers[positions[hits]]
            alive, sums = tokens.extended(alive, sums, alive + size)
        return lengths, title_numbers


def title_cased(title: str) -> str:
    """Return a title with a capital at the beginning of each of its words, the rest as it is."""
    return " ".join(word[:1].upper() + word[1:] for word in title.split(" "))


def lower_first(title: str) -> str:
    """Return a title with a small first letter, if the second is small or no letter: not of "NATO"."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


class _Tokens:
    """Words and signs of a text, each with a hash. Python's hash differs from process to process: it only finds."""

    def __init__(self, text: str) -> None:
        matches = list(_TOKEN.finditer(text))
        self.starts = np.fromiter((match.start() for match in matches), np.int64, len(matches))
        self.ends = np.fromiter((match.end() for match in matches), np.int64, len(matches))
        hashes = (hash(match.group()) for match in matches)
        self.hashes = np.fromiter(hashes, np.int64, len(matches)).view(np.uint64)
        glued = np.zeros(len(matches), np.bool_)
        glued[1:] = self.starts[1:] == self.ends[:-1]
        self._next = self.hashes + glued * _GLUED

    def __len__(self) -> int:
        return len(self.starts)

    def extended(
        self, owners: np.ndarray, sums: np.ndarray, tokens: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Add a token to each hash; what ends with the text goes, with its owner."""
        within = tokens < len(self)
        return owners[within], sums[within] * _FACTOR + self._next[tokens[within]]


def _tables(titles: pa.StringArray, forms: Sequence[Form]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hashes of the beginnings of titles; hashes of whole titles, and these titles' numbers. Hashes are sorted."""
    beginnings, wholes = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    title_numbers = [np.zeros(0, np.int64)]
    for title_rows, texts in _written(titles, forms):
        tokens = _Tokens("\n".join(texts))
        lines = np.cumsum([0, *(len(text) + 1 for text in texts)])
        firsts = np.searchsorted(tokens.starts, lines)
        counts = np.diff(firsts)
        alive = np.flatnonzero(counts <= MOST_TOKENS)
        sums = tokens.hashes[firsts[alive]]
        for size in range(1, MOST_TOKENS + 1):
            beginnings.append(np.unique(sums))
            is_whole = counts[alive] == size
            wholes.append(sums[is_whole])
            title_numbers.append(title_rows[alive[is_whole]])
            alive, sums = tokens.extended(alive[~is_whole], sums[~is_whole], firsts[alive[~is_whole]] + size)
    # The first of equal hashes is kept: titles as they are written come before their other forms.
    unique, positions = np.unique(np.concatenate(wholes), return_index=True)
    return np.unique(np.concatenate(beginnings)), unique, np.concatenate(title_numbers)[positions]


def _written(titles: pa.StringArray, forms: Sequence[Form]) -> Iterator[tuple[np.ndarray, list[str]]]:
    for form in forms:
        for start in range(0, len(titles), TITLES_AT_ONCE):
            batch = titles.slice(start, TITLES_AT_ONCE).to_pylist()
            pairs = [
                (number, text)
                for number, title in enumerate(batch, start)
                if (text := form(title)) != title or form is str
            ]
            if pairs:
                yield np.array([number for number, _ in pairs]), [text for _, text in pairs]


def _positions(table: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    if not len(table):
        return np.full(len(hashes), -1)
    positions = np.minimum(np.searchsorted(table, hashes), len(table) - 1)
    return np.where(table[positions] == hashes, positions, -1)


def _spaced(titles: list[str], minimum_length: int) -> pa.StringArray:
    cleaned = map(spaced, titles)
    return pa.array([title for title in cleaned if title and len(title) >= minimum_length], pa.string())


def _batches(titles: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(titles, TITLES_AT_ONCE)):
        yield batch
