"""TextRank as term weights (Mihalcea and Tarau, 2004; DeepCT, section 4).

A text's words are the vertices of a graph; edges count how often words occur close together; a word's weight is its
PageRank. DeepCT's authors used PyTextRank, which takes nouns and adjectives by a trained model; here all words but stop
words take part, and words of one stem are one vertex, as PyTextRank's lemmas are. The ranks equal networkx's, which
takes milliseconds per passage.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.contracts import TERM_VECTORS
from irpretrain.foundation.progress import progress
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.texts import document_texts

# Mihalcea and Tarau (2004): the damping of their section 2; a window of 2 to 10 words (section 3.1).
DAMPING = 0.85
WINDOW = 4

# A weight is round(SCALE x PageRank), as DeepCT's N; weights below 1 are dropped.
SCALE = 100

# Steps of PageRank at most; with this damping the tolerance is reached after about a hundred.
MAX_ROUNDS = 200

# Sum of all ranks' changes in a step at which PageRank ends.
TOLERANCE = 1e-9


def weigh_by_textrank(
    documents: str | Path,  # DOCUMENTS table, one shard
    retrieval: RetrievalConfig,
    text: TextConfig,
    output: str | Path,  # TERM_VECTORS table; words with one stem are merged into the first
) -> dict[str, int]:
    """Weigh the words of documents.

    Returns:
        Counts: documents, documents without terms, terms, terms dropped because their weight is below 1.
    """
    splitter, analyser = Analyser.words_only(text.word_kind), Analyser.of(retrieval, text.word_kind)
    counts = dict.fromkeys(("documents", "documents_without_terms", "terms", "terms_dropped"), 0)

    def rows() -> Iterator[dict[str, Any]]:
        for texts in document_texts(documents, text):
            word_lists = splitter.terms([keyed.text for keyed in texts])
            analyser.learn(word for words in word_lists for word in words)
            for keyed, words in zip(texts, word_lists, strict=True):
                weights = _word_weights(words, analyser)
                kept_weights = {word: weight for word, weight in weights.items() if weight >= 1}
                counts["documents"] += 1
                counts["documents_without_terms"] += not kept_weights
                counts["terms"] += len(kept_weights)
                counts["terms_dropped"] += len(weights) - len(kept_weights)
                terms = [{"term": word, "weight": kept_weights[word]} for word in sorted(kept_weights)]
                yield keyed.key | {"terms": terms}

    TERM_VECTORS.write(output, progress(rows(), "weigh by TextRank", "documents"))
    return counts


def _word_weights(words: list[str], analyser: Analyser) -> dict[str, int]:
    stems = [" ".join(analyser.terms_of_word(word)) for word in words]
    word_of_stem: dict[str, str] = {}
    for stem, word in zip(stems, words, strict=True):
        if stem:
            word_of_stem.setdefault(stem, word)
    ranks = text_rank(stems, WINDOW, DAMPING)
    return {word_of_stem[stem]: int(np.rint(SCALE * rank)) for stem, rank in ranks.items()}


def text_rank(words: list[str], window: int, damping: float) -> dict[str, float]:
    """Return the PageRank of each different word of a text; the ranks add up to 1.

    Args:
        words: of the text in order; an empty one is a word that takes no part but keeps its position.
        window: words within a window of this size are linked; 2 links neighbours alone.
        damping: probability of following a link; otherwise, and from a word without links, any word follows.
    """
    vertex_of_word: dict[str, int] = {"": -1}
    vertices = np.fromiter(
        (vertex_of_word.setdefault(word, len(vertex_of_word) - 1) for word in words), np.int32, len(words)
    )
    del vertex_of_word[""]
    ranks = _page_rank(vertices, len(vertex_of_word), window, damping)
    return dict(zip(vertex_of_word, ranks.tolist(), strict=True))


@compiled
def _page_rank(vertex_at: np.ndarray, vertex_count: int, window: int, damping: float) -> np.ndarray:
    """Ranks of vertices; `vertex_at` has the vertex at each position of the text, -1 for none."""
    max_links = len(vertex_at) * (window - 1)
    sources, targets = np.empty(2 * max_links, np.int32), np.empty(2 * max_links, np.int32)
    degrees = np.zeros(vertex_count)
    link_count = 0
    for position in range(len(vertex_at)):
        for next_position in range(position + 1, min(position + window, len(vertex_at))):
            first, second = vertex_at[position], vertex_at[next_position]
            if first >= 0 and second >= 0 and first != second:
                sources[link_count], targets[link_count] = first, second
                sources[link_count + 1], targets[link_count + 1] = second, first
                link_count += 2
                degrees[first] += 1
                degrees[second] += 1
    ranks = np.full(vertex_count, 1.0 / max(vertex_count, 1))
    for _ in range(MAX_ROUNDS):
        lone_rank = 0.0
        for vertex in range(vertex_count):
            if degrees[vertex] == 0:
                lone_rank += ranks[vertex]
        next_ranks = np.full(vertex_count, (1.0 - damping + damping * lone_rank) / max(vertex_count, 1))
        for link in range(link_count):
            next_ranks[targets[link]] += damping * ranks[sources[link]] / degrees[sources[link]]
        change = np.abs(next_ranks - ranks).sum()
        ranks = next_ranks
        if change < TOLERANCE:
            break
    return ranks
