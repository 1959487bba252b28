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

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from generated_wikipedia import Wikipedia, write_dump
from irpretrain.atomic import write_text
from measured_run import Cost, costs, generate, run, table

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
datasets:
  generated:
    corpus: generated
    queries: {{format: tsv, path: queries.tsv}}
    qrels: {{format: trec, path: qrels.txt}}
retrieval: {{depth: 100, threads: {cores}}}
"""


def prepare(wikipedia: Wikipedia, folder: Path, shards: int, cores: int, steps: int) -> None:
    """Write dump, queries, judgements and overlay, whatever of them is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    generate(folder / DUMP, lambda: write_dump(folder / DUMP, wikipedia, cores))
    asked = range(0, wikipedia.articles, max(1, wikipedia.articles // QUERIES))
    write_text(folder / "queries.tsv", "".join(f"{n}\t{wikipedia.title(n)}\n" for n in asked))
    write_text(folder / "qrels.txt", "".join(f"{n} 0 enwiki/{wikipedia.page_number(n)} 1\n" for n in asked))
    overlay = OVERLAY.format(dump=DUMP, shards=shards, cores=cores, steps=steps or 1)
    write_text(folder / "overlay.yaml", overlay)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--directory", type=Path, required=True, help="has a folder for each number")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--steps", type=int, default=0, help="of pre-training Wikiformer on the groups")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shards", type=int, help=f"of the corpus; by default one for {ARTICLES_IN_SHARD:,}")
    parser.add_argument("--of", type=int, default=7_000_000, help="articles to extrapolate to")
    options = parser.parse_args(arguments)
    measured: dict[int, dict[str, Cost]] = {}
    for articles in sorted(options.articles):
        folder = (options.directory / str(articles)).resolve()
        shards = options.shards or max(options.cores, -(-articles // ARTICLES_IN_SHARD))
        prepare(Wikipedia(articles, options.seed), folder, shards, options.cores, options.steps)
        run(folder, [*TARGETS, *([TRAINED] if options.steps else [])], options.cores)
        measured[articles] = costs(folder / DUMP)
    print("\n".join(table(measured, "articles", options.of)))


if __name__ == "__main__":
    main()
