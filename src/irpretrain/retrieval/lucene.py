"""First-stage retrieval with Lucene, through Anserini's own command line.

Documents and queries go through Lucene's English analyser (tokenise, lower-case, stop words, stemmer). In another
language `retrieval.analysis` makes terms of both, and Anserini takes these as they are. A query is a bag of its words:
operators of query languages in it are text. A word that occurs n times in the query counts n times. What the scores are
exactly stands in docs/methods/evaluation.md.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

from irpretrain.atomic import atomic_directory, working_directory
from irpretrain.config.retrieval import LUCENE_WORDS, QueryWords, RankingModel, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, QUERIES
from irpretrain.errors import ConfigError, InputError, IntegrityError
from irpretrain.evaluation.runs import Run, write_run
from irpretrain.progress import Counter, progress
from irpretrain.retrieval.analysis import Analyser, anserini_texts, query_texts
from irpretrain.retrieval.index_record import RECORD, analysis_of, read_record
from irpretrain.retrieval.java import JavaError, run_anserini
from irpretrain.retrieval.lost_queries import tell_lost_queries
from irpretrain.retrieval.opened_index import OpenedIndex
from irpretrain.text.compose import stream_texts
from irpretrain.text.keyed_texts import read_queries
from irpretrain.text.languages import ENGLISH
from irpretrain.text.words import language_of

DOCUMENTS_IN_FILE = 50_000
"""Documents in one input file. Anserini indexes files, not documents, in parallel."""

DOCUMENTS_AT_ONCE = 1024
"""Documents in memory at a time."""

ANSERINI_TERMS = 1024
"""Maximum number of different terms in a query that Anserini searches. This process searches longer queries."""

INDEXED = re.compile(r"([\d,]+) documents indexed")
"""What Anserini says once a minute while it indexes."""

QUERIES_TOLD = 100
"""After so many queries of a setting Anserini says that they are done."""

SEARCHED = re.compile(r"\d00 queries processed$")

Prepare = Callable[[list[str]], list[str]]
"""Makes texts as Anserini is to read them."""

SCORE_STEP = 1e-6
"""By how much Anserini lowers the score of a document that ties with the one above it."""


def index(
    documents: Sequence[str | Path], options: RetrievalConfig, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Index a corpus.

    Args:
        documents: DOCUMENTS tables, all shards of the corpus.
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
    with working_directory(output, "input") as source:
        counts = _write_input(documents, text, anserini_texts(options, text.word_kind), source)
        if counts["documents"] == counts["documents_without_text"]:
            raise InputError(documents[0], "no document has text to index")
        with_text = counts["documents"] - counts["documents_without_text"]
        arguments = ["-collection", "JsonCollection", *_analyser_arguments(options, text.word_kind)]
        record: dict[str, Any] = (
            counts if text.language == ENGLISH else {**counts, "query_words": text.word_kind}
        )
        run_indexing(source, output, arguments, options, expected=with_text, record=record)
    return counts


def run_indexing(
    source: Path,
    output: str | Path,
    arguments: list[str],
    options: RetrievalConfig,
    *,
    expected: int,
    record: Mapping[str, Any],
) -> None:
    """Index the files in `source` and keep beside the index how it was made.

    Args:
        source: folder of Anserini's JSON lines.
        output: directory of the index.
        arguments: collection and analysis, as Anserini's options.
        options: threads and Java heap; stemmer and stop words, for the record.
        expected: how many documents Lucene must say that it has indexed.
        record: further facts for the record.

    Raises:
        IntegrityError: Lucene indexed another number of documents.
    """
    # Lucene buffers up to this much before it writes a segment; Anserini's own 4 GB would overflow the heap.
    buffer_mb = max(16, options.memory_mb // 4)
    with atomic_directory(output) as temporary:
        command = [*arguments, "-generator", "DefaultLuceneDocumentGenerator", "-input", str(source)]
        command += ["-index", str(temporary), "-threads", str(options.threads)]
        command += ["-memoryBuffer", str(buffer_mb), "-optimize"]
        counter = Counter("index by Lucene", "documents", expected)

        def count(line: str) -> None:
            if match := INDEXED.search(line):
                counter.reach(int(match[1].replace(",", "")))

        indexed = _indexed(run_anserini("index.IndexCollection", command, options.memory_mb, count))
        if indexed != expected:
            raise IntegrityError(output, f"Lucene indexed {indexed:,} of {expected:,} documents with text")
        text = json.dumps({**analysis_of(options), **record}, indent=1)
        (temporary / RECORD).write_text(text + "\n", encoding="utf-8")


def _analyser_arguments(options: RetrievalConfig, words: QueryWords) -> list[str]:
    if language_of(words) != ENGLISH:  # documents and queries are terms already
        return ["-pretokenized"]
    return ["-stemmer", options.stemmer, *(["-keepStopwords"] if options.stop_list == "none" else [])]


def _write_input(
    documents: Sequence[str | Path], text: TextConfig, prepare: Prepare, folder: Path
) -> dict[str, int]:
    """Write Anserini's JSON lines, `DOCUMENTS_IN_FILE` a file; return counts."""
    counts = {"documents": 0, "documents_without_text": 0}
    counter = Counter("write documents for Lucene", "documents", sum(map(DOCUMENTS.count, documents)))
    with InputFiles(folder) as files:
        for path in documents:
            for document, contents in _documents(path, text, prepare):
                check_identifier(path, document)
                files.add({"id": document, "contents": contents})
                counts["documents"] += 1
                counts["documents_without_text"] += not contents
                counter.add(1)
    return counts


