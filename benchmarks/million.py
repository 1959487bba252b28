"""What the workflow costs on a generated Wikipedia, stage by stage: from the dump to groups, tokens, index, search.

    python benchmarks/million.py --articles 1000 3000 10000 --directory runs/ladder
    python benchmarks/million.py --articles 1000000 --steps 100 --directory runs/million

Each number of articles has a folder, with the dump, the overlay that this writes, and the results of the real workflow,
which stays under `snakemake`'s control: the same command goes on after a kill, and prints the table again when all is
done. Seconds, processor seconds and peak memory are those of the jobs' sidecars; disk is what lies there. With several
numbers of articles the table has exponents: 1 where processor time grows as the articles do. `--of` extrapolates, along
the straight line through the two largest and along their power law; the truth should lie between.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from generated_wikipedia import Wikipedia, write_dump
from measured_run import climb, generate, options, write_overlay

DUMP = "enwiki-generated-multistream.xml.bz2"
OBJECTIVES = ("srr", "rwi", "ati", "ltm", "hp", "shp", "mrds")
QUERIES = 200
ARTICLES_IN_SHARD = 60_000
TARGETS = (
    *(f"results/groups/articles/{name}.parquet" for name in OBJECTIVES),
    "results/indexes/generated",
    "results/runs/generated/bm25/first-stage.run.gz",
)
TRAINED = "results/models/pretrained/wikiformer/seed-2"
OVERLAY = """# Written by benchmarks/million.py.
inherit: definitions
corpora: {{generated: {{format: wikipedia-dump, path: {dump}, shards: {shards}}}}}
collections: {{articles: [generated]}}
graph: {{mentions: none, mention_lower: false, segment_words: 128, threads: {cores}}}
objectives: # without caps: those of the embedded default are fewer and smaller
  srr: {{most_negatives: 15}}
  ati: {{most_negatives: 15}}
  ltm: {{links: see-also, negatives: 4}}
  hp: &all {{negatives: 24, segments_per_document: null, positives_per_segment: null}}
  shp: *all
  mrds: *all
models:
  wikiformer: {{training: {{steps: {steps}}}}}
retrieval: {{depth: 100, threads: {cores}}}
"""


def prepare(wikipedia: Wikipedia, folder: Path, shards: int, cores: int, steps: int) -> Path:
    """Write dump, queries, judgements and overlay, whatever of them is not there; return the dump."""
    dump = folder / DUMP
    generate(dump, lambda: write_dump(dump, wikipedia, cores))
    requested = range(0, wikipedia.articles, max(1, wikipedia.articles // QUERIES))
    overlay = OVERLAY.format(dump=DUMP, shards=shards, cores=cores, steps=steps or 1)
    rows = ((n, wikipedia.title(n), f"enwiki/{wikipedia.page_number(n)}") for n in requested)
    write_overlay(folder, overlay, rows)
    return dump


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, "articles", [1000, 3000, 10_000], 7_000_000)
    parser.add_argument("--steps", type=int, default=0, help="of pre-training Wikiformer on the groups")
    parser.add_argument("--shards", type=int, help=f"of the corpus; by default one for {ARTICLES_IN_SHARD:,}")
    given = parser.parse_args(arguments)

    def make(articles: int, folder: Path) -> Path:
        shards = given.shards or max(given.cores, -(-articles // ARTICLES_IN_SHARD))
        return prepare(Wikipedia(articles, given.seed), folder, shards, given.cores, given.steps)

    climb(given, "articles", [*TARGETS, *([TRAINED] if given.steps else [])], make)


if __name__ == "__main__":
    main()
