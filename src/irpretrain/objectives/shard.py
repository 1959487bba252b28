"""What one shard of a corpus offers to an objective, and what the objective counts while it makes groups of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.progress import progress
from irpretrain.foundation.randomness import generator
from irpretrain.objectives.articles import ShardArticle, stream_articles

Item = TypeVar("Item")


@dataclass(frozen=True)
class Shard:
    """One shard of a corpus and its collection's files; those that the objective's `NEEDS` does not name are empty."""

    documents: str | Path  # DOCUMENTS table of the shard, in corpus order
    text: TextConfig  # how fields become a text, and a text words
    seed: int  # of the random streams
    tokens: str | Path = ""  # token store of the shard; it knows characters where `positions` are needed
    statistics: str | Path = ""  # WORD_COUNTS of the collection
    graph: str | Path = ""  # directory of the collection's graph
    collection: tuple[str | Path, ...] = ()  # DOCUMENTS tables of all shards of the collection
    collection_tokens: tuple[str | Path, ...] = ()  # token stores of these shards, in the same order
    anchor_texts: str | Path = ""  # ANCHOR_TEXTS table of the collection
    axiom_values: str | Path = ""  # AXIOM_VALUES of the shard's pseudo-queries
    predictor: str | Path = ""  # directory of the preference predictor that the objective's options name
    axioms: AxiomsConfig = field(default_factory=AxiomsConfig)  # how axioms compare queries

    def articles(self, counts: Counts) -> Iterator[ShardArticle]:
        """Yield the documents in corpus order, without disambiguation pages, and count; see `stream_articles`."""
        counts.update(documents=0, skipped=Counter(disambiguation=0), groups_not_made=Counter())
        articles = stream_articles(self.documents, self.tokens, self.text)
        for article in progress(articles, f"groups {Path(self.documents).stem}", "documents"):
            counts["documents"] += 1
            if article is None:
                counts["skipped"]["disambiguation"] += 1
            else:
                yield article
                counts.close_document()

    def stream(self, objective: str, identifier: str) -> np.random.Generator:
        """Return the random stream of a document (or of what else is named) in an objective."""
        return generator(self.seed, objective, identifier)


class Counts(dict[str, Any]):
    """The counts of an objective on a shard; `counts["repeated"] += 1` starts at 0.

    `Shard.articles` counts documents, skipped (documents without a group, by their first reason) and groups_not_made
    (by reason, of documents that gave others).
    """

    def __init__(self) -> None:
        super().__init__()
        self._reasons: Counter[str] = Counter()
        self._made = False

    def __missing__(self, name: str) -> int:
        return 0

    def skip(self, reason: str) -> None:
        """Say why the document gives no group, or one fewer than it could."""
        self._reasons[reason] += 1

    def tally(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass on groups, or drafts of them; the document that one was made of is not skipped."""
        for item in items:
            self._made = True
            yield item

    def close_document(self) -> None:
        if self._made:
            self["groups_not_made"].update(self._reasons)
        else:
            self["skipped"][next(iter(self._reasons), "no_groups")] += 1
        self._made = False
        self._reasons.clear()
