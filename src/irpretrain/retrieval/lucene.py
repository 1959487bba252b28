"""First-stage retrieval with Lucene, through Anserini's own command line.

Documents and queries go through Lucene's English analyser (tokenise, lower-case, stop words, stemmer). A
query is a bag of its words: operators of query languages in it are text. A word that occurs n times in the
query counts n times. What the scores are exactly stands in docs/methods/evaluation.md.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TextIO

from irpretrain.atomic import atomic_directory
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import QUERIES
from irpretrain.errors import ConfigError, InputError, IntegrityError
from irpretrain.evaluation.runs import Run, write_run
from irpretrain.progress import progress
from irpretrain.retrieval.java import JavaError, run_anserini
from irpretrain.text.compose import stream_texts

DOCUMENTS_IN_FILE = 50_000
"""Documents in one input file. Anserini indexes files, not documents, in parallel."""

DOCUMENTS_AT_ONCE = 1024
"""Documents in memory at a time."""

MOST_TERMS = 1024
"""Different terms that Lucene allows in a query."""

RECORD = "irpretrain.json"
"""File in the index that says how it was made."""

SCORE_STEP = 1e-6
"""By how much Anserini lowers the score of a document that ties with the one above it."""


def index(
    documents: Sequence[str | Path], options: RetrievalConfig, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Index a corpus.

    Args:
        documents: DOCUMENTS tables, all shards of the corpus.
        options: stemmer, stop words, threads, Java heap.
        text: which fields of a document make up its text.
        output: directory of the Lucene index. Its bytes differ from time to time (Lucene names segments at
            random); what it retrieves does not.

    Returns:
        Counts: documents, and those among them without text, which Lucene leaves out.

    Raises:
        InputError: no documents, or an identifier that cannot stand in a run.
        IntegrityError: Lucene indexed another number of documents than it was given.
        SetupError: Java or the jar is missing, or out of memory.
        JavaError: Anserini failed.
    """
    with _folder_beside(output, "input") as source:
        counts = _write_input(documents, text, source)
        if counts["documents"] == counts["documents_without_text"]:
            raise InputError(documents[0], "there is not one document with text to index")
        with atomic_directory(output) as temporary:
            lines = run_anserini(
                "index.IndexCollection", _index_arguments(source, temporary, options), options.memory_mb
            )
            indexed = _indexed(lines)
            if indexed != counts["documents"] - counts["documents_without_text"]:
                raise IntegrityError(
                    output, f"Lucene indexed {indexed:,} of {counts['documents']:,} documents"
                )
            record = {**_analysis(options), **counts}
            (temporary / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return counts


def _index_arguments(source: Path, target: Path, options: RetrievalConfig) -> list[str]:
    # Lucene buffers up to this much before it writes a segment; Anserini's own 4 GB would overflow the heap.
    buffer_mb = max(16, options.memory_mb // 4)
    arguments = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    arguments += ["-input", str(source), "-index", str(target), "-threads", str(options.threads)]
    return [*arguments, "-memoryBuffer", str(buffer_mb), "-optimize", *_analyser_arguments(options)]


def _analyser_arguments(options: RetrievalConfig) -> list[str]:
    return ["-stemmer", options.stemmer, *(["-keepStopwords"] if options.keep_stop_words else [])]


def _analysis(options: RetrievalConfig) -> dict[str, Any]:
    return {"stemmer": options.stemmer, "keep_stop_words": options.keep_stop_words}


@contextmanager
def _folder_beside(path: str | Path, purpose: str) -> Iterator[Path]:
    """Yield an empty folder beside `path` that is removed afterwards, and first where a killed run left it."""
    folder = Path(path).with_name(f".{Path(path).name}.{purpose}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_input(documents: Sequence[str | Path], text: TextConfig, folder: Path) -> dict[str, int]:
    """Write Anserini's JSON lines, `DOCUMENTS_IN_FILE` a file; return counts."""
    counts = {"documents": 0, "documents_without_text": 0}
    file: TextIO | None = None
    try:
        for path in documents:
            for document, contents in progress(
                _documents(path, text), "write documents for Lucene", "documents"
            ):
                _check_identifier(path, document)
                if counts["documents"] % DOCUMENTS_IN_FILE == 0:
                    if file:
                        file.close()
                    name = f"{counts['documents'] // DOCUMENTS_IN_FILE:06d}.jsonl"
                    file = open(folder / name, "w", encoding="utf-8")  # noqa: SIM115 - closed with the next one
                assert file is not None
                file.write(json.dumps({"id": document, "contents": contents}) + "\n")
                counts["documents"] += 1
                counts["documents_without_text"] += not contents
    finally:
        if file:
            file.close()
    return counts


def _documents(path: str | Path, text: TextConfig) -> Iterator[tuple[str, str]]:
    for identifiers, texts in stream_texts(path, text, DOCUMENTS_AT_ONCE):
        yield from zip(identifiers, texts, strict=True)


def _check_identifier(path: str | Path, document: str) -> None:
    if document.split() != [document]:
        raise InputError(
            path,
            f"the document identifier {document!r} is empty or holds white space, so it cannot stand in a run",
            remedy="Rename the document in its corpus.",
        )


def _indexed(lines: Sequence[str]) -> int:
    """The number of documents that Anserini says it has indexed."""
    found = [match for line in lines if (match := re.search(r"\bindexed: +([\d,]+)", line))]
    if not found:
        raise JavaError("Anserini did not say how many documents it indexed", list(lines))
    return int(found[-1].group(1).replace(",", ""))


def search(
    index: str | Path,
    queries: str | Path,
    method: Literal["bm25", "ql"],
    options: RetrievalConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Retrieve the first `options.depth` documents of each query.

    Args:
        index: directory that `index` made.
        queries: QUERIES table.
        method: bm25, or ql for query likelihood with Dirichlet smoothing.
        options: depth, parameters of the method, stemmer and stop words as in the index, threads, Java heap.
        output: TREC run, gzip. Queries of which no word is in the index are not in it.

    Returns:
        Counts: queries, queries without candidates, candidates.

    Raises:
        InputError: a query has too many different words for Lucene.
        IntegrityError: there is no index, or it was made with another stemmer or other stop words.
        SetupError: Java or the jar is missing, or out of memory.
        JavaError: Anserini failed.
    """
    _check_index(index, options)
    table = QUERIES.read(queries)
    # One line a query; numbers stand for the identifiers, which may hold anything.
    texts = [" ".join(text.split()) for text in table["text"].to_pylist()]
    with _folder_beside(output, "search") as folder:
        topics, found = folder / "topics.tsv", folder / "run"
        lines = [f"{number}\t{text}\n" for number, text in enumerate(texts) if text]
        topics.write_text("".join(lines), encoding="utf-8")
        if lines:
            _search(_search_arguments(index, topics, found, method, options), options, queries, texts)
        run = _read_anserini(found, table["query_id"].to_pylist()) if lines else {}
    candidates = write_run(output, run, method)
    return {
        "queries": len(texts),
        "queries_without_candidates": len(texts) - len(run),
        "candidates": candidates,
    }


def _check_index(index: str | Path, options: RetrievalConfig) -> None:
    path = Path(index, RECORD)
    if not path.exists():
        raise IntegrityError(
            index, "this is not an index of this workflow", remedy="Delete it and run again."
        )
    record = json.loads(path.read_text(encoding="utf-8"))
    for name, value in _analysis(options).items():
        if record[name] != value:
            fault = f"the index was made with {name} {record[name]}, the configuration has {value}"
            raise IntegrityError(index, fault, remedy="Delete the index and run again.")


def _search_arguments(
    index: str | Path, topics: Path, found: Path, method: str, options: RetrievalConfig
) -> list[str]:
    models = {
        "bm25": ["-bm25", "-bm25.k1", repr(options.bm25.k1), "-bm25.b", repr(options.bm25.b)],
        "ql": ["-qld", "-qld.mu", repr(options.query_likelihood.mu)],
    }
    if method not in models:
        raise ConfigError(f"{method!r} is not a first stage; allowed are {', '.join(models)}")
    arguments = ["-index", str(index), "-topics", str(topics), "-topicReader", "TsvString"]
    arguments += [
        "-generator",
        "BagOfWordsQueryGenerator",
        "-output",
        str(found),
        "-hits",
        str(options.depth),
    ]
    return [*arguments, "-threads", str(options.threads), *models[method], *_analyser_arguments(options)]


def _search(
    arguments: list[str], options: RetrievalConfig, queries: str | Path, texts: Sequence[str]
) -> None:
    try:
        run_anserini("search.SearchCollection", arguments, options.memory_mb)
    except JavaError as error:
        if not any("TooManyClauses" in line for line in error.output):
            raise
        longest = max(texts, key=lambda text: len(set(text.lower().split())))
        raise InputError(
            queries,
            f"a query has more than {MOST_TERMS:,} different words, Lucene's limit; likely {longest[:60]!r}...",
            remedy="Shorten the query.",
        ) from None


def _read_anserini(path: Path, identifiers: Sequence[str]) -> Run:
    """Read Anserini's run and give the queries their identifiers back.

    Anserini rounds scores to four decimals and puts documents that are then equal 1e-6 below each other, in
    Lucene's order (exact score, then identifier). A long row of ties can so fall below the next score; scores
    are lowered here until they fall from rank to rank, so that the order by score is Lucene's order.
    """
    run: Run = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            number, _, document, _, printed, _ = line.split()
            ranking = run.setdefault(identifiers[int(number)], [])
            score = float(printed)
            if ranking and score >= ranking[-1][1]:
                score = round(ranking[-1][1] - SCORE_STEP, 6)
            ranking.append((document, score))
    return run
