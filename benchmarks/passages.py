"""What the workflow costs on generated passages, stage by stage: counts, axioms, groups, indexes, searches.

    python benchmarks/passages.py --passages 10000 100000 --directory runs/ladder
    python benchmarks/passages.py --passages 8841823 --directory runs/passages

Passages have the length of MS MARCO's, 56 words, and the term statistics that the head of generated_collection.py
names. ARES's groups are those of its strict agreement, which needs no predictor. All else is as in million.py: the same
command goes on after a kill, and prints the table again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

import generated_collection
from generated_wikipedia import vocabulary
from irpretrain.foundation.atomic import atomic_file
from measured_run import climb, generate, options, write_overlay

PASSAGES = "collection.tsv"
MEAN_LENGTH = 56
QUERIES, QUERY_WORDS = 400, 4
PASSAGES_IN_SHARD = 280_000
AT_ONCE = 10_000
TARGETS = (
    "results/axioms/passages/rank-intervals.json",
    "results/groups/passages/ares.parquet",
    "results/runs/generated/bm25/first-stage.run.gz",
    "results/runs/generated/textrank/first-stage.run.gz",
    "results/runs/generated/sdm/first-stage.run.gz",
)
OVERLAY = """# Written by benchmarks/passages.py.
inherit: definitions
corpora: {{generated: {{format: tsv, path: {path}, shards: {shards}, options: {{columns: [id, text]}}}}}}
collections: {{passages: [generated]}}
pseudo_queries: {{per_document: 2}}
word_vectors: {{most_words: {most_words}, epochs: 1}}
objectives: {{ares: {{type: ares, agreement: strict}}}}
axioms: {{threads: {cores}, memory_mb: 8000}}
indexes: {{textrank: {{type: textrank}}}}
first_stages:
  textrank: {{label: TextRank, index: textrank, parameters: {{k1: 0.9, b: 0.4}}, depth: 1000}}
  sdm: {{label: SDM, model: indri, dependence: {{}}, depth: 1000}}
retrieval: {{depth: 1000, threads: {cores}}}
experiments:
  generated: {{dataset: generated, first_stages: [textrank, sdm]}}
"""


def write_passages(path: Path, passages: int, seed: int) -> None:
    """Write a passage a line: its number, a tab, its words."""
    made = generated_collection.generate(passages, MEAN_LENGTH, seed, path.parent)
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for begin, texts in _texts(made.words, made.offsets):
            file.writelines(f"{number}\t{text}\n" for number, text in enumerate(texts, begin))
    for words in path.parent.glob("words-*.npy"):
        words.unlink()


def _texts(words: np.ndarray, offsets: np.ndarray) -> Iterator[tuple[int, list[str]]]:
    names = vocabulary()
    for begin in range(0, len(offsets) - 1, AT_ONCE):
        own = offsets[begin : begin + AT_ONCE + 1]
        drawn = names[words[own[0] : own[-1]]].tolist()
        ends = (own - own[0]).tolist()
        yield begin, [" ".join(drawn[i:j]) for i, j in pairwise(ends)]


def prepare(folder: Path, passages: int, cores: int, seed: int, most_words: int) -> Path:
    """Write passages, queries, judgements and overlay, whatever of them is not there; return the passages."""
    file = folder / PASSAGES
    generate(file, lambda: write_passages(file, passages, seed))
    names, random = vocabulary(), np.random.default_rng(seed)
    requested = [" ".join(names[300 + random.integers(0, 20_000, QUERY_WORDS)]) for _ in range(QUERIES)]
    shards = max(cores, -(-passages // PASSAGES_IN_SHARD))
    overlay = OVERLAY.format(path=PASSAGES, shards=shards, cores=cores, most_words=most_words)
    write_overlay(folder, overlay, ((n, text, str(n % passages)) for n, text in enumerate(requested)))
    return file


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, "passages", [10_000], 8_841_823)
    parser.add_argument("--most-words", type=int, default=20_000_000, help="that word vectors are trained on")
    given = parser.parse_args(arguments)

    def make(passages: int, folder: Path) -> Path:
        return prepare(folder, passages, given.cores, given.seed, given.most_words)

    climb(given, "passages", TARGETS, make)


if __name__ == "__main__":
    main()
