"""What the workflow costs on generated files of several sizes, stage by stage, from the sidecars of its jobs.

    python benchmarks/whole_runs.py wikipedia --sizes 1000 3000 10000 --directory runs/ladder
    python benchmarks/whole_runs.py wikipedia --sizes 1000000 --steps 100 --directory runs/million
    python benchmarks/whole_runs.py passages --sizes 8841823 --directory runs/passages

`wikipedia`: a dump (generated_wikipedia.py) to the groups of all objectives but ARES's, word pieces, index, search.
`passages`: passages of MS MARCO's length (generated_collection.py) to counts, axioms, groups of ARES by strict
agreement, which needs no predictor, indexes, searches.

Each size has a folder, with the generated file, the overlay that this writes, and the results of the workflow, which
stays under `snakemake`'s control: the same command goes on after a kill, and prints the table again when all is done.
Seconds, processor seconds and peak memory are those of the jobs' sidecars; disk is what lies there; the rate is of
generated documents a processor second. With several sizes the table has exponents: 1 where processor time grows as the
documents do. `--of` extrapolates, along the straight line through the two largest and along their power law; the truth
should lie between.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from generated_collection import write_passages
from generated_wikipedia import Wikipedia, vocabulary, write_dump
from irpretrain.config.objectives import OBJECTIVES
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.resources import project_directory
from irpretrain.report.lineage import Lineage, Record

WIKIPEDIA = """# Written by benchmarks/whole_runs.py.
inherit: definitions
corpora: {{generated: {{format: wikipedia-dump, path: {file}, shards: {shards}}}}}
collections: {{articles: [generated]}}
graph: {{mentions: none, mention_lower: false, segment_words: 128, threads: {cores}}}
objectives: # without caps: those of the embedded default are fewer and smaller
  srr: {{most_negatives: 15}}
  ati: {{most_negatives: 15}}
  ltm: {{links: see-also, negatives: 4}}
  hp: &all {{negatives: 24, segments_per_document: null, positives_per_segment: null}}
  shp: *all
  mrds: *all
{others}
models:
  wikiformer: {{training: {{steps: {steps}}}}}
retrieval: {{depth: 100, threads: {cores}}}
"""
PASSAGES = """# Written by benchmarks/whole_runs.py.
inherit: definitions
corpora: {{generated: {{format: tsv, path: {file}, shards: {shards}, options: {{columns: [id, text]}}}}}}
collections: {{passages: [generated]}}
pseudo_queries: {{per_document: 2}}
word_vectors: {{most_words: 20000000, epochs: 1}}
objectives: {{ares: {{type: ares, agreement: strict}}}}
axioms: {{threads: {cores}, memory_mb: 8000}}
indexes: {{textrank: {{type: textrank}}}}
first_stages:
  textrank: {{label: TextRank, index: textrank, parameters: {{k1: 0.9, b: 0.4}}}}
  sdm: {{label: SDM, model: indri, dependence: {{}}}}
retrieval: {{depth: 1000, threads: {cores}}}
experiments:
  generated: {{dataset: generated, first_stages: [textrank, sdm]}}
"""
DATASET = """datasets:
  generated:
    corpus: generated
    queries: {format: tsv, path: queries.tsv}
    qrels: {format: trec, path: qrels.txt}
