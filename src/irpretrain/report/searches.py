"""Searches of an experiment, for the report: some of its queries with the first documents that each run finds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from irpretrain.config.text import TextConfig
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.runs import Run, as_scored, merge, read_qrels, read_rankings, relevant
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.progress import progress
from irpretrain.text.stop_words import load_stop_words, stemmer
from irpretrain.text.texts import read_chosen, read_queries
from irpretrain.text.words import find_words, word_spans

# Most queries of an experiment, documents of a ranking, and characters of a document.
QUERIES, DOCUMENTS, CHARACTERS = 150, 3, 700
# Of a score: so many tell the documents of a ranking apart for a reader.
SIGNIFICANT_DIGITS = 6


def choose_queries(queries: Iterable[str], most: int = QUERIES) -> list[str]:
    """Return at most `most` queries: the first by the SHA-256 of their identifiers.

    No score decides, so that wins and losses among them are as common as among all; and experiments on the same queries
    choose the same.
    """
    return sorted(queries, key=lambda query: hashlib.sha256(query.encode()).digest())[:most]


def collect_searches(
    # Of one experiment, as `irpretrain.evaluation.evaluate.evaluate` takes them.
    runs: Sequence[Mapping[str, Any]],
    queries: str | Path,
    qrels: str | Path,
    documents: Sequence[str | Path],
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the searches of an experiment as JSON; return counts.

    The JSON object has `queries` (identifier, text, number of relevant documents); `runs`, each with what names it, the
    seed and a ranking per query: (document, score, its place in the ranking that was re-ranked, from 1; 0: none);
    `documents` (identifier → the text's first characters, and its length) and per query `grades` (document → grade) and
    `marks` (document → start and end of each word of the query, in units of UTF-16, as JavaScript counts).

    Of a model with several seeds the first is in it, of a pre-training its end.

    Raises:
        InputError: a file cannot be read, or the corpus lacks a document.
    """
    texts, judged = read_queries(queries), read_qrels(qrels)
    chosen = choose_queries(judged.keys() & texts.keys())
    places: dict[str, dict[str, dict[str, int]]] = {}
    rows = []
    for description in progress(displayed_runs(runs), "searches", "runs"):
        run = _read(description, chosen)
        key = {name: description[name] for name in ("candidates", "model", "regime", "seed")}
        # First stages come before the models that re-rank them.
        if key["regime"] == FIRST_STAGE:
            places[key["model"]] = {query: _places(run, query) for query in chosen}
            reranked: Mapping[str, Mapping[str, int]] = {}
        else:
            reranked = places.get(key["candidates"], {})
        rows.append({**key, "rankings": [_first(run, query, reranked.get(query, {})) for query in chosen]})
    of_query = [
        dict.fromkeys(found[0] for row in rows for found in row["rankings"][number])
        for number in range(len(chosen))
    ]
    whole = read_chosen(documents, {name for names in of_query for name in names}, text)
    cut = {name: whole[name][:CHARACTERS] for name in sorted(whole)}
    mark = Marker(text)
    content = {
        "judged": len(judged),
        "queries": [[query, texts[query], len(relevant(judged[query]))] for query in chosen],
        "runs": rows,
        "documents": {name: [cut[name], len(whole[name])] for name in cut},
        "grades": [
            {name: judged[query][name] for name in names if name in judged[query]}
            for query, names in zip(chosen, of_query, strict=True)
        ],
        "marks": [
            {name: mark(texts[query], cut[name]) for name in names}
            for query, names in zip(chosen, of_query, strict=True)
        ],
    }
    write_text(output, json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")
    return {"judged": len(judged), "queries": len(chosen), "runs": len(rows), "documents": len(cut)}


def displayed_runs(runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return first stages, then each model in each regime by its first seed; snapshots are learning curves' points."""
    by_name: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for run in sorted(runs, key=lambda run: (run["regime"] != FIRST_STAGE, run["seed"])):
        if "@" not in run["model"]:
            by_name.setdefault((run["candidates"], run["model"], run["regime"]), run)
    return list(by_name.values())


def _read(description: Mapping[str, Any], queries: Collection[str]) -> Run:
    paths = [str(path) for path in description["paths"]]
    parts = [read_rankings(path, queries) for path in paths]
    return as_scored(merge(parts, paths), description.get("depth"), description.get("ranked"))


def _places(run: Run, query: str) -> dict[str, int]:
    return {name: place for place, (name, _) in enumerate(run.get(query, ()), 1)}


def _first(run: Run, query: str, places: Mapping[str, int]) -> list[tuple[str, float, int]]:
    found = run.get(query, ())[:DOCUMENTS]
    return [(name, float(f"{score:.{SIGNIFICANT_DIGITS}g}"), places.get(name, 0)) for name, score in found]


class Marker:
    """Finds the words of a query in a text: words of the same stem, without stop words."""

    def __init__(self, text: TextConfig) -> None:
        self._kind = text.word_kind
        self._stem = stemmer(text.language)
        self._stop_words = load_stop_words("lucene", language_name=text.language)

    def __call__(self, query: str, text: str) -> list[int]:
        """Return start and end of each word in turn; of overlapping ones the second begins where the first ends."""
        wanted = {self._stem(word) for word in self._words(query)}
        spans = word_spans(text, self._kind)
        bounds: list[int] = []
        for word, start, end in zip(spans.words, spans.starts.tolist(), spans.ends.tolist(), strict=True):
            if word not in self._stop_words and self._stem(word) in wanted:
                bounds += (max(start, bounds[-1] if bounds else 0), end)
        if text.isascii():
            return bounds
        units = [0, *accumulate(1 + (character > "\uffff") for character in text)]
        return [units[bound] for bound in bounds]

    def _words(self, query: str) -> list[str]:
        return [word for word in find_words(query, self._kind) if word not in self._stop_words]
