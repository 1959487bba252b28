"""Candidates of another first stage, ranked by Lucene's BM25 or query likelihood.

Wikiformer (Tables 2 to 4), PHP (Table 3) and ARES (Table 4) rank given candidates so. Statistics are those of the whole
index, so a candidate's score is the one that a search of the whole index gives it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import RankingModel, RetrievalConfig
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import Ranking, Run, read_run, write_run
from irpretrain.progress import progress
from irpretrain.retrieval.java import java_class, java_faults
from irpretrain.retrieval.lost_queries import tell_lost_queries
from irpretrain.retrieval.opened_index import IDENTIFIER, OpenedIndex
from irpretrain.text.keyed_texts import read_queries


def rank_candidates(
    index: str | Path,
    queries: str | Path,
    candidates: str | Path,
    model: RankingModel,
    options: RetrievalConfig,
    output: str | Path,
    tag: str,
) -> dict[str, Any]:
    """Rank every candidate of every query.

    Args:
        index: directory of a Lucene index.
        queries: QUERIES table.
        candidates: TREC run; its scores do not count.
        options: parameters of the model, stemmer and stop words as in the index.
        output: TREC run, gzip. A candidate without a word of the query has score 0, the sum of no terms.
        tag: last column of the run.

    Returns:
        Counts: queries, queries without candidates, candidates, those among them without a word of the query.

    Raises:
        InputError: the candidates hold a query that the data set lacks.
        IntegrityError: there is no index, or it was made with another stemmer or other stop words.
        SetupError: Java, the jar or pyjnius is missing, or Java ran out of memory.
        JavaError: Lucene failed.
    """
    texts = read_queries(queries)
    given = read_run(candidates)
    if strangers := sorted(given.keys() - texts.keys()):
        raise InputError(candidates, f"query {strangers[0]!r} is not in the data set ({queries})")
    opened = OpenedIndex(index, model, options)
    terms_of = opened.terms({query: texts[query] for query in given})
    run: Run = {}
    unmatched = 0
    for query, terms in progress(list(terms_of.items()), "rank candidates", "queries"):
        documents = [document for document, _ in given[query]]
        with java_faults(f"ranking candidates by {index}", "give fewer candidates or shorter queries"):
            scores = dict(_matching(opened, opened.bag_of_words(terms), documents)) if terms else {}
        unmatched += len(documents) - len(scores)
        run[query] = [(document, scores.get(document, 0.0)) for document in documents]
    opened.reader.close()
    return {
        "queries": len(texts),
        "queries_without_candidates": tell_lost_queries(output, texts, run),
        "candidates": write_run(output, run, tag),
        "candidates_without_query_words": unmatched,
    }


def _matching(opened: OpenedIndex, bag: Any, documents: Iterable[str]) -> Ranking:
    """Return those of some documents that hold a term of the query, with Lucene's single-precision scores."""
    identifiers = java_class("java.util.ArrayList")()
    for document in documents:
        identifiers.add(java_class("org.apache.lucene.index.Term")(IDENTIFIER, document).bytes())
    chosen = java_class("org.apache.lucene.search.TermInSetQuery")(IDENTIFIER, identifiers)
    occurs = java_class("org.apache.lucene.search.BooleanClause$Occur")
    builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
    builder.add(bag, occurs.MUST)
    builder.add(chosen, occurs.FILTER)
    return opened.ranking(opened.searcher.search(builder.build(), identifiers.size()))
