"""Word pieces of texts from those of their chunks: what stands between two spaces is cut only once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from irpretrain.text.word_pieces import WordPieceTokenizer, Words

KEPT_CHARACTERS = 1 << 23
"""A table whose chunks have more characters starts anew before the next texts: it takes about 200 MB."""


class ChunkTable:
    """The word pieces of every chunk that a tokenizer has cut; it must be one that cuts at spaces.

    What was asked before decides how long an answer takes, never what it is. Not for several threads at once.
    """

    # Chunk i has the pieces from _offsets[i] to _offsets[i + 1] of _words, whose firsts count from the chunk's own.

    def __init__(self, tokenizer: WordPieceTokenizer, kept_characters: int = KEPT_CHARACTERS) -> None:
        self._tokenizer, self._kept_characters = tokenizer, kept_characters
        self._start_anew()

    def _start_anew(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__  # the next chunk's number
        self._offsets, self._lengths = np.zeros(1, np.int64), np.zeros(0, np.int64)
        self._words = Words(np.zeros(0, np.int32), np.zeros(0, bool), np.zeros(0, np.int32))

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return what the tokenizer's own `words` would."""
        if not texts:
            return []
        if self._lengths.sum() > self._kept_characters:
            self._start_anew()
        chunks = [text.replace("\n", " ").split(" ") for text in texts]
        sizes = np.array([len(own) for own in chunks], np.int64)
        numbers = np.fromiter(
            map(self._numbers.__getitem__, chain.from_iterable(chunks)), np.int64, int(sizes.sum())
        )
        try:
            self._cut(list(islice(self._numbers, len(self._lengths), None)))
        except BaseException:
            self._start_anew()  # its new chunks have numbers, but no pieces
            raise
        begins = self._offsets[numbers]
        counts = self._offsets[numbers + 1] - begins
        chunks_before, pieces_before = _running_sum(sizes), _running_sum(counts)
        heads = _running_sum(self._lengths[numbers] + 1)  # where each chunk begins if all texts are one
        heads = heads[:-1] - np.repeat(heads[chunks_before[:-1]], sizes)
        places = np.repeat(begins - pieces_before[:-1], counts) + np.arange(pieces_before[-1])
        ids, starts, firsts = (part[places] for part in self._words)
        firsts += np.repeat(heads, counts).astype(np.int32)
        cuts = pieces_before[chunks_before[1:-1]]
        return [
            Words(*parts)
            for parts in zip(*(np.split(part, cuts) for part in (ids, starts, firsts)), strict=True)
        ]

    def _cut(self, chunks: Sequence[str]) -> None:
        """Let the tokenizer cut the last chunks of the table, as one text."""
        lengths = np.array([len(chunk) for chunk in chunks], np.int64)
        heads = _running_sum(lengths + 1)
        [new] = self._tokenizer.words([" ".join(chunks)])
        owners = np.searchsorted(heads, new.firsts, side="right") - 1
        new = new._replace(firsts=(new.firsts - heads[owners]).astype(np.int32))
        ends = self._offsets[-1] + np.cumsum(np.bincount(owners, minlength=len(chunks)))
        self._lengths = np.concatenate([self._lengths, lengths])
        self._offsets = np.concatenate([self._offsets, ends])
        self._words = Words(*(np.concatenate(both) for both in zip(self._words, new, strict=True)))


def _running_sum(numbers: np.ndarray) -> np.ndarray:
    """Return 0, the first number, the sum of the first two, and so on (int64, one more than there are numbers)."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers, dtype=np.int64)])
