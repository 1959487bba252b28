"""The links of a shard's documents, one document after the other, and the documents that they can lead to."""

from collections.abc import Iterator
from functools import cached_property
from typing import Self

import numpy as np

from irpretrain.contracts import DOCUMENTS
from irpretrain.objectives.articles import ShardArticle
from irpretrain.objectives.shard import Shard
from irpretrain.wikipedia.graph import Graph, Links


class LinkSource:
    """A collection's graph from the view of one shard; `nodes`, int32, are the shard's documents in its order."""

    def __init__(self, graph: Graph, nodes: np.ndarray) -> None:
        self.graph, self._nodes = graph, nodes
        self._links: Iterator[Links] = graph.links(nodes)
        self._next: Links | None = next(self._links, None)

    @classmethod
    def open(cls, shard: Shard) -> Self:
        opened = Graph.open(shard.graph)
        identifiers = DOCUMENTS.read(shard.documents, columns=["document_id"]).column("document_id")
        return cls(opened, opened.nodes(identifiers))

    def node(self, article: ShardArticle) -> int:
        return int(self._nodes[article.number])

    def links(self, article: ShardArticle) -> Links | None:
        """Return the hyperlinks of an article, or None; articles must come in the shard's order."""
        node = self.node(article)
        while self._next is not None and self._next.source < node:
            self._next = next(self._links, None)
        return self._next if self._next is not None and self._next.source == node else None

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

    def document_id(self, node: int) -> str:
        return self.graph.document_id(node)

    @property
    def words(self) -> np.ndarray:
        """int32 [nodes]: words of each document's body."""
        return self.graph.words

    @cached_property
    def drawable(self) -> np.ndarray:
        """int32 [nodes]: the same, 0 for disambiguation pages."""
        # Their form gives them away: where random documents are never such pages, preferred ones must not be either.
        return np.where(self.graph.disambiguation, np.int32(0), self.graph.words)
