"""Anchors and the sentences around them, from which HARP's objectives make queries (Ma et al., CIKM 2021, section
3).

HARP weighs words by the attention of a BERT; here the weight is the idf in the collection, so that pre-training
needs no model. docs/methods/baselines.md has the consequences.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.foundation.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.objectives.draws import LinkSource, by_document
from irpretrain.objectives.groups import Span
from irpretrain.objectives.shard import Counts, Shard, ShardArticle
from irpretrain.text.passages import Characters, sentences
from irpretrain.text.set_sizes import cumulative, set_size_probabilities
from irpretrain.text.statistics import read_totals
from irpretrain.text.stop_words import StopList, load_stop_words
from irpretrain.text.words import word_finder
from irpretrain.wikipedia.graph import Links

# Draws that a word gets before every word counts the same.
MAX_TRIES = 100


# Words that are never drawn: INQUERY's list, as in the other objectives that draw words; HARP names none.
STOP_LIST: StopList = "inquery"


@dataclass(frozen=True)
class Anchor:
    """A link in its sentence."""

    target: int  # node of the linked document
    # start, end: the anchor, in characters of the body.
    start: int
    end: int
    sentence: Characters  # the sentences that hold it, in characters of the body


def stream_anchors(
    shard: Shard, objective: str, counts: Counts, source: LinkSource, is_linkable: np.ndarray
) -> Iterator[tuple[ShardArticle, list[Anchor], np.random.Generator]]:
    """Yield the articles of a shard that have anchors, with these and a random stream; others are skipped as no_links.

    `is_linkable`, bool [nodes]: whether links may lead to a document.
    """
    for article in shard.articles(counts):
        links = source.links(article)
        anchors = [] if links is None else _find_anchors(article, links, is_linkable)
        if anchors:
            yield article, anchors, shard.stream(objective, article.document_id)
        else:
            counts.skip("no_links")


def _find_anchors(article: ShardArticle, links: Links, is_linkable: np.ndarray) -> list[Anchor]:
    """Return the anchors of an article, in the order of the text: the first of each document in each segment."""
    spans = sentences(article.body, language_name=article.language)
    starts = [start for start, _ in spans]
    anchors = []
    for target, start, end in zip(
        links.target.tolist(), links.start.tolist(), links.end.tolist(), strict=True
    ):
        first_sentence, last_sentence = bisect_right(starts, start) - 1, bisect_left(starts, end) - 1
        if is_linkable[target] and first_sentence >= 0:
            sentence = spans[first_sentence][0], max(spans[last_sentence][1], end)
            anchors.append(Anchor(target, start, end, sentence))
    return sorted(anchors, key=lambda anchor: (anchor.start, anchor.target))


def anchor_text(article: ShardArticle, anchor: Anchor) -> str:
    return " ".join(article.body[anchor.start : anchor.end].split())


class AnchorWeights:
    """Weighs words by their idf in a collection."""

    def __init__(self, shard: Shard) -> None:
        table = WORD_COUNTS.read(shard.statistics, columns=["word", "documents"])
        self._words = table.column("word").combine_chunks()
        self._frequencies = table.column("documents").to_numpy()
        self._documents = max(read_totals(shard.statistics).documents, 1)
        self._split_words = word_finder(shard.text.word_kind)
        self.idf = lru_cache(maxsize=1 << 18)(self._idf)

    def weight(self, text: str) -> float:
        """Return the mean idf of a text's words, stop words included; 0 if there are none."""
        words = self._split_words(text)
        return sum(map(self.idf, words)) / len(words) if words else 0.0

    def _idf(self, word: str) -> float:
        # The table is sorted by code points, as Python compares strings.
        row = bisect_left(self._words, word, key=lambda scalar: scalar.as_py())
        is_known = row < len(self._words) and self._words[row].as_py() == word
        return float(np.log(self._documents / (self._frequencies[row] if is_known else 1)))


class WordDraws(AnchorWeights):
    def __init__(self, shard: Shard) -> None:
        super().__init__(shard)
        self._stop_words = load_stop_words(STOP_LIST, language_name=shard.text.language)
        # The mean of the law, 3, is that of the normal deviate in HARP's repository.
        self._size_sums = cumulative(set_size_probabilities())

    def words(self, text: str) -> list[str]:
        return [word for word in self._split_words(text) if word not in self._stop_words]

    def context_query(self, rng: np.random.Generator, article: ShardArticle, anchor: Anchor) -> str:
        """Return drawn words of an anchor's sentence, none of the anchor's own, and then the anchor."""
        start, end = anchor.sentence
        words = self.words(article.body[start : anchor.start]) + self.words(article.body[anchor.end : end])
        return " ".join([*self.draw(rng, words, self.size(rng)), anchor_text(article, anchor)])

    def size(self, rng: np.random.Generator) -> int:
        return int(np.searchsorted(self._size_sums, rng.random(), side="right")) + 1

    def draw(self, rng: np.random.Generator, words: Sequence[str], count: int) -> list[str]:
        """Draw `count` of the words with replacement, in proportion to occurrences times idf; none of no words."""
        if not words:
            return []
        highest_idf = np.log(self._documents)
        drawn_words = []
        for _ in range(count):
            # A uniformly drawn occurrence is accepted with probability idf / ln(documents).
            for _ in range(MAX_TRIES):
                word = words[int(rng.integers(len(words)))]
                if rng.random() * highest_idf < self.idf(word):
                    break
            drawn_words.append(word)
        return drawn_words


class PageDraft(NamedTuple):
    """A group that still lacks a query of words of a document, its page."""

    location: tuple[int, int]
    sample: int
    text: str  # what the draft has of its queries
    page_id: str
    documents: list[Span]
    stream: str  # name of the page's random stream


ROWS_AT_ONCE = 4096


def draw_page_words(
    shard: Shard, drafts: Sequence[PageDraft], draws: WordDraws, objective: str, counts: Counts
) -> list[list[str]]:
    """Draw words of the drafts' pages in one pass over the collection's tables; memory holds the drawn words alone.

    Counts documents_without_words.

    Returns:
        The words of each draft; none of a page that the collection lacks.
    """
    positions, streams = by_document((draft.page_id, draft.stream) for draft in drafts)
    document_ids = pa.array(sorted(positions), pa.string())
    drawn_words: list[list[str]] = [[] for _ in streams]
    for documents in shard.collection:
        for batch in DOCUMENTS.stream(documents, ["document_id", "body"], ROWS_AT_ONCE):
            is_drawn = pc.is_in(batch.column("document_id"), value_set=document_ids)
            for row in batch.filter(is_drawn).to_pylist():
                for position in positions[row["document_id"]]:
                    rng = shard.stream(f"{objective} page", streams[position])
                    drawn_words[position] = draws.draw(rng, draws.words(row["body"]), draws.size(rng))
    counts["documents_without_words"] = drawn_words.count([])
    return drawn_words