class InputFiles:
    """Writes Anserini's JSON lines, `DOCUMENTS_IN_FILE` a file."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._documents = folder, 0
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file:
            self._file.close()

    def add(self, document: Mapping[str, Any]) -> None:
        """Append one document."""
        if self._documents % DOCUMENTS_IN_FILE == 0:
            if self._file:
                self._file.close()
            name = f"{self._documents // DOCUMENTS_IN_FILE:06d}.jsonl"
            self._file = open(self._folder / name, "w", encoding="utf-8")  # noqa: SIM115 - closed with the next one
        assert self._file is not None
        self._file.write(json.dumps(document) + "\n")
        self._documents += 1


def _documents(path: str | Path, text: TextConfig, prepare: Prepare) -> Iterator[tuple[str, str]]:
    for identifiers, texts in stream_texts(path, text, DOCUMENTS_AT_ONCE):
        yield from zip(identifiers, prepare(texts), strict=True)


def check_identifier(path: str | Path, document: str) -> None:
    """Raise InputError for an identifier that cannot stand in a run."""
    if document.split() != [document]:
        raise InputError(
            path,
            f"the document identifier {document!r} is empty or holds white space, so it cannot be written to a run",
            remedy="Rename the document in its corpus.",
        )


def _indexed(lines: Sequence[str]) -> int:
    """The number of documents that Anserini says it has indexed."""
    matches = [match for line in lines if (match := re.search(r"\bindexed: +([\d,]+)", line))]
    if not matches:
        raise JavaError("Anserini did not say how many documents it indexed", list(lines))
    return int(matches[-1].group(1).replace(",", ""))


def search(
    index: str | Path,
    queries: str | Path,
    method: RankingModel,
    options: RetrievalConfig,
    output: str | Path,
    tag: str = "",
) -> dict[str, Any]:
    """Retrieve the first `options.depth` documents of each query.

    Args:
        index: directory that `index` or `index_weights` made.
        queries: QUERIES table.
        method: bm25, or query likelihood with Dirichlet (ql) or Jelinek-Mercer (ql-jm) smoothing.
        options: depth, parameters of the method, stemmer and stop words as in the index, threads, Java heap.
        output: TREC run, gzip. Queries of which no word is in the index are not in it.
        tag: last column of the run; by default the method.

    Returns:
        Counts: queries, queries without candidates, candidates; and the parameters.

    Raises:
        IntegrityError: there is no index, or it was made with another stemmer or other stop words.
        SetupError: Java or the jar is missing, or out of memory.
        JavaError: Anserini failed.
    """
    _check_method(method)
    grid = {name: [value] for name, value in options.parameters_of(method).items()}
    with working_directory(output, "search") as folder:
        ((_, run),) = search_grid(index, queries, method, grid, options, options.depth, folder)
    candidates = write_run(output, run, tag or method)
    names = QUERIES.read(queries, ["query_id"])["query_id"].to_pylist()
    return {
        "queries": len(names),
        "queries_without_candidates": tell_lost_queries(output, names, run),
        "candidates": candidates,
    }


def search_grid(
    index: str | Path,
    queries: str | Path,
    method: RankingModel,
    grid: Mapping[str, Sequence[float]],
    options: RetrievalConfig,
    depth: int,
    folder: Path,
) -> Iterator[tuple[dict[str, float], Run]]:
    """Search with every combination of parameters, in one process, and yield each with its run.

    Args:
        index: as in `search`, and so for `queries`, `method` and errors.
        grid: values of each parameter of the method; the last parameter changes fastest.
        options: stemmer and stop words, threads, Java heap; its own parameters do not count.
        depth: documents a query.
        folder: an empty folder for files in between.
    """
    _check_method(method)
    record = read_record(index, options)
    text_by_query = read_queries(queries)
    words = record.get("query_words", LUCENE_WORDS)
    texts = query_texts(list(text_by_query.values()), record)
    identifiers = list(text_by_query)
    long_texts = {identifiers[number]: texts[number] for number in _long_queries(texts, options, words)}
    # Numbers stand for the identifiers, which may hold anything.
    lines = [
        f"{number}\t{text}\n"
        for number, text in enumerate(anserini_texts(options, words)(texts))
        if text and identifiers[number] not in long_texts
    ]
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    run_file = folder / "run"
    if lines:
        topics = folder / "topics.tsv"
        topics.write_text("".join(lines), encoding="utf-8")
        arguments = ["-index", str(index), "-topics", str(topics), "-topicReader", "TsvString"]
        arguments += ["-generator", "BagOfWordsQueryGenerator", "-output", str(run_file), "-hits", str(depth)]
        arguments += ["-threads", str(options.threads), f"-{RANKERS[method].name}"]
        for name, values in grid.items():
            option = f"-{RANKERS[method].name}.{RANKERS[method].parameters[name]}"
            arguments += [option, *map(repr, values)]
        counter = Counter("search", "queries", len(lines) * len(points))
        _search([*arguments, *_analyser_arguments(options, words)], options, counter)
    for point in points:
        path = (
            run_file if len(points) == 1 else run_file.with_name(run_file.name + _point_name(method, point))
        )
        run = _read_anserini(path, identifiers) if lines else {}
        run |= _search_here(index, long_texts, method, options.with_parameters(point), depth)
        yield point, {query: run[query] for query in identifiers if query in run}
        path.unlink(missing_ok=True)


class Ranker(NamedTuple):
    """Anserini's name of a ranking model, and those of its parameters."""

    name: str
    parameters: dict[str, str]


