"""Weighted queries in Indri's query likelihood: bags of words and sequential dependence.

    a bag of words:         #weight(w₁ q₁ … wₙ qₙ)        (DeepCT, section 3.3)
    sequential dependence:  #weight(0.8 #weight(…) 0.1 #combine(#od1(q₁ q₂) …) 0.1 #combine(#uw8(q₁ q₂) …))

The belief in a node q (a term or a window) is log((c(q, D) + μ·cf(q)/|C|) / (|D| + μ)) with its count in the document,
its count in the collection, and lengths in terms; #weight is the mean of beliefs under its weights, #combine the mean
(Strohman et al., 2005; Metzler and Croft, 2005). cf of what the collection lacks is 1/2. Every document with at least
one node is scored by all nodes; terms of dropped weight are no nodes. Queries are cut by `text.words`, with and without
weights, so that rows of one table differ by weights alone.

Lucene's query likelihood differs: it leaves out terms that a document lacks, whose share depends on the document's
length; adds 1 to cf; never goes below 0; and stores lengths in a byte.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from irpretrain.config.retrieval import IndriOptions
from irpretrain.contracts import TERM_WEIGHTS
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import Ranking, Run, rank, without_own, write_run
from irpretrain.foundation.progress import progress
from irpretrain.retrieval.analysis import Analyser, one_line_each
from irpretrain.retrieval.opened_index import log_lost_queries
from irpretrain.retrieval.positions import Positions
from irpretrain.text.texts import read_queries
from irpretrain.text.words import WordKind

# Collection count of a node that does not occur.
UNSEEN = 0.5


# Sequential dependence: weights of single terms, of neighbours as a phrase (#od1) and of neighbours within a window
# (#uw8), and the size of that window in words. From Indri's documentation, after Metzler and Croft (2005); DeepCT
# (section 6) names none.
DEPENDENCE_SHARES = (0.8, 0.1, 0.1)
DEPENDENCE_WINDOW = 8


class QueryNode(NamedTuple):
    """What a query believes in: its share of all weights, and its positions in the corpus."""

    weight: float
    occurrences: np.ndarray


class WeightedQuery(NamedTuple):
    """Terms with weights, and the query's terms in order for windows."""

    weights: dict[str, float]
    terms: list[str]


def search_weighted(
    positions: Positions,
    requested: Mapping[str, WeightedQuery],  # what `read_weighted_queries` returned
    options: IndriOptions,
    depth: int,  # documents of each query
    output: str | Path,  # TREC run, gzip
    tag: str,  # last column of the run
    drop_own: bool = False,  # whether to leave out a query's own document, that of its identifier
) -> dict[str, Any]:
    """Retrieve the first `depth` documents of each query.

    Returns:
        Counts: queries, those without candidates, those whose terms all lost their weight, candidates.
    """
    run: Run = {}
    for name, query in progress(list(requested.items()), "search", "queries"):
        nodes = list(nodes_of(query, options.dependence, positions))
        ranking = score(nodes, positions, options.mu, depth + drop_own)
        if retained := without_own(name, ranking, depth) if drop_own else ranking:
            run[name] = retained
    return {
        "queries": len(requested),
        "queries_without_candidates": log_lost_queries(output, requested, run),
        "queries_without_weights": sum(not query.weights for query in requested.values()),
        "candidates": write_run(output, run, tag),
    }


def read_weighted_queries(
    queries: str | Path, weights: str | Path | None, query_words: WordKind, analyser: Analyser
) -> dict[str, WeightedQuery]:
    """Return query → its analysed terms and their weights, without those of 0 or less.

    Args:
        weights: TERM_WEIGHTS of the queries' words (InputError if a query is missing); None: term counts. Words of one
            stem add up; a repeated word has one weight, as DeepCT weighs terms, not occurrences.
        query_words: how `weights` cut queries into words (`text.words`).
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


def nodes_of(query: WeightedQuery, dependence: bool, positions: Positions) -> Iterator[QueryNode]:
    """Yield the nodes of a query; their weights add up to 1. Parts without a node leave their weight to the others."""
    pairs = list(zip(query.terms, query.terms[1:], strict=False)) if dependence else []
    shares = DEPENDENCE_SHARES if dependence else (1.0, 0.0, 0.0)
    parts: list[list[tuple[float, np.ndarray]]] = [
        [(weight, positions.of_term(term)) for term, weight in query.weights.items()],
        [(1.0, positions.ordered(*pair)) for pair in pairs],
        [(1.0, positions.unordered(*pair, DEPENDENCE_WINDOW)) for pair in pairs],
    ]
    whole = sum(share for share, part in zip(shares, parts, strict=True) if part)
    for share, part in zip(shares, parts, strict=True):
        total = sum(weight for weight, _ in part)
        if share > 0:
            yield from (
                QueryNode(share / whole * weight / total, occurrences) for weight, occurrences in part
            )


def score(nodes: list[QueryNode], positions: Positions, mu: float, depth: int) -> Ranking:
    """Return the best documents that hold one node or more, and their beliefs."""
    matches = [np.unique(positions.documents_of(node.occurrences), return_counts=True) for node in nodes]
    documents = np.unique(np.concatenate([held for held, _ in matches])) if matches else np.zeros(0, np.int64)
    if not len(documents):
        return []
    beliefs = np.zeros(len(documents))
    for node, (held, counts) in zip(nodes, matches, strict=True):
        prior = mu * (len(node.occurrences) or UNSEEN) / positions.occurrences
        beliefs += node.weight * np.log(prior)
        beliefs[np.searchsorted(documents, held)] += node.weight * np.log1p(counts / prior)
    weight = sum(node.weight for node in nodes)
    beliefs -= weight * np.log(positions.lengths[documents] + mu)
    retained = np.arange(len(beliefs))
    if len(beliefs) > depth:
        retained = np.flatnonzero(beliefs >= np.partition(beliefs, -depth)[-depth])
    return rank([(positions.documents[documents[row]], float(beliefs[row])) for row in retained])[:depth]
