"""Passages of documents that may lie in other shards: blocks of words, read from the collection's token stores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irpretrain.text.token_store import TokenStore
    from irpretrain.wikipedia.graph import Graph


class WordBlocks:
    """The documents of a collection, each cut into blocks of equally many words from its first word on.

    Words are those of the token store: each begins at a word piece that continues none, so a punctuation mark is one.
    Of a document with at least as many words as a block, what is left behind its last whole block is in none; a
    shorter one is a block by itself.

    Args:
        store: the collection's token stores, opened as one.
        rows: int64 [nodes], row of each document in the store, by the document's number in the collection.
    """

    def __init__(self, store: TokenStore, rows: np.ndarray) -> None:
        self._store, self._rows = store, rows

    @classmethod
    def open(cls, tokens: Sequence[str | Path], graph: Graph) -> WordBlocks:
        """Open the token stores of all shards of the collection that a graph was made of."""
        from irpretrain.text.token_store import TokenStore

        store = TokenStore.open(tokens)
        return cls(store, store.rows(graph.document_ids))

    def draw(self, rng: np.random.Generator, number: int, words: int) -> tuple[int, int]:
        """Return the word pieces (first, last exclusive) of a block of `words` words of document `number`, each with
        the same probability."""
        begins = self._store.word_starts(int(self._rows[number]))
        starts = np.append(np.flatnonzero(begins), len(begins))
        last = len(starts) - 1
        first = words * int(rng.integers(max(last // words, 1)))
        return int(starts[first]), int(starts[min(first + words, last)])