RANKERS: dict[RankingModel, Ranker] = {
    "bm25": Ranker("bm25", {"k1": "k1", "b": "b"}),
    "ql": Ranker("qld", {"mu": "mu"}),
    "ql-jm": Ranker("qljm", {"smoothing": "lambda"}),
}


def _point_name(method: RankingModel, point: Mapping[str, float]) -> str:
    """What Anserini appends to the name of a run where there is more than one."""
    ranker = RANKERS[method]
    shown = ",".join(f"{ranker.parameters[name]}={value!r}" for name, value in point.items())
    return f"_{ranker.name}({shown})_default"


def _check_method(method: str) -> None:
    if method not in RANKERS:
        raise ConfigError(f"{method!r} is not a first stage; allowed are {', '.join(RANKERS)}")


def _long_queries(texts: Sequence[str], options: RetrievalConfig, words: QueryWords) -> list[int]:
    """Return the numbers of the queries with more than `ANSERINI_TERMS` different terms."""
    # A text has at most as many terms as characters, so short texts need no analysis.
    numbers = [number for number, text in enumerate(texts) if len(text) > ANSERINI_TERMS]
    if not numbers:
        return []
    terms = Analyser.of(options, words).terms([texts[number] for number in numbers])
    return [number for number, some in zip(numbers, terms, strict=True) if len(set(some)) > ANSERINI_TERMS]


def _search_here(
    index: str | Path, texts: Mapping[str, str], method: RankingModel, options: RetrievalConfig, depth: int
) -> Run:
    """Search queries of any length in this process. Scores keep single precision."""
    if not texts:
        return {}
    opened = OpenedIndex(index, method, options)
    bags = zip(texts, opened.bags_of_words(list(texts.values())), strict=True)
    run = {
        query: opened.best(bag, depth)
        for query, bag in progress(list(bags), "search long queries", "queries")
    }
    opened.reader.close()
    return {query: ranking for query, ranking in run.items() if ranking}


def _search(arguments: list[str], options: RetrievalConfig, counter: Counter) -> None:
    def count(line: str) -> None:
        if SEARCHED.search(line):
            counter.add(QUERIES_TOLD)

    run_anserini("search.SearchCollection", arguments, options.memory_mb, count)


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
