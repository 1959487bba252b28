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
import json
import math
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generated_wikipedia import Wikipedia, write_dump
from irpretrain.atomic import write_text
from irpretrain.report.lineage import Lineage, Record
from irpretrain.resources import project_directory

DUMP = "enwiki-generated-multistream.xml.bz2"
OBJECTIVES = ("srr", "rwi", "ati", "ltm", "hp", "shp", "mrds")
QUERIES = 200
ARTICLES_IN_SHARD = 60_000
MEASURED = "dump.json"
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


@dataclass(frozen=True)
class Cost:
    """What the jobs of a stage cost.

    Attributes:
        jobs: how many.
        wall, processor: seconds, summed over the jobs.
        memory: MB at the peak of the largest.
        disk: MB of what they made.
    """

    jobs: int = 0
    wall: float = 0.0
    processor: float = 0.0
    memory: float = 0.0
    disk: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.jobs + other.jobs,
            self.wall + other.wall,
            self.processor + other.processor,
            max(self.memory, other.memory),
            self.disk + other.disk,
        )


def prepare(wikipedia: Wikipedia, folder: Path, shards: int, cores: int, steps: int) -> None:
    """Write dump, queries, judgements and overlay, whatever of them is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    dump = folder / DUMP
    if not (folder / MEASURED).exists():
        before, used = time.monotonic(), os.times()
        write_dump(dump, wikipedia, cores)
        now = os.times()
        processor = sum(now[:4]) - sum(used[:4])
        write_text(folder / MEASURED, json.dumps([time.monotonic() - before, processor]))
    asked = range(0, wikipedia.articles, max(1, wikipedia.articles // QUERIES))
    write_text(folder / "queries.tsv", "".join(f"{n}\t{wikipedia.title(n)}\n" for n in asked))
    write_text(folder / "qrels.txt", "".join(f"{n} 0 enwiki/{wikipedia.page_number(n)} 1\n" for n in asked))
    overlay = OVERLAY.format(dump=DUMP, shards=shards, cores=cores, steps=steps or 1)
    write_text(folder / "overlay.yaml", overlay)


def run(folder: Path, cores: int, steps: int) -> None:
    """Run the workflow in a folder, as far as it is not done.

    Raises:
        SystemExit: it failed.
    """
    targets = [f"results/groups/articles/{name}.parquet" for name in OBJECTIVES]
    targets += ["results/indexes/generated", "results/runs/generated/bm25/first-stage.run.gz"]
    targets += ["results/models/pretrained/wikiformer/seed-2"] if steps else []
    project = project_directory()
    command = [sys.executable, "-m", "snakemake", *targets, "--snakefile", str(project / "Snakefile")]
    command += ["--directory", str(folder), "--configfile", str(folder / "overlay.yaml")]
    command += ["--cores", str(cores), "--nolock", "--quiet", "host", "reason"]
    if code := subprocess.run(command).returncode:
        sys.exit(code)


def costs(folder: Path) -> dict[str, Cost]:
    """Return what each stage cost, the generation of the dump first."""
    wall, processor = json.loads((folder / MEASURED).read_text())
    summed: dict[str, Cost] = defaultdict(Cost)
    summed["generate the dump"] = Cost(1, wall, processor, 0.0, _megabytes(folder / DUMP))
    for record in Lineage.read((folder / "results").rglob("*.meta.json")).records:
        disk = sum(_megabytes(folder / output) for output in record.outputs)
        seconds, cores, memory = map(record.cost, ("wall_seconds", "cpu_seconds", "peak_memory_mb"))
        summed[_name(record)] += Cost(1, seconds, cores, memory, disk)
    return dict(summed)


def _name(record: Record) -> str:
    """Rule, and the objective where the jobs of a rule make groups."""
    parts = Path(record.outputs[0]).parts
    if "groups" not in parts:
        return record.stage
    return f"{record.stage} {Path(parts[parts.index('groups') + 2]).stem}"


def _megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the power of the size that the last two values grow by."""
    (*_, size, larger), (*_, value, more) = sizes, values
    return math.log(max(more, 1e-3) / max(value, 1e-3)) / math.log(larger / size)


def extrapolated(sizes: Sequence[int], values: Sequence[float], size: int) -> tuple[float, float]:
    """Return the value at another size along the line, and along the power law, through the last two; sorted."""
    rate = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
    line = values[-1] + rate * (size - sizes[-1])
    power = values[-1] * (size / sizes[-1]) ** exponent(sizes, values)
    return min(line, power), max(line, power)


def table(measured: dict[int, dict[str, Cost]], size: int) -> list[str]:
    """Return the lines of a Markdown table: figures of the largest number of articles, growth, and extrapolation."""
    sizes = sorted(measured)
    largest = measured[sizes[-1]]
    grown = len(sizes) > 1
    lines = [
        f"| stage, {sizes[-1]:,} articles | jobs | s | processor s | peak MB | disk MB "
        + (f"| exponents of processor s, MB, disk | processor min for {size:,} |" if grown else "|"),
        "|---|---:|---:|---:|---:|---:|" + ("---|---:|" if grown else ""),
    ]
    sums = [0.0, 0.0]
    for name, cost in largest.items():
        line = f"| {name} | {cost.jobs} | {cost.wall:,.1f} | {cost.processor:,.1f} "
        line += f"| {cost.memory:,.0f} | {cost.disk:,.1f} |"
        if grown:
            all_costs = [measured[number].get(name, Cost()) for number in sizes]
            kinds = [[getattr(c, kind) for c in all_costs] for kind in ("processor", "memory", "disk")]
            powers = ", ".join(f"{exponent(sizes, values):.2f}" for values in kinds)
            ends = extrapolated(sizes, kinds[0], size)
            sums = [total + end for total, end in zip(sums, ends, strict=True)]
            line += f" {powers} | {ends[0] / 60:,.1f} to {ends[1] / 60:,.1f} |"
        lines.append(line)
    total = sum(largest.values(), Cost())
    line = f"| all | {total.jobs} | {total.wall:,.0f} | {total.processor:,.0f} "
    line += f"| {total.memory:,.0f} | {total.disk:,.0f} |"
    lines.append(line + (f" | {sums[0] / 60:,.0f} to {sums[1] / 60:,.0f} |" if grown else ""))
    return lines


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
        started = time.monotonic()
        run(folder, options.cores, options.steps)
        print(
            f"{articles:,} articles: {time.monotonic() - started:,.0f} s for what was left to do", flush=True
        )
        measured[articles] = costs(folder)
    print("\n".join(table(measured, options.of)))


if __name__ == "__main__":
    main()
