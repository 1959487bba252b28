"""The searches on the report's page: for each panel of the headline table its runs, some queries with the value of each
run, and the first documents that each run finds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

from irpretrain.config.labels import BM25_MARK, CONTROL_MARK, DEFAULT_CANDIDATES
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.evaluation.significance import wins_ties_losses
from irpretrain.foundation.atomic import load_json
from irpretrain.foundation.errors import MAKE_AGAIN, refusing
from irpretrain.report.cells import OurValue, Panel, Table
from irpretrain.report.difference_plot import compared_rows, comparison_text
from irpretrain.report.pages import script_json
from irpretrain.report.scores import Results, RunName, Scores
from irpretrain.report.searches import MAX_CHARACTERS, MAX_DOCUMENTS

# Most bytes of searches in a page; queries beyond are left out.
MAX_BYTES = 2_000_000
# Decimals of a value. The page displays three, as tables do of the exact value: rounding twice shall not show.
DIGITS = 6


class SearchResults:
    """What experiments on a data set found: queries, documents and rankings, by name."""

    def __init__(self) -> None:
        self.judged = 0
        self.queries: dict[str, tuple[str, int]] = {}
        self.documents: dict[str, tuple[str, int]] = {}
        self.rankings: dict[RunName, dict[str, list[Any]]] = {}
        self.grades: dict[str, dict[str, int]] = {}
        self.marks: dict[str, dict[str, list[int]]] = {}
        # (query, model) → document, and what `coloured_texts.write_attributions` writes of its zero-shot score.
        self.attributions: dict[tuple[str, str], list[Any]] = {}

    def add(self, dataset: str, content: Mapping[str, Any]) -> None:
        """Add the searches of an experiment, which chose the same queries as others on the data set."""
        query_ids = [query_id for query_id, _, _ in content["queries"]]
        self.judged = content["judged"]
        self.queries |= {
            query_id: (text, relevant_count) for query_id, text, relevant_count in content["queries"]
        }
        self.documents |= {
            document_id: (excerpt, length) for document_id, (excerpt, length) in content["documents"].items()
        }
        for field, values_by_query in (("grades", self.grades), ("marks", self.marks)):
            for query_id, document_values in zip(query_ids, content[field], strict=True):
                values_by_query.setdefault(query_id, {}).update(document_values)
        for row in content["runs"]:
            run = RunName(dataset, row["candidates"], row["model"], row["regime"])
            self.rankings[run] = dict(zip(query_ids, row["rankings"], strict=True))


def read_searches(
    datasets: Mapping[str, str],
    paths: Iterable[str | Path],
    attributions: Iterable[tuple[str, str | Path]] = (),
) -> dict[str, SearchResults]:
    """Return what `results/searches/<experiment>.json` hold, by data set.

    Args:
        datasets: experiment → data set.
        paths: these files.
        attributions: data set and file of each `results/attributions/<page>.json`.

    Raises:
        InputError: a file holds no searches, or no attributions.
    """
    searches: dict[str, SearchResults] = {}
    for path in map(Path, paths):
        dataset = datasets[path.stem]
        content = load_json(path, MAKE_AGAIN)
        with refusing(path, "these are no searches of an experiment", MAKE_AGAIN):
            searches.setdefault(dataset, SearchResults()).add(dataset, content)
    for dataset, attributions_path in attributions:
        content = load_json(attributions_path, MAKE_AGAIN)
        with refusing(attributions_path, "these are no attributions of scores", MAKE_AGAIN):
            if dataset in searches:
                for model, sources in content["models"].items():
                    searches[dataset].attributions[content["query"], model] = [content["document"], *sources]
    return searches


def search_views(
    headline: Table, scores: Scores, searches: Mapping[str, SearchResults], max_bytes: int = MAX_BYTES
) -> dict[str, Any]:
    """Return what the page shows as plain values; `sets` is empty where nothing was searched.

    Queries are those that the experiments chose, as many of each data set as `max_bytes` of JSON hold.
    """
    panels = [(panel, rows) for panel in headline.panels if (rows := compared_rows(panel))]
    panels = [(panel, rows) for panel, rows in panels if rows[0][1].run.dataset in searches]
    max_queries = max((len(searches[rows[0][1].run.dataset].queries) for _, rows in panels), default=0)
    while True:
        documents: dict[tuple[str, str], tuple[Any, ...]] = {}
        sets = [
            _panel_view(panel, rows, scores, searches[rows[0][1].run.dataset], documents, max_queries)
            for panel, rows in panels
        ]
        views = {
            "sets": sets,
            "attributed": list(_attributed_scores(sets)),
            "documents": [document for _, *document in documents.values()],
            "characters": MAX_CHARACTERS,
            "first": MAX_DOCUMENTS,
        }
        size = len(script_json(views).encode())
        if size <= max_bytes or max_queries <= 1:
            return views
        max_queries = max(1, min(max_queries - 1, max_queries * max_bytes // size))


def _panel_view(
    panel: Panel,
    rows: Sequence[tuple[str, OurValue, str]],
    scores: Scores,
    searches: SearchResults,
    # Filled with number, identifier, text and length of each.
    documents: dict[tuple[str, str], tuple[Any, ...]],
    max_queries: int,
) -> dict[str, Any]:
    dataset, measure = rows[0][1].run.dataset, rows[0][1].measure
    results = [run_values for _, ours, _ in rows if (run_values := scores.get(ours.run, measure))]
    measured_queries = set(results[0].query_ids)
    queries = [query for query in searches.queries if query in measured_queries][:max_queries]
    runs = [ours.run for _, ours, _ in rows]
    rankings = [searches.rankings.get(run, {}) for run in runs]
    shown_documents = {
        query: {document_id for run_values in rankings for document_id, _, _ in run_values.get(query, ())}
        for query in queries
    }
    candidates = next((run.candidates for run in runs if run.regime != FIRST_STAGE), DEFAULT_CANDIDATES)

    def number_of(document_id: str) -> int:
        document = (len(documents), document_id, *searches.documents[document_id])
        return int(documents.setdefault((dataset, document_id), document)[0])

    def numbered(value_by_document: Mapping[str, Any], query: str) -> dict[int, Any]:
        return {
            number_of(document_id): value
            for document_id, value in value_by_document.items()
            if document_id in shown_documents[query]
        }

    return {
        "key": dataset if candidates == DEFAULT_CANDIDATES else f"{dataset}:{candidates}",
        "title": panel.title,
        "measure": measure,
        "judged": len(measured_queries),
        "queries": [
            {
                "id": query,
                "text": searches.queries[query][0],
                "relevant": searches.queries[query][1],
                "grades": numbered(searches.grades[query], query),
                "marks": numbered(searches.marks[query], query),
            }
            for query in queries
        ],
        "rows": [
            {
                "key": key,
                "label": label,
                "first_stage": ours.run.regime == FIRST_STAGE,
                "mean": round(ours.mean, DIGITS),
                "baselines": _baseline_views(ours, runs),
                "values": _values(run_values, queries),
                "rankings": [
                    [(number_of(document_id), *numbers) for document_id, *numbers in ranking.get(query, ())]
                    for query in queries
                ],
                "attributions": {
                    index: searches.attributions[query, ours.run.model]
                    for index, query in enumerate(queries)
                    if (ours.run.candidates, ours.run.regime) == (DEFAULT_CANDIDATES, "zero-shot")
                    and (query, ours.run.model) in searches.attributions
                },
            }
            for key, (label, ours, _), run_values, ranking in zip(
                _run_keys(runs), rows, results, rankings, strict=True
            )
        ],
        "outcomes": [
            (first, second, *wins_ties_losses(results[first].per_query, results[second].per_query))
            for first, second in combinations(range(len(rows)), 2)
        ],
    }


def _attributed_scores(views: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield label of the row, query and address of each score whose sources the page shows."""
    for view in views:
        for row in view["rows"]:
            for index in row["attributions"]:
                query = view["queries"][index]["id"]
                address_parts = (view["key"], query, row["key"])
                yield row["label"], query, "#" + "/".join(quote(part, safe="") for part in address_parts)


def _run_keys(runs: Sequence[RunName]) -> list[str]:
    """Return what names each run in addresses: the model; from its second regime on with the regime."""
    keys: list[str] = []
    for run in runs:
        keys.append(f"{run.model}:{run.regime}" if run.model in keys else run.model)
    return keys


def _values(results: Results, queries: Sequence[str]) -> list[float]:
    value_by_query = dict(zip(results.query_ids, results.per_query.tolist(), strict=True))
    return [round(value_by_query[query], DIGITS) for query in queries]


def _baseline_views(ours: OurValue, runs: Sequence[RunName]) -> dict[str, Any]:
    """Return the numbers of the rows that a run is compared with, and how it compares."""
    by_mark = {comparison.mark: comparison for comparison in ours.comparisons if comparison.run in runs}
    return {
        name: [runs.index(by_mark[mark].run), comparison_text(by_mark[mark])]
        for name, mark in (("bm25", BM25_MARK), ("control", CONTROL_MARK))
        if mark in by_mark
    }