"""
DEFAULT = {"rop", "ares", "srr", "rwi", "ati", "ltm", "hp", "shp", "mrds"}
"""Objectives that the default configuration has."""
RUNS = "results/runs/generated/{}/first-stage.run.gz"
TRAINED = "results/models/pretrained/wikiformer/seed-2"

# Number and text of each query, and the document that is relevant to it.
Queries = Iterator[tuple[int, str, str]]


@dataclass(frozen=True)
class Collection:
    """A kind of generated collection.

    Attributes:
        file: its name.
        unit: what is counted.
        in_shard: most documents of a shard.
        full_scale: documents to extrapolate to.
        overlay: the configuration.
        targets: what the workflow makes.
        write: writes so many documents, by a seed, with so many processes.
        queries: of so many documents, by a seed.
    """

    file: str
    unit: str
    in_shard: int
    full_scale: int
    overlay: str
    targets: tuple[str, ...]
    write: Callable[[Path, int, int, int], None]
    queries: Callable[[int, int], Queries]


def _write_wikipedia(path: Path, articles: int, seed: int, cores: int) -> None:
    write_dump(path, Wikipedia(articles, seed), cores)


def _titles(articles: int, seed: int) -> Queries:
    """Titles of some 200 articles."""
    wikipedia = Wikipedia(articles, seed)
    for number in range(0, articles, max(1, articles // 200)):
        yield number, wikipedia.title(number), f"enwiki/{wikipedia.page_number(number)}"


def _write_passages(path: Path, passages: int, seed: int, cores: int) -> None:
    write_passages(path, passages, seed, vocabulary())


def _words(passages: int, seed: int) -> Queries:
    """400 queries of four words."""
    names, random = vocabulary(), np.random.default_rng(seed)
    for number in range(400):
        yield number, " ".join(names[300 + random.integers(0, 20_000, 4)]), str(number % passages)


COLLECTIONS = {
    "wikipedia": Collection(
        "enwiki-generated-multistream.xml.bz2",
        "articles",
        60_000,
        7_000_000,
        WIKIPEDIA,
        (
            *(f"results/groups/articles/{name}.parquet" for name in OBJECTIVES if name != "ares"),
            "results/indexes/generated",
            RUNS.format("bm25"),
        ),
        _write_wikipedia,
        _titles,
    ),
    "passages": Collection(
        "collection.tsv",
        "passages",
        280_000,
        8_841_823,
        PASSAGES,
        (
            "results/axioms/passages/rank-intervals.json",
            "results/groups/passages/ares.parquet",
            *(RUNS.format(name) for name in ("bm25", "textrank", "sdm")),
        ),
        _write_passages,
        _words,
    ),
}


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


def prepare(collection: Collection, size: int, folder: Path, given: argparse.Namespace) -> None:
    """Write the generated file, queries, judgements and overlay, whatever of them is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    file, generation = folder / collection.file, folder / "generated.json"
    if not generation.exists():
        before, used = time.monotonic(), os.times()
        collection.write(file, size, given.seed, given.cores)
        processor = sum(os.times()[:4]) - sum(used[:4])
        write_text(generation, json.dumps([time.monotonic() - before, processor]))
    shards = given.shards or max(given.cores, -(-size // collection.in_shard))
    values = {"file": file.name, "shards": shards, "cores": given.cores, "steps": given.steps or 1}
    values["others"] = "\n".join(f"  {name}: {{type: {name}}}" for name in OBJECTIVES if name not in DEFAULT)
    write_text(folder / "overlay.yaml", collection.overlay.format(**values) + DATASET)
    rows = list(collection.queries(size, given.seed))
    write_text(folder / "queries.tsv", "".join(f"{number}\t{text}\n" for number, text, _ in rows))
    write_text(folder / "qrels.txt", "".join(f"{number} 0 {document} 1\n" for number, _, document in rows))


def run(folder: Path, targets: Iterable[str], cores: int) -> None:
    """Run the workflow in a folder, by its overlay, as far as the targets are not made; print how long that took.

    Raises:
        SystemExit: it failed.
    """
    project = project_directory()
    started = time.monotonic()
    command = [sys.executable, "-m", "snakemake", *targets, "--snakefile", str(project / "Snakefile")]
    command += ["--directory", str(folder), "--configfile", str(folder / "overlay.yaml")]
    command += ["--cores", str(cores), "--nolock", "--quiet", "host", "reason"]
    if code := subprocess.run(command).returncode:
        sys.exit(code)
    print(f"{folder}: {time.monotonic() - started:,.0f} s for what was left to do", flush=True)


def costs(folder: Path, file: str) -> dict[str, Cost]:
    """Return what each stage of a folder's run cost, the generated file first, then as they began."""
    wall, processor = json.loads((folder / "generated.json").read_text())
    summed = defaultdict[str, Cost](Cost)
    summed[f"generate {file}"] = Cost(1, wall, processor, 0.0, _megabytes(folder / file))
    records = Lineage.read((folder / "results").rglob("*.meta.json")).records
    for record in sorted(records, key=lambda record: record.cost("started")):
        disk = sum(_megabytes(folder / output) for output in record.outputs)
        seconds, cores, memory = map(record.cost, ("wall_seconds", "cpu_seconds", "peak_memory_mb"))
        summed[_stage(record)] += Cost(1, seconds, cores, memory, disk)
    return dict(summed)


def _stage(record: Record) -> str:
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


def table(measured: dict[int, dict[str, Cost]], unit: str, size: int) -> list[str]:
    """Return the lines of a Markdown table: figures of the largest number of documents, growth, and extrapolation."""
    sizes = sorted(measured)
    largest = measured[sizes[-1]]
    grown = len(sizes) > 1
    lines = [
        f"| stage, {sizes[-1]:,} {unit} | jobs | s | processor s | {unit}/s | peak MB | disk MB "
        + (f"| exponents of processor s, MB, disk | processor min for {size:,} |" if grown else "|"),
        "|---|---:|---:|---:|---:|---:|---:|" + ("---|---:|" if grown else ""),
    ]
    sums = [0.0, 0.0]
    for name, cost in largest.items():
        line = f"| {name} | {cost.jobs} | {cost.wall:,.1f} | {cost.processor:,.1f} "
        line += f"| {sizes[-1] / max(cost.processor, 1e-3):,.0f} | {cost.memory:,.0f} | {cost.disk:,.1f} |"
        if grown:
            all_costs = [measured[number].get(name, Cost()) for number in sizes]
            kinds = [[getattr(c, kind) for c in all_costs] for kind in ("processor", "memory", "disk")]
            powers = ", ".join(f"{exponent(sizes, values):.2f}" for values in kinds)
            ends = extrapolated(sizes, kinds[0], size)
            sums = [total + end for total, end in zip(sums, ends, strict=True)]
            line += f" {powers} | {ends[0] / 60:,.1f} to {ends[1] / 60:,.1f} |"
        lines.append(line)
    total = sum(largest.values(), Cost())
    line = f"| all | {total.jobs} | {total.wall:,.0f} | {total.processor:,.0f} |"
    line += f" | {total.memory:,.0f} | {total.disk:,.0f} |"
    lines.append(line + (f" | {sums[0] / 60:,.0f} to {sums[1] / 60:,.0f} |" if grown else ""))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", choices=COLLECTIONS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000, 10_000], help="documents")
    parser.add_argument("--directory", type=Path, required=True, help="has a folder for each size")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--shards", type=int, help="of the corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", type=int, help="documents to extrapolate to (default: the real collection's)")
    parser.add_argument(
        "--steps", type=int, default=0, help="of pre-training Wikiformer on wikipedia's groups"
    )
    given = parser.parse_args()
    collection, measured = COLLECTIONS[given.collection], dict[int, dict[str, Cost]]()
    trained = [TRAINED] if given.steps and given.collection == "wikipedia" else []
    for size in sorted(given.sizes):
        folder = (given.directory / str(size)).resolve()
        prepare(collection, size, folder, given)
        run(folder, [*collection.targets, *trained], given.cores)
        measured[size] = costs(folder, collection.file)
    print("\n".join(table(measured, collection.unit, given.of or collection.full_scale)))


if __name__ == "__main__":
    main()
