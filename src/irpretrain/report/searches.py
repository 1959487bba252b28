"""Searches of an experiment, for the report: some of its queries with the first documents that each run finds."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from irpretrain.config.papers import FIRST_STAGE
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Run, as_scored, merge, read_qrels, read_rankings, relevant
from irpretrain.foundation.progress import progress
from irpretrain.report.pages import write_json
from irpretrain.text.stop_words import load_stop_words, stemmer
from irpretrain.text.texts import read_chosen, read_queries
from irpretrain.text.words import find_words, word_spans

# Most queries of an experiment, documents of a ranking, and characters of a document.
MAX_QUERIES, MAX_DOCUMENTS, MAX_CHARACTERS = 150, 3, 700
# Of a score: so many tell the documents of a ranking apart for a reader.
SIGNIFICANT_DIGITS = 6


def choose_queries(queries: Iterable[str], max_queries: int = MAX_QUERIES) -> list[str]:
    """Return at most `max_queries` queries: the first by the SHA-256 of their identifiers.

    No score decides, so that wins and losses among them are as common as among all; and experiments on the same queries
    choose the same.
    """
    return sorted(queries, key=lambda query: hashlib.sha256(query.encode()).digest())[:max_queries]


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
    query_texts, judged = read_queries(queries), read_qrels(qrels)
    sample = choose_queries(judged.keys() & query_texts.keys())
    ranks_by_stage: dict[str, dict[str, dict[str, int]]] = {}
    rows = []
    for description in progress(displayed_runs(runs), "searches", "runs"):
        run = _read_run(description, sample)
        key = {name: description[name] for name in ("candidates", "model", "regime", "seed")}
        # First stages come before the models that re-rank them.
        if key["regime"] == FIRST_STAGE:
            ranks_by_stage[key["model"]] = {
                query: {document: rank for rank, (document, _) in enumerate(ranking, 1)}
                for query, ranking in run.items()
            }
            ranks: Mapping[str, Mapping[str, int]] = {}
        else:
            ranks = ranks_by_stage.get(key["candidates"], {})
        rankings = [_first_documents(run, query, ranks.get(query, {})) for query in sample]
        rows.append({**key, "rankings": rankings})
    # The documents that some run ranks first for each query.
    documents_by_query = [
        dict.fromkeys(document for row in rows for document, *_ in row["rankings"][index])
        for index in range(len(sample))
    ]
    texts = read_chosen(documents, set().union(*documents_by_query), text)
    excerpts = {document: texts[document][:MAX_CHARACTERS] for document in sorted(texts)}
    find_marks = Marker(text)
    content = {
        "judged": len(judged),
        "queries": [[query, query_texts[query], len(relevant(judged[query]))] for query in sample],
        "runs": rows,
        "documents": {document: [excerpt, len(texts[document])] for document, excerpt in excerpts.items()},
        "grades": [
            {document: judged[query][document] for document in shown_documents if document in judged[query]}
            for query, shown_documents in zip(sample, documents_by_query, strict=True)
        ],
        "marks": [
            {document: find_marks(query_texts[query], excerpts[document]) for document in shown_documents}
            for query, shown_documents in zip(sample, documents_by_query, strict=True)
        ],
    }
    write_json(output, content)
    return {"judged": len(judged), "queries": len(sample), "runs": len(rows), "documents": len(excerpts)}


def displayed_runs(runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return first stages, then each model in each regime by its first seed; snapshots are learning curves' points."""
    by_name: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for run in sorted(runs, key=lambda run: (run["regime"] != FIRST_STAGE, run["seed"])):
        if "@" not in run["model"]:
            by_name.setdefault((run["candidates"], run["model"], run["regime"]), run)
    return list(by_name.values())


def _read_run(description: Mapping[str, Any], queries: Collection[str]) -> Run:
    paths = [str(path) for path in description["paths"]]
    fold_runs = [read_rankings(path, queries) for path in paths]
    return as_scored(merge(fold_runs, paths), description.get("depth"), description.get("ranked"))


def _first_documents(run: Run, query: str, ranks: Mapping[str, int]) -> list[tuple[str, float, int]]:
    return [
        (document, float(f"{score:.{SIGNIFICANT_DIGITS}g}"), ranks.get(document, 0))
        for document, score in run.get(query, ())[:MAX_DOCUMENTS]
    ]


class Marker:
    """Finds the words of a query in a text: words of the same stem, without stop words."""

    def __init__(self, text: TextConfig) -> None:
        self._kind = text.word_kind
        self._stem = stemmer(text.language)
        self._stop_words = load_stop_words("lucene", language_name=text.language)

    def __call__(self, query: str, text: str) -> list[int]:
        """Return start and end of each word in turn; of overlapping ones the second begins where the first ends."""
        query_stems = {self._stem(word) for word in self._words(query)}
        spans = word_spans(text, self._kind)
        bounds: list[int] = []
        for word, start, end in zip(spans.words, spans.starts.tolist(), spans.ends.tolist(), strict=True):
            if word not in self._stop_words and self._stem(word) in query_stems:
                bounds += (max(start, bounds[-1] if bounds else 0), end)
        if text.isascii():
            return bounds
        utf16_offsets = [0, *accumulate(1 + (character > "\uffff") for character in text)]
        return [utf16_offsets[bound] for bound in bounds]

    def _words(self, query: str) -> list[str]:
        return [word for word in find_words(query, self._kind) if word not in self._stop_words]
