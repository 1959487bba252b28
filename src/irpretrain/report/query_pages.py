"""A page of queries: for each the rankings of two models side by side, with judgements and changes of rank."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.config.query_pages import QueryPageConfig
from irpretrain.config.retrieval import RerankingConfig, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.errors import ConfigError
from irpretrain.evaluation.measures import definition, mean, per_query
from irpretrain.evaluation.qrels import Qrels, read_qrels, relevant
from irpretrain.evaluation.runs import Place, Run, merge, place_in, read_run
from irpretrain.report.cases import ChosenQuery, choose_queries, compared, differences_of
from irpretrain.report.cells import difference_text
from irpretrain.report.pages import script_json, write_page
from irpretrain.report.pair_attributions import AttributedPair, attribute_pairs
from irpretrain.report.weighted_words import query_terms, read_passage, snippet
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.chosen_texts import read_chosen
from irpretrain.text.keyed_texts import read_queries
from irpretrain.text.words import WordKind

MOST_UNSHOWN = 20
"""Relevant documents below the shown depth that are named under a query."""
RULES = {
    "named": "named in the configuration",
    "gain": "right better",
    "loss": "right worse",
    "tie": "equal",
    "random": "drawn at random",
}
"""What is said of the rule that chose a query."""


@dataclass(frozen=True)
class ShownRanking:
    """One of the two rankings.

    Attributes:
        key, label: the model's name in the configuration, and in tables.
        detail: its regime and seed.
        paths: its run, or those of all test folds.
        directory: where the model lies, if its scores can be taken apart; None otherwise.
    """

    key: str
    label: str
    detail: str
    paths: Sequence[str | Path]
    directory: str | Path | None

    def read(self) -> Run:
        """Return the run."""
        return merge([read_run(path) for path in self.paths], self.paths)


def write_query_page(
    name: str,
    options: QueryPageConfig,
    rankings: Sequence[Mapping[str, Any]],
    dataset: str,
    measure: str,
    documents: Sequence[str | Path],
    queries: str | Path,
    qrels: str | Path,
    text: TextConfig,
    retrieval: RetrievalConfig,
    reranking: RerankingConfig,
    seed: int,
    output: str | Path,
) -> dict[str, Any]:
    """Write a page of queries.

    Args:
        rankings: fields of `ShownRanking`, left and right.
        dataset: the data set's name in tables.
        measure: of each query.
        documents: DOCUMENTS tables of the data set's corpus.
        text: fields of a document's text, and what a word is.
        retrieval: stemmer and stop words of the index, by which words of a query are found in documents.
        reranking: lengths, threads and device of attributions.

    Returns:
        Counts: queries of the page and of the data set, documents shown, pairs with attributions, bytes; on how many
        queries right is better, equal, and worse.

    Raises:
        ConfigError: see `cases.choose_queries`; or the page is larger than `options.megabytes`.
        InputError: a run is not there or not a run, or the corpus lacks a document.
        SetupError: Java or the jar is missing.
    """
    sides = [ShownRanking(**ranking) for ranking in rankings]
    runs, judged, texts = [side.read() for side in sides], read_qrels(qrels), read_queries(queries)
    [left], [right] = (per_query(run, judged, [measure]).values() for run in runs)
    chosen = choose_queries(name, options, texts, left, right, seed)
    shown = {query: shown_documents(runs, query, options.depth) for query, _ in chosen}
    analyser = Analyser.of(retrieval, text.word_kind)
    source = PageSource(
        options, texts, runs, judged, [left, right],
        read_texts(documents, {document for some in shown.values() for document in some}, text),
        text.word_kind, analyser,
    )  # fmt: skip
    views = [source.query(case, shown[case.query]) for case in chosen]
    pairs = source.pairs(chosen, shown)
    models = [side.directory for side in sides]
    attributed = attribute_pairs(name, options, models, texts, pairs, documents, text, reranking)
    outcomes = compared(differences_of(left, right))
    size = write_page(
        "query_pages.html.j2",
        output,
        options.megabytes * 1e6,
        title=f"Queries: {name}",
        sides=sides,
        options=options,
        dataset=dataset,
        measure=definition(measure),
        means=[mean(values) for values in (left, right)],
        outcomes=outcomes,
        views=views,
        rules=RULES,
        difference=difference_text,
        data=script_json(_data(options, sides, measure, views, attributed)),
    )  # fmt: skip
    _check_size(name, options, size / 1e6, len(views))
    return {
        "queries": len(views),
        "queries_of_the_data_set": len(texts),
        "documents": sum(len(view["documents"]) for view in views),
        "attributed_pairs": len(attributed),
        "bytes": size,
        **outcomes,
    }


def shown_documents(runs: Sequence[Run], query: str, depth: int) -> list[str]:
    """Return the documents that some ranking has among its first `depth`, those of the first ranking first."""
    return list(dict.fromkeys(document for run in runs for document, _ in run.get(query, [])[:depth]))


def read_texts(
    documents: Sequence[str | Path], identifiers: Collection[str], text: TextConfig
) -> dict[str, tuple[str, str]]:
    """Return title and other text of each wanted document.

    Raises:
        InputError: the corpus lacks one.
    """
    others = [field for field in text.fields if field != "title"] or ["body"]
    titles, bodies = (
        read_chosen(documents, identifiers, text.model_copy(update={"fields": fields}))
        for fields in (["title"], others)
    )
    return {document: (title, bodies[document]) for document, title in titles.items()}


@dataclass(frozen=True)
class PageSource:
    """All that a page is made from.

    Attributes:
        texts: query → text.
        values: query → value of the measure, of left and right; queries without judgements are not in it.
        documents: document → title, other text.
    """

    options: QueryPageConfig
    texts: Mapping[str, str]
    runs: Sequence[Run]
    judged: Qrels
    values: Sequence[Mapping[str, float]]
    documents: Mapping[str, tuple[str, str]]
    words: WordKind
    analyser: Analyser

    def query(self, case: ChosenQuery, shown: Sequence[str]) -> dict[str, Any]:
        """Return what the page shows of a query, as plain values for its script."""
        asked = query_terms(self.texts[case.query], self.words, self.analyser)
        numbers = {document: number for number, document in enumerate(shown)}
        rankings = [run.get(case.query, []) for run in self.runs]
        unshown = self._unshown(case.query, set(shown))
        return {
            "id": case.query,
            "text": self.texts[case.query],
            "rule": case.rule,
            "values": [values[case.query] for values in self.values] if case.query in self.judged else None,
            "sides": [
                [numbers[document] for document, _ in ranking[: self.options.depth]] for ranking in rankings
            ],
            "sizes": [len(ranking) for ranking in rankings],
            "documents": [self._document(case.query, document, asked) for document in shown],
            "unshown": unshown[:MOST_UNSHOWN],
            "more": max(0, len(unshown) - MOST_UNSHOWN),
        }

    def _document(self, query: str, document: str, asked: frozenset[str]) -> dict[str, Any]:
        title, body = self.documents[document]
        passage = read_passage(body, self.words, self.analyser, asked)
        places = self._places(query, document)
        return {
            "id": document,
            "title": title,
            "snippet": [[text, int(marked)] for text, marked in snippet(passage, self.options.snippet_words)],
            "grade": self.judged.get(query, {}).get(document),
            "ranks": [place.rank if place else None for place in places],
            "scores": [round(place.score, 4) if place else None for place in places],
        }

    def _unshown(self, query: str, shown: Collection[str]) -> list[dict[str, Any]]:
        """Relevant documents that neither ranking shows, highest grade first."""
        grades = self.judged.get(query, {})
        missing = sorted(relevant(grades) - set(shown), key=lambda name: (-grades[name], name))
        return [
            {
                "id": name,
                "grade": grades[name],
                "ranks": [place.rank if place else None for place in self._places(query, name)],
            }
            for name in missing
        ]

    def _places(self, query: str, document: str) -> list[Place | None]:
        """Where each ranking has a document."""
        return [place_in(run.get(query, []), document) for run in self.runs]

    def pairs(
        self, chosen: Sequence[ChosenQuery], shown: Mapping[str, Sequence[str]]
    ) -> list[AttributedPair]:
        """Return the pairs of query and document that have attributions, where any are asked for."""
        asked = self.options.attributions
        if asked is None:
            return []
        pairs = []
        for place, (query, _) in enumerate(chosen[: asked.queries]):
            highest = set(shown_documents(self.runs, query, min(asked.documents, self.options.depth)))
            grades = self.judged.get(query, {})
            pairs += [
                AttributedPair(place, number, query, document)
                for number, document in enumerate(shown[query])
                if document in highest or grades.get(document, 0) > 0
            ]
        return pairs


def _data(
    options: QueryPageConfig,
    sides: Sequence[ShownRanking],
    measure: str,
    views: Sequence[Mapping[str, Any]],
    attributed: Mapping[str, Any],
) -> dict[str, Any]:
    """What the page's script reads."""
    return {
        "labels": [side.label for side in sides],
        "details": [side.detail for side in sides],
        "measure": measure,
        "rules": RULES,
        "queries": views,
        "attributions": attributed,
        "how": {
            "dataset": options.dataset,
            "candidates": options.candidates,
            "models": [side.key for side in sides if side.directory is not None],
        },
    }


def _check_size(name: str, options: QueryPageConfig, size: float, queries: int) -> None:
    if size > options.megabytes:
        raise ConfigError(
            f"query_pages.{name}: the page would have {size:.2f} MB ({queries} queries, {options.depth} documents of "
            f"each ranking, {options.snippet_words} words of each), more than megabytes: {options.megabytes:g}; "
            "show fewer queries, lower depth, snippet_words or attributions, or raise megabytes"
        )
