"""First-stage retrieval with Lucene: Anserini's command line indexes, Anserini's classes search in this process.

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
from typing import Any, Self, TextIO

from irpretrain.atomic import atomic_directory, working_directory
from irpretrain.config.retrieval import QueryWords, RankingModel, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import InputError, IntegrityError
from irpretrain.evaluation.runs import Ranking, Run, write_rankings
from irpretrain.progress import Counter, say
from irpretrain.retrieval.analysis import anserini_texts
from irpretrain.retrieval.index_record import RECORD, analysis_of
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

INDEXED = re.compile(r"([\d,]+) documents indexed")
"""What Anserini says once a minute while it indexes."""

BYTE_ORDER_MARKS = ("\ufeff", "\ufffe")
"""Characters that are lost where a string of Java begins with one of them."""

Prepare = Callable[[list[str]], list[str]]
"""Makes texts as Anserini is to read them."""


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
        say(f"[index by Lucene] 0/{expected:,} documents, Lucene says once a minute how far it is")

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
    if document[0] in BYTE_ORDER_MARKS:
        raise InputError(
            path,
            f"the document identifier {document!r} begins with a byte-order mark, which Java's strings lose",
            remedy="Remove the mark from its corpus, where it mostly stands at the beginning of a file.",
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
    model: RankingModel,
    options: RetrievalConfig,
    output: str | Path,
    tag: str = "",
) -> dict[str, Any]:
    """Retrieve the first `options.depth` documents of each query.

    Args:
        index: directory that `index` or `index_weights` made.
        queries: QUERIES table.
        model: bm25, or query likelihood with Dirichlet (ql) or Jelinek-Mercer (ql-jm) smoothing.
        options: depth, parameters of the model, stemmer and stop words as in the index, threads.
        output: TREC run, gzip. Queries of which no word is in the index are not in it.
        tag: last column of the run; by default the model.

    Returns:
        Counts: queries, queries without candidates, candidates.

    Raises:
        ConfigError: there is no such model.
        IntegrityError: there is no index, or it was made with another stemmer or other stop words.
        SetupError: Java or the jar is missing, or out of memory.
        JavaError: Lucene failed.
    """
    texts = read_queries(queries)
    opened = OpenedIndex(index, model, options)
    terms = opened.terms({query: texts[query] for query in sorted(texts)})
    found: set[str] = set()

    def rankings() -> Iterator[tuple[str, Ranking]]:
        for query, ranking in opened.search(terms, options.depth, Counter("search", "queries", len(terms))):
            found.add(query)
            yield query, ranking

    candidates = write_rankings(output, rankings(), tag or model)
    opened.reader.close()
    return {
        "queries": len(texts),
        "queries_without_candidates": tell_lost_queries(output, texts, found),
        "candidates": candidates,
    }


def search_grid(
    index: str | Path,
    texts: Mapping[str, str],
    model: RankingModel,
    grid: Mapping[str, Sequence[float]],
    options: RetrievalConfig,
    depth: int,
) -> Iterator[tuple[dict[str, float], Run]]:
    """Search with every combination of parameters, in one process, and yield each with its run.

    Args:
        index: as in `search`, and so for `model` and errors.
        texts: query → text.
        grid: values of each parameter of the model; the last parameter changes fastest.
        options: stemmer and stop words, threads; its own parameters do not count.
        depth: documents a query.
    """
    opened = OpenedIndex(index, model, options)
    terms = opened.terms(texts)
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    counter = Counter("search", "queries", len(terms) * len(points))
    for point in points:
        opened.rank_by(model, point)
        yield point, dict(opened.search(terms, depth, counter))
    opened.reader.close()
