"""The positive queries of ARES: a data set's queries, each with the documents that are relevant to it (section 4.2)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.contracts import DOCUMENT_QUERIES, DOCUMENTS
from irpretrain.errors import InputError
from irpretrain.evaluation.qrels import read_qrels, relevant
from irpretrain.text.keyed_texts import read_queries

KEYS = ["document_id", "part", "position"]


def judged_queries(
    documents: Sequence[str | Path], queries: str | Path, qrels: str | Path, output: str | Path
) -> dict[str, Any]:
    """Write every (relevant document, query) of a data set, in corpus order.

    Args:
        documents: DOCUMENTS tables of all shards of the data set's corpus, in any order.
        queries: QUERIES table.
        qrels: TREC judgements; documents with a grade of 1 or more are relevant.
        output: a DOCUMENT_QUERIES table; `sample` counts a document's queries in the order of their identifiers (code
            points). Its bytes do not depend on the number of shards.

    Returns:
        Counts: queries and documents written, rows (pairs of them), relevant documents that the corpus lacks, and
            relevance judgements of these and of queries that the QUERIES table lacks, both left out.

    Raises:
        InputError: no relevant document of a query is in the corpus.
    """
    texts = read_queries(queries)
    queries_of: dict[str, list[str]] = defaultdict(list)
    unknown_queries = 0
    for query, grades in read_qrels(qrels).items():
        if query not in texts:
            unknown_queries += len(relevant(grades))
            continue
        for document in relevant(grades):
            queries_of[document].append(query)
    places = _places(documents, queries_of)
    if not places:
        raise InputError(
            qrels,
            "no relevant document of any query is in the corpus",
            remedy="Check that queries, judgements and corpus belong together.",
        )
    documents_in_corpus = {document for *_, document in places}
    rows = DOCUMENT_QUERIES.write(output, _rows(places, queries_of, texts))
    return {
        "rows": rows,
        "queries": len({query for document in documents_in_corpus for query in queries_of[document]}),
        "documents": len(documents_in_corpus),
        "documents_not_in_corpus": len(queries_of) - len(documents_in_corpus),
        "judgements_of_documents_not_in_corpus": sum(
            len(names) for document, names in queries_of.items() if document not in documents_in_corpus
        ),
        "judgements_of_unknown_queries": unknown_queries,
    }


def _places(
    documents: Sequence[str | Path], queries_of: Mapping[str, list[str]]
) -> list[tuple[int, int, str]]:
    """Return (part, position, document) of the wanted documents that the corpus has, in corpus order."""
    names = pa.array(sorted(queries_of), pa.string())
    places = []
    for path in documents:
        for batch in DOCUMENTS.stream(path, KEYS):
            kept = batch.filter(pc.is_in(batch.column("document_id"), value_set=names))
            places += [(row["part"], row["position"], row["document_id"]) for row in kept.to_pylist()]
    return sorted(places)


def _rows(
    places: Sequence[tuple[int, int, str]], queries_of: Mapping[str, list[str]], texts: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for part, position, document in places:
        for sample, query in enumerate(sorted(queries_of[document])):
            yield {
                "part": part,
                "position": position,
                "sample": sample,
                "document_id": document,
                "query_id": query,
                "query": texts[query],
            }
