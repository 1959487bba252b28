"""What it costs to find a collection's temperature of pseudo-queries, by the number of its documents.

    python benchmarks/calibration.py --documents 50000 500000

Collections are generated (the head of generated_collection.py says how): 1,100 words a document in the mean, a million
different words. Words, statistics and postings are made first, which the workflow needs anyway, and not timed; then the
sample of the documents is read, and the temperature searched with the default options. Prints processor seconds.
`--folder` keeps words and postings.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import generated_collection
from irpretrain.axioms.calibration import (
    SAMPLE_DOCUMENTS,
    RankSample,
    calibrate_temperature,
)
from irpretrain.axioms.pseudo_queries import PseudoQuerySampler
from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.word_store import WordStore
from pseudo_query_ranks import PAPER

MEAN_LENGTH, SEED = 1100.0, 1
WORDS_AT_ONCE = 50_000_000
AXIOMS = AxiomsConfig()
HEAD = """\
| documents | words | chosen T | distance | temperatures | reading | sample | search | a temperature | peak MB |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


class Files(NamedTuple):
    words: Path
    statistics: Path
    postings: Path


def prepare(documents: int, folder: Path) -> Files:
    """Make what the calibration reads, or what of it is not there yet."""
    files = Files(folder / "store", folder / "words.parquet", folder / "postings")
    folder.mkdir(parents=True, exist_ok=True)
    words = generated_collection.generate(documents, MEAN_LENGTH, SEED, folder)
    if not files.postings.exists():
        term_of = generated_collection.term_of()
        terms = generated_collection.VOCABULARY - generated_collection.STOP_WORDS
        write_postings([[words]], term_of, terms, files.postings, AXIOMS.bm25)
    if not files.statistics.exists():
        write_statistics(words, Postings.open(files.postings), files.statistics)
    if not files.words.exists():
        with atomic_directory(files.words) as store:
            os.link(next(folder.glob("words-*.npy")), store / "words.npy")
            np.save(store / "offsets.npy", words.offsets)
            pq.write_table(words.documents, store / "documents.parquet")
            record = {"words": len(words.words), "vocabulary": generated_collection.VOCABULARY}
            (store / "store.json").write_text(json.dumps(record))
    return files


def write_statistics(words: WordStore, postings: Postings, output: Path) -> None:
    """Count words; the stop words are called after real ones, the others are their own stems."""
    size, stop = generated_collection.VOCABULARY, generated_collection.STOP_WORDS
    counts = np.zeros(size, np.int64)
    for first in range(0, len(words.words), WORDS_AT_ONCE):
        counts += np.bincount(words.words[first : first + WORDS_AT_ONCE], minlength=size)
    documents = np.concatenate([counts[:stop], postings.document_frequencies()])
    names = sorted(word for word in load_stop_words("inquery") if word < "w")[:stop]
    names += [f"w{number:07d}" for number in range(stop, size)]
    with WORD_COUNTS.writing(output) as writer:
        writer.add(pa.table([names, counts, documents, documents], schema=WORD_COUNTS.schema))
        writer.note({"documents": str(len(postings)), "words": str(len(words.words))})


def seconds(start: float) -> float:
    return time.process_time() - start


def row(documents: int, folder: Path) -> str:
    files = prepare(documents, folder)
    options, output = PseudoQueriesConfig(temperature=0.01), folder / "temperature.json"
    start = time.process_time()
    sampler = PseudoQuerySampler(files.statistics, options, SEED)
    reading = seconds(start)
    start = time.process_time()
    sample = RankSample([files.words], files.statistics, files.postings, AXIOMS, SAMPLE_DOCUMENTS, SEED)
    drawing = seconds(start)
    sample.ranks(sampler)  # compiles
    start = time.process_time()
    found = calibrate_temperature(sample, options, PAPER, output)
    search = seconds(start) - reading
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    cells = [
        f"{documents:,}", f"{len(sampler.names):,}", f"{found['temperature']:g}", f"{100 * found['distance']:.2f}",
        str(found["temperatures"]), f"{reading:.1f}", f"{drawing:.1f}", f"{search:.1f}",
        f"{search / found['temperatures']:.2f}", f"{peak:,.0f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", nargs="+", type=int, default=[50_000, 500_000])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args(arguments)
    print(HEAD)
    with tempfile.TemporaryDirectory() as temporary:
        for documents in given.documents:
            print(row(documents, (given.folder or Path(temporary)) / f"calibration-{documents}"), flush=True)


if __name__ == "__main__":
    main()
