"""Weighted queries in Indri's query likelihood: bags of words and sequential dependence.

    a bag of words:         #weight(w₁ q₁ … wₙ qₙ)        (DeepCT, section 3.3)
    sequential dependence:  #weight(0.8 #weight(…) 0.1 #combine(#od1(q₁ q₂) …) 0.1 #combine(#uw8(q₁ q₂) …))

The belief in a node q (a term or a window) is log((c(q, D) + μ·cf(q)/|C|) / (|D| + μ)) with its count in the
document, its count in the collection, and lengths in terms; #weight is the mean of beliefs under its weights, #combine
the mean (Strohman et al., 2005; Metzler and Croft, 2005). cf of what the collection lacks is 1/2. Every document that
holds one node or more is scored, by all of them; terms whose weight is dropped are no nodes.

Queries are cut into words as the documents behind the positions were, with weights and without: term weights belong to
words of `text.words`, and rows of one table should differ by weights alone.

Against Lucene's query likelihood: that one leaves out terms that a document lacks, whose share depends on the
document's length; adds 1 to cf; never goes below 0; and keeps lengths in a byte.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from irpretrain.config.retrieval import DependenceConfig, RetrievalConfig
from irpretrain.contracts import TERM_WEIGHTS
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import Ranking, Run, rank, write_run
from irpretrain.progress import progress
from irpretrain.retrieval.analysis import Analyser, one_line_each
from irpretrain.retrieval.lost_queries import tell_lost_queries
from irpretrain.retrieval.positions import Positions
from irpretrain.text.keyed_texts import read_queries
from irpretrain.text.words import WordKind

UNSEEN = 0.5
"""Collection count of a node that does not occur."""


class Node(NamedTuple):
    """What a query believes in: its share of all weights, and its places in the corpus."""

    weight: float
    places: np.ndarray


class WeightedQuery(NamedTuple):
    """Terms with weights, and the query's terms in order for windows."""

    weights: dict[str, float]
    terms: list[str]


def search_weighted(
    positions: Positions,
    asked: Mapping[str, WeightedQuery],
    dependence: DependenceConfig | None,
    options: RetrievalConfig,
    output: str | Path,
    tag: str,
) -> dict[str, Any]:
    """Retrieve the first `options.depth` documents of each query.

    Args:
        asked: what `read_weighted_queries` returned.
        dependence: weights of the three parts of a sequential dependence query; None for a bag of words.
        options: depth, and of `indri` μ.
        output: TREC run, gzip.
        tag: last column of the run.

    Returns:
        Counts: queries, those without candidates, those whose terms all lost their weight, candidates.
    """
    run: Run = {}
    for name, query in progress(list(asked.items()), "search", "queries"):
        nodes = list(nodes_of(query, dependence, positions))
        if ranking := score(nodes, positions, options.indri.mu, options.depth):
            run[name] = ranking
    return {
        "queries": len(asked),
        "queries_without_candidates": tell_lost_queries(output, asked, run),
        "queries_without_weights": sum(not query.weights for query in asked.values()),
        "candidates": write_run(output, run, tag),
    }


def read_weighted_queries(
    queries: str | Path, weights: str | Path | None, query_words: WordKind, analyser: Analyser
) -> dict[str, WeightedQuery]:
    """Return query → its analysed terms and their weights, those of 0 or less left out.

    Args:
        queries: QUERIES table.
        weights: TERM_WEIGHTS table of the queries' words; None for weights that count how often a term occurs. Words of
            one stem add up.
        query_words: how `weights` cut queries into words (`text.words`).

    Raises:
        InputError: `weights` lacks a query.
    """
    names = read_queries(queries)
    texts = one_line_each(list(names.values()), query_words)
    terms = dict(zip(names, analyser.terms(texts), strict=True))
    if weights is None:
        counted = {
            name: {term: float(query_terms.count(term)) for term in query_terms}
            for name, query_terms in terms.items()
        }
        return {name: WeightedQuery(counted[name], terms[name]) for name in names}
    rows = TERM_WEIGHTS.read(weights, ["document_id", "terms"]).to_pylist()
    words = {row["document_id"]: {t["term"]: t["weight"] for t in row["terms"]} for row in rows}
    missing = [name for name in names if name not in words]
    if missing:
        raise InputError(weights, f"query {missing[0]!r} of {queries} has no weights here")
    analyser.learn(word for name in names for word in words[name])
    return {name: WeightedQuery(_by_term(words[name], analyser), terms[name]) for name in names}


def _by_term(words: Mapping[str, float], analyser: Analyser) -> dict[str, float]:
    sums: dict[str, float] = {}
    for word, weight in words.items():
        for term in analyser.terms_of_word(word) if weight > 0 else ():
            sums[term] = sums.get(term, 0.0) + weight
    return sums


def nodes_of(
    query: WeightedQuery, dependence: DependenceConfig | None, positions: Positions
) -> Iterator[Node]:
    """Yield the nodes of a query; their weights add up to 1. Parts without a node leave their weight to the others."""
    pairs = list(zip(query.terms, query.terms[1:], strict=False)) if dependence else []
    shares = [1.0, 0.0, 0.0]
    if dependence:
        shares = [dependence.terms, dependence.ordered, dependence.unordered]
    parts: list[list[tuple[float, np.ndarray]]] = [
        [(weight, positions.of_term(term)) for term, weight in query.weights.items()],
        [(1.0, positions.ordered(*pair)) for pair in pairs],
        [(1.0, positions.unordered(*pair, dependence.window)) for pair in pairs] if dependence else [],
    ]
    whole = sum(share for share, part in zip(shares, parts, strict=True) if part)
    for share, part in zip(shares, parts, strict=True):
        total = sum(weight for weight, _ in part)
        if share > 0:
            yield from (Node(share / whole * weight / total, places) for weight, places in part)


def score(nodes: list[Node], positions: Positions, mu: float, depth: int) -> Ranking:
    """Return the best documents that hold one node or more, and their beliefs."""
    matches = [np.unique(positions.documents_of(node.places), return_counts=True) for node in nodes]
    documents = np.unique(np.concatenate([held for held, _ in matches])) if matches else np.zeros(0, np.int64)
    if not len(documents):
        return []
    beliefs = np.zeros(len(documents))
    for node, (held, counts) in zip(nodes, matches, strict=True):
        prior = mu * (len(node.places) or UNSEEN) / positions.occurrences
        beliefs += node.weight * np.log(prior)
        beliefs[np.searchsorted(documents, held)] += node.weight * np.log1p(counts / prior)
    weight = sum(node.weight for node in nodes)
    beliefs -= weight * np.log(positions.lengths[documents] + mu)
    kept = np.arange(len(beliefs))
    if len(beliefs) > depth:
        kept = np.flatnonzero(beliefs >= np.partition(beliefs, -depth)[-depth])
    return rank([(positions.documents[documents[row]], float(beliefs[row])) for row in kept])[:depth]
