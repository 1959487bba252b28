"""The searches on the report's page: for each panel of the headline table its runs, some queries with the value of each
run, and the first documents that each run finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

from irpretrain.config.labels import USUAL_CANDIDATES
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.significance import wins_ties_losses
from irpretrain.foundation.atomic import read_given_json
from irpretrain.foundation.errors import MAKE_AGAIN, refusing
from irpretrain.report.cells import Ours, Panel, Table
from irpretrain.report.difference_plot import compared_rows, comparison_text
from irpretrain.report.pages import script_json
from irpretrain.report.scores import Results, RunName, Scores
from irpretrain.report.searches import CHARACTERS, DOCUMENTS
from irpretrain.report.tables import BM25_MARK, CONTROL_MARK

# Most bytes of searches in a page; queries beyond are left out.
MOST_BYTES = 2_000_000
# Decimals of a query's value.
DIGITS = 4


class Found:
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
        names = [query for query, _, _ in content["queries"]]
        self.judged = content["judged"]
        self.queries |= {query: (text, relevant) for query, text, relevant in content["queries"]}
        self.documents |= {name: tuple(document) for name, document in content["documents"].items()}
        for kind, parts in (("grades", self.grades), ("marks", self.marks)):
            for query, of_query in zip(names, content[kind], strict=True):
                parts.setdefault(query, {}).update(of_query)
        for row in content["runs"]:
            run = RunName(dataset, row["candidates"], row["model"], row["regime"])
            self.rankings[run] = dict(zip(names, row["rankings"], strict=True))


def read_searches(
    datasets: Mapping[str, str],
    paths: Iterable[str | Path],
    attributions: Iterable[tuple[str, str | Path]] = (),
) -> dict[str, Found]:
    """Return what `results/searches/<experiment>.json` hold, by data set.

    Args:
        datasets: experiment → data set.
        paths: these files.
        attributions: data set and file of each `results/attributions/<page>.json`.

    Raises:
        InputError: a file holds no searches, or no attributions.
    """
    found: dict[str, Found] = {}
    for path in map(Path, paths):
        dataset = datasets[path.stem]
        content = read_given_json(path, MAKE_AGAIN)
        with refusing(path, "these are no searches of an experiment", MAKE_AGAIN):
            found.setdefault(dataset, Found()).add(dataset, content)
    for dataset, words_path in attributions:
        content = read_given_json(words_path, MAKE_AGAIN)
        with refusing(words_path, "these are no attributions of scores", MAKE_AGAIN):
            if dataset in found:
                for model, described in content["models"].items():
                    found[dataset].attributions[content["query"], model] = [content["document"], *described]
    return found


def search_views(
    headline: Table, scores: Scores, found: Mapping[str, Found], most_bytes: int = MOST_BYTES
) -> dict[str, Any]:
    """Return what the page shows as plain values; `sets` is empty where nothing was searched.

    Queries are those that the experiments chose, as many of each data set as `most_bytes` of JSON hold.
    """
    panels = [(panel, rows) for panel in headline.panels if (rows := compared_rows(panel))]
    panels = [(panel, rows) for panel, rows in panels if rows[0][1].run.dataset in found]
    most = max((len(found[rows[0][1].run.dataset].queries) for _, rows in panels), default=0)
    while True:
        documents = Numbered()
        sets = [
            _of_panel(panel, rows, scores, found[rows[0][1].run.dataset], documents, most)
            for panel, rows in panels
        ]
        views = {
            "sets": sets,
            "attributed": list(_attributed(sets)),
            "documents": documents.values,
            "characters": CHARACTERS,
            "first": DOCUMENTS,
        }
        size = len(script_json(views).encode())
        if size <= most_bytes or most <= 1:
            return views
        most = max(1, min(most - 1, most * most_bytes // size))


class Numbered:
    """Documents, each once, by the order in which they are asked for."""

    def __init__(self) -> None:
        self.values: list[tuple[str, str, int]] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, dataset: str, name: str, found: Found) -> int:
        key = dataset, name
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append((name, *found.documents[name]))
        return self._numbers[key]


def _of_panel(
    panel: Panel,
    rows: Sequence[tuple[str, Ours, str]],
    scores: Scores,
    found: Found,
    documents: Numbered,
    most: int,
) -> dict[str, Any]:
    dataset = rows[0][1].run.dataset
    measure = rows[0][1].measure
    results = [of_run for _, ours, _ in rows if (of_run := scores.get(ours.run, measure))]
    measured = set(results[0].queries)
    queries = [query for query in found.queries if query in measured][:most]
    runs = [ours.run for _, ours, _ in rows]
    rankings = [found.rankings.get(run, {}) for run in runs]
    shown = {
        query: {name for of_run in rankings for name, _, _ in of_run.get(query, ())} for query in queries
    }
    candidates = next((run.candidates for run in runs if run.regime != FIRST_STAGE), USUAL_CANDIDATES)

    def numbered(of_documents: Mapping[str, Any], query: str) -> dict[int, Any]:
        return {
            documents.number(dataset, name, found): value
            for name, value in of_documents.items()
            if name in shown[query]
        }

    return {
        "key": dataset if candidates == USUAL_CANDIDATES else f"{dataset}:{candidates}",
        "title": panel.title,
        "measure": measure,
        "judged": len(measured),
        "queries": [
            {
                "id": query,
                "text": found.queries[query][0],
                "relevant": found.queries[query][1],
                "grades": numbered(found.grades[query], query),
                "marks": numbered(found.marks[query], query),
            }
            for query in queries
        ],
        "rows": [
            {
                "key": key,
                "label": label,
                "first_stage": ours.run.regime == FIRST_STAGE,
                "mean": round(ours.mean, DIGITS),
                "baselines": _baselines(ours, runs),
                "values": _values(of_run, queries),
                "rankings": [
                    [
                        (documents.number(dataset, name, found), score, place)
                        for name, score, place in ranking.get(query, ())
                    ]
                    for query in queries
                ],
                "attributions": {
                    number: found.attributions[query, ours.run.model]
                    for number, query in enumerate(queries)
                    if (ours.run.candidates, ours.run.regime) == (USUAL_CANDIDATES, "zero-shot")
                    and (query, ours.run.model) in found.attributions
                },
            }
            for key, (label, ours, _), of_run, ranking in zip(
                _keys(runs), rows, results, rankings, strict=True
            )
        ],
        "outcomes": [
            (first, second, *wins_ties_losses(results[first].per_query, results[second].per_query))
            for first, second in combinations(range(len(rows)), 2)
        ],
    }


def _attributed(sets: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield label of the row, query and address of each score whose sources the page shows."""
    for of_set in sets:
        for row in of_set["rows"]:
            for number in row["attributions"]:
                query = of_set["queries"][number]["id"]
                parts = (of_set["key"], query, row["key"])
                yield row["label"], query, "#" + "/".join(quote(part, safe="") for part in parts)


def _keys(runs: Sequence[RunName]) -> list[str]:
    """Return what names each run in addresses: the model; from its second regime on with the regime."""
    keys: list[str] = []
    for run in runs:
        keys.append(f"{run.model}:{run.regime}" if run.model in keys else run.model)
    return keys


def _values(results: Results, queries: Sequence[str]) -> list[float]:
    value_of = dict(zip(results.queries, results.per_query.tolist(), strict=True))
    return [round(value_of[query], DIGITS) for query in queries]


def _baselines(ours: Ours, runs: Sequence[RunName]) -> dict[str, Any]:
    """Return the numbers of the rows that a run is compared with, and how it compares."""
    compared = {c.mark: c for c in ours.comparisons if c.run in runs}
    return {
        name: [runs.index(compared[mark].run), comparison_text(compared[mark])]
        for name, mark in (("bm25", BM25_MARK), ("control", CONTROL_MARK))
        if mark in compared
    }
