"""TextRank as term weights (Mihalcea and Tarau, 2004; DeepCT, section 4).

A text's words are the vertices of a graph; words that occur close together are linked, as often as they do; a word's
weight is its PageRank. DeepCT's authors used PyTextRank, which needs a trained model to tell nouns and adjectives from
other words; here all words but stop words take part, and words of one stem are one vertex, as PyTextRank's lemmas are.
PageRank itself is networkx's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.retrieval import RetrievalConfig, TextRankConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, TERM_VECTORS
from irpretrain.progress import progress
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.compose import texts_of

DOCUMENTS_AT_ONCE = 1024
"""Documents in memory at a time."""


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
        options: window, damping, scale.
        retrieval: stemmer and stop words of the index.
        text: which fields of a document make up its text.
        output: TERM_VECTORS table; of words with one stem the first stands for all.

    Returns:
        Counts: documents, documents without terms, terms, terms dropped because their weight is below 1.
    """
    cut, analyser = Analyser.words_only(), Analyser.of(retrieval)
    counts = dict.fromkeys(("documents", "documents_without_terms", "terms", "terms_dropped"), 0)

    def rows() -> Iterator[dict[str, Any]]:
        columns = list(dict.fromkeys(["document_id", "part", "position", *text.fields]))
        for batch in DOCUMENTS.stream(documents, columns, DOCUMENTS_AT_ONCE):
            found = cut.terms(texts_of(batch, text))
            analyser.learn(word for words in found for word in words)
            for row, words in enumerate(found):
                weights = _word_weights(words, analyser, options)
                kept = {word: weight for word, weight in weights.items() if weight >= 1}
                counts["documents"] += 1
                counts["documents_without_terms"] += not kept
                counts["terms"] += len(kept)
                counts["terms_dropped"] += len(weights) - len(kept)
                yield {
                    "part": batch.column("part")[row].as_py(),
                    "position": batch.column("position")[row].as_py(),
                    "document_id": batch.column("document_id")[row].as_py(),
                    "terms": [{"term": word, "weight": kept[word]} for word in sorted(kept)],
                }

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
    return {first[stem]: int(np.floor(options.scale * rank + 0.5)) for stem, rank in ranks.items()}


def text_rank(words: list[str], window: int, damping: float) -> dict[str, float]:
    """Return the PageRank of each different word of a text; the ranks add up to 1.

    Args:
        words: of the text in order; an empty one stands for a word that takes no part but keeps its place.
        window: words that occur in a window of so many words are linked; 2 links neighbours alone.
        damping: chance to follow a link.
    """
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(word for word in words if word)
    for place, word in enumerate(words):
        for other in words[place + 1 : place + window]:
            if word and other and word != other:
                count = graph.edges[word, other]["weight"] if graph.has_edge(word, other) else 0
                graph.add_edge(word, other, weight=count + 1)
    ranks: dict[str, float] = networkx.pagerank(graph, damping) if graph else {}
    return ranks
