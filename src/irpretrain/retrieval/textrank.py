"""TextRank as term weights (Mihalcea and Tarau, 2004; DeepCT, section 4).

A text's words are the vertices of a graph; words that occur close together are linked, as often as they do; a word's
weight is its PageRank. DeepCT's authors used PyTextRank, which needs a trained model to tell nouns and adjectives from
other words; here all words but stop words take part, and words of one stem are one vertex, as PyTextRank's lemmas are.
The ranks are networkx's, computed by a kernel of our own: networkx takes milliseconds a passage.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.config.retrieval import RetrievalConfig, TextRankConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import TERM_VECTORS
from irpretrain.progress import progress
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.keyed_texts import document_texts

DOCUMENTS_AT_ONCE = 1024
"""Documents in memory at a time."""

MOST_ROUNDS = 200
"""Steps of PageRank at most; with a damping of 0.85 the tolerance is reached after about a hundred."""
TOLERANCE = 1e-9
"""Sum of all ranks' changes in a step at which PageRank ends."""


def weigh_by_textrank(
    documents: str | Path,
    options: TextRankConfig,
    retrieval: RetrievalConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, int]:
    """Weigh the words of documents.

    Args:
        documents: DOCUMENTS table, one shard.
        output: TERM_VECTORS table; of words with one stem the first stands for all.

    Returns:
        Counts: documents, documents without terms, terms, terms dropped because their weight is below 1.
    """
    cut, analyser = Analyser.words_only(text.word_kind), Analyser.of(retrieval, text.word_kind)
    counts = dict.fromkeys(("documents", "documents_without_terms", "terms", "terms_dropped"), 0)

    def rows() -> Iterator[dict[str, Any]]:
        for texts in document_texts(documents, text, DOCUMENTS_AT_ONCE):
            word_lists = cut.terms([keyed.text for keyed in texts])
            analyser.learn(word for words in word_lists for word in words)
            for keyed, words in zip(texts, word_lists, strict=True):
                weights = _word_weights(words, analyser, options)
                kept = {word: weight for word, weight in weights.items() if weight >= 1}
                counts["documents"] += 1
                counts["documents_without_terms"] += not kept
                counts["terms"] += len(kept)
                counts["terms_dropped"] += len(weights) - len(kept)
                yield keyed.key | {"terms": [{"term": word, "weight": kept[word]} for word in sorted(kept)]}

    TERM_VECTORS.write(output, progress(rows(), "weigh by TextRank", "documents"))
    return counts


def _word_weights(words: list[str], analyser: Analyser, options: TextRankConfig) -> dict[str, int]:
    """Return the first word of each stem → its scaled PageRank."""
    stems = [" ".join(analyser.terms_of_word(word)) for word in words]
    first: dict[str, str] = {}
    for stem, word in zip(stems, words, strict=True):
        if stem:
            first.setdefault(stem, word)
    ranks = text_rank(stems, options.window, options.damping)
    return {first[stem]: int(np.rint(options.scale * rank)) for stem, rank in ranks.items()}


def text_rank(words: list[str], window: int, damping: float) -> dict[str, float]:
    """Return the PageRank of each different word of a text; the ranks add up to 1.

    Args:
        words: of the text in order; an empty one stands for a word that takes no part but keeps its place.
        window: words that occur in a window of so many words are linked; 2 links neighbours alone.
        damping: chance to follow a link; otherwise, and from a word without links, any word follows.
    """
    numbers: dict[str, int] = {"": -1}
    places = np.fromiter((numbers.setdefault(word, len(numbers) - 1) for word in words), np.int32, len(words))
    del numbers[""]
    ranks = _page_rank(places, len(numbers), window, damping)
    return dict(zip(numbers, ranks.tolist(), strict=True))


@compiled
def _page_rank(places: np.ndarray, vertices: int, window: int, damping: float) -> np.ndarray:
    """Ranks of `vertices` vertices, of which `places` names the one at each place of the text, -1 for none."""
    most = len(places) * (window - 1)
    sources, targets = np.empty(2 * most, np.int32), np.empty(2 * most, np.int32)
    degrees = np.zeros(vertices)
    links = 0
    for place in range(len(places)):
        for other in range(place + 1, min(place + window, len(places))):
            first, second = places[place], places[other]
            if first >= 0 and second >= 0 and first != second:
                sources[links], targets[links] = first, second
                sources[links + 1], targets[links + 1] = second, first
                links += 2
                degrees[first] += 1
                degrees[second] += 1
    ranks = np.full(vertices, 1.0 / max(vertices, 1))
    for _ in range(MOST_ROUNDS):
        lone = 0.0
        for vertex in range(vertices):
            if degrees[vertex] == 0:
                lone += ranks[vertex]
        following = np.full(vertices, (1.0 - damping + damping * lone) / max(vertices, 1))
        for link in range(links):
            following[targets[link]] += damping * ranks[sources[link]] / degrees[sources[link]]
        change = np.abs(following - ranks).sum()
        ranks = following
        if change < TOLERANCE:
            break
    return ranks
