"""A page of heat maps: what several weightings give the words of a query's passages (DeepCT, Table 5)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.config.weight_views import TermWeightPageConfig
from irpretrain.contracts import TERM_VECTORS
from irpretrain.errors import IntegrityError
from irpretrain.evaluation.qrels import Qrels, read_qrels
from irpretrain.evaluation.runs import Run, place_in, read_run
from irpretrain.report.cases import Case, choose_cases
from irpretrain.report.pages import write_page
from irpretrain.report.weighted_words import (
    Passage,
    legend,
    percent,
    query_terms,
    read_passage,
    shade,
    term_rows,
)
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.weighted_index import analysed_weights
from irpretrain.text.chosen_texts import read_chosen
from irpretrain.text.keyed_texts import read_queries
from irpretrain.text.words import WordKind

TOP_TERMS = 5
"""Heaviest terms that stand with their numbers under a heat map."""


@dataclass(frozen=True)
class ShownWeighting:
    """A weighting of the page: its key and label, and its TERM_VECTORS tables, all shards of the corpus."""

    key: str
    label: str
    vectors: Sequence[str | Path]


@dataclass(frozen=True)
class ShownStage:
    """A first stage of the page: its key and label, and its run over the data set's queries."""

    key: str
    label: str
    run: str | Path


def write_term_weight_page(
    name: str,
    options: TermWeightPageConfig,
    weightings: Sequence[Mapping[str, Any]],
    stages: Sequence[Mapping[str, Any]],
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
        stages: fields of `ShownStage`; the first chooses documents that are left out.
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
    shown = [ShownWeighting(**weighting) for weighting in weightings]
    named = [ShownStage(**stage) for stage in stages]
    runs, judged = [read_run(stage.run) for stage in named], read_qrels(qrels)
    cases = choose_cases(name, options, read_queries(queries), judged, runs)
    shown_documents = {document for case in cases for document in case.documents}
    texts = read_chosen(documents, shown_documents, text)
    analyser = Analyser.of(retrieval, text.word_kind)
    weights = {weighting.key: read_weights(weighting, shown_documents, analyser) for weighting in shown}
    source = PageSource(texts, shown, weights, runs, judged, text.word_kind, analyser, options.deepest)
    views = [source.case(case) for case in cases]
    write_page(
        "term_weight_pages.html.j2",
        output,
        title=f"Term weights: {name}",
        options=options,
        weightings=shown,
        stages=named,
        cases=views,
        legend=legend(options.deepest),
        percent=percent,
    )  # fmt: skip
    passages = [passage for view in views for passage in view["passages"]]
    return {
        "cases": len(views),
        "passages": len(passages),
        "weightings": len(shown),
        "words": sum(passage["words"] for passage in passages),
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


@dataclass(frozen=True)
class PageSource:
    """All that a page is made from.

    Attributes:
        texts: document → text.
        weights: key of a weighting → document → term → weight.
        deepest: share with the deepest shade.
    """

    texts: Mapping[str, str]
    weightings: Sequence[ShownWeighting]
    weights: Mapping[str, Mapping[str, Mapping[str, int]]]
    runs: Sequence[Run]
    judged: Qrels
    words: WordKind
    analyser: Analyser
    deepest: float

    def case(self, case: Case) -> dict[str, Any]:
        """Return what the page shows of a case."""
        asked = query_terms(case.text, self.words, self.analyser)
        passages = [self._passage(case, document, asked) for document in case.documents]
        return {"query": case.query, "text": case.text, "passages": passages}

    def _passage(self, case: Case, document: str, asked: frozenset[str]) -> dict[str, Any]:
        passage = read_passage(self.texts[document], self.words, self.analyser, asked)
        weights = [self.weights[weighting.key][document] for weighting in self.weightings]
        maps = zip(self.weightings, weights, strict=True)
        return {
            "document": document,
            "judged": _judgement(case, document, self.judged),
            "places": [place_in(run.get(case.query or "", []), document) for run in self.runs],
            "words": len(passage.words),
            "rest": passage.rest,
            "maps": [_map_view(weighting, passage, terms, asked, self.deepest) for weighting, terms in maps],
            "rows": term_rows(passage, weights, asked),
            "totals": [sum(terms.values()) for terms in weights],
        }


def _map_view(
    weighting: ShownWeighting,
    passage: Passage,
    weights: Mapping[str, int],
    asked: frozenset[str],
    deepest: float,
) -> dict[str, Any]:
    """One heat map, with what is said of it in words."""
    total = sum(weights.values())
    rows = term_rows(passage, [weights], asked)
    heaviest = sorted((row for row in rows if row.weights[0]), key=lambda row: -row.weights[0])
    return {
        "label": weighting.label,
        "key": weighting.key,
        "words": shade(passage, weights, deepest),
        "total": total,
        "terms": len(weights),
        "asked": sum(weights.get(term, 0) for term in asked) / total if total else None,
        "added": sum(row.weights[0] for row in rows if not row.words) / total if total else 0.0,
        "top": [(row, row.weights[0] / total) for row in heaviest[:TOP_TERMS]],
    }


def _judgement(case: Case, document: str, judged: Qrels) -> str:
    """What the data set says of a document."""
    if case.query is None:
        return ""
    grade = judged.get(case.query, {}).get(document)
    if grade is None:
        return "not judged"
    return f"relevant (judged {grade})" if grade > 0 else f"not relevant (judged {grade})"
