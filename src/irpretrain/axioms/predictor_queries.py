"""The queries of a preference predictor: judged ones, and pseudo-queries as long as they (ARES, sections 4.1 and 4.2).

The positive queries of ARES: a data set's queries, each with the documents that are relevant to it (section 4.2).
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.contrastive_draws import draw_queries
from irpretrain.axioms.pseudo_queries import PseudoQuerySampler, at_temperature
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.evaluation.runs import read_qrels, relevant
from irpretrain.foundation.contracts import AXIOM_VALUES, DOCUMENT_QUERIES, DOCUMENTS
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.progress import notice, progress
from irpretrain.foundation.randomness import stream_keys
from irpretrain.text.terms import read_terms
from irpretrain.text.texts import read_queries
from irpretrain.text.word_store import WordDocuments

DOCUMENT_KEYS = ["document_id", "part", "position"]


def judged_queries(
    documents: Sequence[str | Path], queries: str | Path, qrels: str | Path, output: str | Path
) -> dict[str, Any]:
    """Write every (relevant document, query) of a data set, in corpus order.

    Args:
        documents: DOCUMENTS tables of all shards of the data set's corpus, in any order.
        qrels: TREC judgements; grades of 1 or more are relevant.
        output: a DOCUMENT_QUERIES table; `sample` counts a document's queries by identifier (code points). Its bytes do
            not depend on the number of shards.

    Returns:
        Counts: queries and documents written, rows, relevant documents outside the corpus, and relevance judgements of
        these and of unknown queries, both left out.

    Raises:
        InputError: no relevant document of a query is in the corpus.
    """
    texts = read_queries(queries)
    queries_of_document: dict[str, list[str]] = defaultdict(list)
    unknown_count = 0
    for query, grades in read_qrels(qrels).items():
        if query not in texts:
            unknown_count += len(relevant(grades))
            continue
        for document in relevant(grades):
            queries_of_document[document].append(query)
    document_keys = _keys(documents, queries_of_document)
    if not document_keys:
        remedy = "Check that queries, judgements and corpus belong together."
        raise InputError(qrels, "no relevant document of any query is in the corpus", remedy=remedy)
    rows = (
        {**key, "sample": sample, "query_id": query, "query": texts[query]}
        for key in document_keys
        for sample, query in enumerate(sorted(queries_of_document[key["document_id"]]))
    )
    row_count = DOCUMENT_QUERIES.write(output, rows)
    documents_in_corpus = {key["document_id"] for key in document_keys}
    absent_documents = queries_of_document.keys() - documents_in_corpus
    return {
        "rows": row_count,
        "queries": len({query for name in documents_in_corpus for query in queries_of_document[name]}),
        "documents": len(documents_in_corpus),
        "documents_not_in_corpus": len(absent_documents),
        "judgements_of_documents_not_in_corpus": sum(
            len(queries_of_document[name]) for name in absent_documents
        ),
        "judgements_of_unknown_queries": unknown_count,
    }


def _keys(documents: Sequence[str | Path], document_ids: Collection[str]) -> list[dict[str, Any]]:
    """Return the part, position and identifier of those of the documents that the corpus has, in corpus order."""
    keys: list[dict[str, Any]] = []
    for path in documents:
        for batch in DOCUMENTS.stream_documents(path, document_ids, DOCUMENT_KEYS):
            keys += batch.to_pylist()
    return sorted(keys, key=lambda key: (key["part"], key["position"]))


# Pseudo-queries with as many terms as a judged query has (ARES, sections 4.1 and 4.2): the negatives of a predictor.
#
# A judged query may be longer than any pseudo-query of its document. A predictor of such pairs learns lengths.


# Name of the random streams: (seed, "negative-queries", document id U+001F query id).
STAGE = "negative-queries"
QUERIES_AT_ONCE = 2048
QUERY_KEYS = ["part", "position", "sample", "document_id", "query_id", "terms"]


def sample_negative_queries(
    judged_values: str | Path,  # AXIOM_VALUES of judged queries; those without a term get no pseudo-query
    word_stores: list[str],  # word stores that hold their documents
    statistics: str | Path,  # merged WORD_COUNTS of the collection
    options: PseudoQueriesConfig,  # how words are drawn; `repeats` and the lengths have no effect
    axioms: AxiomsConfig,  # which words are terms
    seed: int,
    output: str | Path,  # a DOCUMENT_QUERIES table in corpus order; query_id is that of the judged query
    # Output of `irpretrain.axioms.calibration` for the collection, if the options configure it.
    temperature: str | Path | None = None,
) -> dict[str, Any]:
    """Draw `per_document` pseudo-queries for each judged query, with its document and its number of terms.

    Returns:
        Counts: judged queries, pseudo-queries, their words and words outside their document, and judged queries without
        pseudo-queries: without a term, or with more terms than the words that can be drawn have.

    Raises:
        ConfigError, InputError, IntegrityError: see `sample_pseudo_queries`.
    """
    sampler = PseudoQuerySampler(statistics, at_temperature(options, temperature), seed)
    terms = read_terms(statistics, axioms.stop_list, axioms.stemming)
    stores = WordDocuments.open(word_stores, len(sampler.tables.position_of))
    table = AXIOM_VALUES.read(judged_values, QUERY_KEYS)
    queries_with_terms = table.filter(pc.greater(table["terms"], 0)).combine_chunks()
    rows = pa.array(stores.rows(queries_with_terms["document_id"]))
    queries_with_terms = queries_with_terms.append_column("row", rows)
    counts = {
        "judged_queries": table.num_rows,
        "judged_queries_without_terms": table.num_rows - queries_with_terms.num_rows,
        "judged_queries_too_long": 0,
        "queries": 0,
        "words": 0,
        "words_outside_document": 0,
    }
    query_count = queries_with_terms.num_rows
    starts = range(0, query_count, QUERIES_AT_ONCE)
    batches = [queries_with_terms.slice(start, QUERIES_AT_ONCE) for start in starts]
    with DOCUMENT_QUERIES.writing(output) as writer:
        for batch in progress(batches, "sample negative queries", "queries", query_count, size=len):
            query_names = pc.binary_join_element_wise(batch["document_id"], batch["query_id"], "\x1f")
            drawn_queries = draw_queries(
                *stores.gather(batch["row"].to_numpy()),
                stream_keys(seed, STAGE, query_names.to_pylist()),
                batch["terms"].to_numpy().astype(np.int64),
                terms.term_of[sampler.rows],
                sampler.tables,
                sampler.rules,
            )
            # A document's pseudo-queries are numbered through all its judged queries.
            writer.add(sampler.table(batch, drawn_queries))
            counts["judged_queries_too_long"] += drawn_queries.cut_count
            counts["queries"] += len(drawn_queries.document_of_query)
            counts["words"] += len(drawn_queries.words)
            counts["words_outside_document"] += drawn_queries.outside_count
    if counts["judged_queries_too_long"]:
        notice(
            f"negative queries of {Path(judged_values).parent.name}",
            f"left out: {counts['judged_queries_too_long']:,} of {table.num_rows:,} judged queries, which have more "
            "terms than can be drawn for their documents (pseudo_queries.support, minimum_count)",
        )
    return counts
