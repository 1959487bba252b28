"""A page of heat maps: what several weightings give the words of a query's passages (DeepCT, Table 5)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.config.experiments import TermWeightPageConfig
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import TERM_VECTORS
from irpretrain.errors import IntegrityError
from irpretrain.evaluation.runs import read_qrels, read_run
from irpretrain.report.cases import choose_cases
from irpretrain.report.pages import write_page
from irpretrain.report.weighted_words import (
    legend,
    query_terms,
    read_passage,
    shade,
)
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.weighted_index import analysed_weights
from irpretrain.text.texts import read_chosen, read_queries


@dataclass(frozen=True)
class ShownWeighting:
    """A weighting of the page: its key and label, and its TERM_VECTORS tables, all shards of the corpus."""

    key: str
    label: str
    vectors: Sequence[str | Path]


def write_term_weight_page(
    name: str,
    options: TermWeightPageConfig,
    weightings: Sequence[Mapping[str, Any]],
    runs: Sequence[str | Path],
    documents: Sequence[str | Path],
    queries: str | Path,
    qrels: str | Path,
    text: TextConfig,
    retrieval: RetrievalConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write a page of heat maps.

    Args:
        weightings: fields of `ShownWeighting`, in the order of the page.
        runs: of the page's first stages; the first chooses documents that are left out.
        documents: DOCUMENTS tables of the data set's corpus.
        queries: QUERIES table.
        text: fields of a document's text, and what a word is.
        retrieval: stemmer and stop words of the indexes.

    Returns:
        Counts: cases and passages of the page, weightings, words.

    Raises:
        ConfigError: see `cases.choose_cases`.
        InputError: the corpus lacks a document.
        IntegrityError: a weighting lacks one.
        SetupError: Java or the jar is missing.
    """
    displayed = [ShownWeighting(**weighting) for weighting in weightings]
    cases = choose_cases(
        name, options, read_queries(queries), read_qrels(qrels), [read_run(run) for run in runs]
    )
    displayed_documents = {document for case in cases for document in case.documents}
    texts = read_chosen(documents, displayed_documents, text)
    analyser = Analyser.of(retrieval, text.word_kind)
    weights = {
        weighting.key: read_weights(weighting, displayed_documents, analyser) for weighting in displayed
    }
    views = list[dict[str, Any]]()
    words = 0
    for case in cases:
        in_query = query_terms(case.text, text.word_kind, analyser)
        passages = {
            document: read_passage(texts[document], text.word_kind, analyser, in_query)
            for document in case.documents
        }
        maps = {
            document: [(w.label, shade(passage, weights[w.key][document])) for w in displayed]
            for document, passage in passages.items()
        }
        views.append({"case": case, "passages": passages, "maps": maps})
        words += sum(len(passage.words) for passage in passages.values())
    write_page(
        "term_weight_pages.html.j2",
        output,
        title=f"Term weights: {name}",
        views=views,
        legend=legend(),
    )
    return {
        "cases": len(views),
        "passages": sum(len(case.documents) for case in cases),
        "weightings": len(displayed),
        "words": words,
        "queries": [case.query or case.text for case in cases],
    }


def read_weights(
    weighting: ShownWeighting, identifiers: Collection[str], analyser: Analyser
) -> dict[str, dict[str, int]]:
    """Return the weights of the terms of each wanted document, as an index holds them.

    Raises:
        IntegrityError: the weighting lacks a document.
    """
    counts = {"words": 0, "words_without_terms": 0}
    weights: dict[str, dict[str, int]] = {}
    for path in weighting.vectors:
        batches = TERM_VECTORS.stream_chosen(path, identifiers, ["document_id", "terms"])
        weights.update(analysed_weights(batches, path, analyser, counts))
    if missing := sorted(set(identifiers) - weights.keys()):
        raise IntegrityError(
            weighting.vectors[0],
            f"document {missing[0]!r} of the corpus has no row of weights",
            remedy="Delete the term vectors of this weighting and run the workflow again.",
        )
    return weights
