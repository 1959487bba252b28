"""Documents that an objective draws from: random ones of the collection, and those that a document links."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.objectives.groups import Span
from irpretrain.objectives.shard import Shard, ShardArticle
from irpretrain.wikipedia.graph import Graph, Links

Item = TypeVar("Item")


def draw_some(rng: np.random.Generator, items: Sequence[Item], max_items: int | None) -> list[Item]:
    """Return at most `max_items` different items at random, in their own order; all where `max_items` is null."""
    if max_items is None or len(items) <= max_items:
        return list(items)
    return [items[position] for position in np.sort(rng.choice(len(items), size=max_items, replace=False))]


def draw_repeated(rng: np.random.Generator, items: Sequence[Item], count: int) -> tuple[list[Item], int]:
    """Return `count` of the items in random order, and the number of repeats: drawn when items run out."""
    positions = draw_positions(rng, len(items), count)
    return [items[position] for position in positions], max(0, count - len(items))


def draw_positions(rng: np.random.Generator, item_count: int, count: int) -> np.ndarray:
    """Return `count` positions below `item_count`, as `draw_repeated` draws them (int64)."""
    positions = rng.permutation(item_count)[:count]
    if item_count >= count:
        return positions
    return np.concatenate((positions, rng.integers(item_count, size=count - item_count)))


class RandomDocuments:
    """The documents of a collection that can be drawn, by number: those with at least `min_words` words."""

    def __init__(self, words: np.ndarray, min_words: int = 1) -> None:
        self._words = words
        self._eligible = np.flatnonzero(words >= max(min_words, 1)).astype(np.int32)

    def __len__(self) -> int:
        return len(self._eligible)

    def draw(self, rng: np.random.Generator, count: int, excluded: Collection[int]) -> tuple[list[int], int]:
        """Return `count` documents with equal probabilities, none of the excluded, and the number of repeats.

        They are different unless the collection is too small; the list is empty if nothing can be drawn.
        """
        unavailable = set(excluded)
        # Few others: list them. Else a draw meets an unavailable or drawn one with a probability of at most one half.
        if len(self) < 2 * (count + len(unavailable)):
            remaining = [int(document) for document in self._eligible if int(document) not in unavailable]
            return draw_repeated(rng, remaining, count) if remaining else ([], 0)
        drawn_documents: list[int] = []
        while len(drawn_documents) < count:
            document = int(self._eligible[rng.integers(len(self))])
            if document not in unavailable:
                unavailable.add(document)
                drawn_documents.append(document)
        return drawn_documents, 0


def by_document(draws: Iterable[tuple[str, str]]) -> tuple[dict[str, list[int]], list[str]]:
    """Return positions of draws by document, and streams by position, from document and stream of each draw."""
    positions: dict[str, list[int]] = defaultdict(list)
    streams = []
    for position, (document_id, stream) in enumerate(draws):
        positions[document_id].append(position)
        streams.append(stream)
    return positions, streams


# The links of a shard's documents, one document after the other, and the documents that they can lead to.


class LinkSource:
    """A collection's graph from the view of one shard."""

    def __init__(self, shard: Shard) -> None:
        self.graph = Graph(shard.graph)
        identifiers = DOCUMENTS.read(shard.documents, columns=["document_id"]).column("document_id")
        self._nodes = self.graph.nodes(identifiers)  # of the shard's documents in its order, int32
        self._links: Iterator[Links] = self.graph.links(self._nodes)
        self._current: Links | None = next(self._links, None)

    def node(self, article: ShardArticle) -> int:
        return int(self._nodes[article.shard_row])

    def links(self, article: ShardArticle) -> Links | None:
        """Return the hyperlinks of an article, or None; articles must come in the shard's order."""
        node = self.node(article)
        while self._current is not None and self._current.source < node:
            self._current = next(self._links, None)
        return self._current if self._current is not None and self._current.source == node else None

    def see_also(self, article: ShardArticle) -> list[int]:
        """Return the documents that an article's See Also sections name, ascending."""
        return [int(node) for node in self.graph.see_also(self.node(article))]

    def symmetric(self, article: ShardArticle) -> list[int]:
        """Return the documents that an article links and that link it, ascending."""
        links = self.links(article)
        return [] if links is None else [int(node) for node in np.unique(links.target[links.symmetric])]

    def targets(self, article: ShardArticle) -> list[int]:
        links = self.links(article)
        return [] if links is None else [int(node) for node in np.unique(links.target)]

    def whole_documents(self, nodes: Iterable[int]) -> list[Span]:
        return [Span(self.graph.document_id(node)) for node in nodes]

    @cached_property
    def drawable_words(self) -> np.ndarray:
        """int32 [nodes]: words of each document's body, 0 for disambiguation pages."""
        # Their form gives them away: where random documents are never such pages, preferred ones must not be either.
        return np.where(self.graph.disambiguation, np.int32(0), self.graph.words)
