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
MAX_TOKENS = 24
TITLES_AT_ONCE = 100_000
_TOKEN = re.compile(r"\w+|[^\w\s]")
_HASH_FACTOR, _GLUED_HASH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


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
        title_chunks = [_spaced(batch, minimum_length) for batch in _batches(iter(titles))]
        unique_titles = pc.unique(pa.chunked_array(title_chunks, pa.string()))
        self.titles: pa.StringArray = unique_titles.take(pc.sort_indices(unique_titles))
        self._prefix_hashes, self._title_hashes, self._title_numbers = _tables(self.titles, self._forms)

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
        start_tokens, hashes = np.arange(len(tokens)), tokens.hashes
        for size in range(1, MAX_TOKENS + 1):
            is_beginning = _find(self._prefix_hashes, hashes) >= 0
            start_tokens, hashes = start_tokens[is_beginning], hashes[is_beginning]
            positions = _find(self._title_hashes, hashes)
            is_title = positions >= 0
            lengths[start_tokens[is_title]] = size
            title_numbers[start_tokens[is_title]] = self._title_numbers[positions[is_title]]
            start_tokens, hashes = tokens.extended(start_tokens, hashes, start_tokens + size)
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
        is_glued = np.zeros(len(matches), np.bool_)
        is_glued[1:] = self.starts[1:] == self.ends[:-1]
        self._next = self.hashes + is_glued * _GLUED_HASH

    def __len__(self) -> int:
        return len(self.starts)

    def extended(
        self, owners: np.ndarray, hashes: np.ndarray, tokens: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Add a token to each hash; what ends with the text goes, with its owner."""
        is_inside = tokens < len(self)
        return owners[is_inside], hashes[is_inside] * _HASH_FACTOR + self._next[tokens[is_inside]]


def _tables(titles: pa.StringArray, forms: Sequence[Form]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hashes of the beginnings of titles; hashes of whole titles, and these titles' numbers. Hashes are sorted."""
    prefix_hashes, title_hashes = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    title_numbers = [np.zeros(0, np.int64)]
    for title_rows, texts in _title_forms(titles, forms):
        tokens = _Tokens("\n".join(texts))
        text_starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
        first_tokens = np.searchsorted(tokens.starts, text_starts)
        token_counts = np.diff(first_tokens)
        text_rows = np.flatnonzero(token_counts <= MAX_TOKENS)
        hashes = tokens.hashes[first_tokens[text_rows]]
        for size in range(1, MAX_TOKENS + 1):
            prefix_hashes.append(np.unique(hashes))
            is_whole = token_counts[text_rows] == size
            title_hashes.append(hashes[is_whole])
            title_numbers.append(title_rows[text_rows[is_whole]])
            text_rows, hashes = text_rows[~is_whole], hashes[~is_whole]
            text_rows, hashes = tokens.extended(text_rows, hashes, first_tokens[text_rows] + size)
    # The first of equal hashes is kept: titles as they are written come before their other forms.
    unique_hashes, positions = np.unique(np.concatenate(title_hashes), return_index=True)
    return np.unique(np.concatenate(prefix_hashes)), unique_hashes, np.concatenate(title_numbers)[positions]


def _title_forms(titles: pa.StringArray, forms: Sequence[Form]) -> Iterator[tuple[np.ndarray, list[str]]]:
    for form in forms:
        for start in range(0, len(titles), TITLES_AT_ONCE):
            batch = titles.slice(start, TITLES_AT_ONCE).to_pylist()
            title_numbers, texts = list[int](), list[str]()
            for title_number, title in enumerate(batch, start):
                if (text := form(title)) != title or form is str:
                    title_numbers.append(title_number)
                    texts.append(text)
            if texts:
                yield np.array(title_numbers), texts


def _find(sorted_hashes: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    if not len(sorted_hashes):
        return np.full(len(hashes), -1)
    positions = np.minimum(np.searchsorted(sorted_hashes, hashes), len(sorted_hashes) - 1)
    return np.where(sorted_hashes[positions] == hashes, positions, -1)


def _spaced(titles: list[str], minimum_length: int) -> pa.StringArray:
    cleaned = map(spaced, titles)
    return pa.array([title for title in cleaned if title and len(title) >= minimum_length], pa.string())


def _batches(titles: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(titles, TITLES_AT_ONCE)):
        yield batch
