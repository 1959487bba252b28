"""What the real workflow costs on generated files of several sizes, stage by stage, from the sidecars of its jobs."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.resources import project_directory
from irpretrain.report.page_views import Lineage, Record

DATASET = """datasets:
  generated:
    corpus: generated
    queries: {format: tsv, path: queries.tsv}
    qrels: {format: trec, path: qrels.txt}
"""
"""The end of each overlay: the queries that `write_overlay` writes."""


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


def options(doc: str | None, what: str, sizes: list[int], of: int) -> argparse.ArgumentParser:
    """Return a parser of what every ladder is told: how many of `what` by default, and of how many at full scale."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(f"--{what}", dest="sizes", type=int, nargs="+", default=sizes)
    parser.add_argument("--directory", type=Path, required=True, help="has a folder for each number")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", type=int, default=of, help=f"{what} to extrapolate to")
    return parser


def climb(
    given: argparse.Namespace, what: str, targets: Sequence[str], prepare: Callable[[int, Path], Path]
) -> None:
    """Run the workflow on each size and print the table.

    Args:
        given: what `options` parsed.
        what: is counted, for the table.
        prepare: makes all that a folder needs for a size, and returns the generated file.
    """
    measured: dict[int, dict[str, Cost]] = {}
    for size in sorted(given.sizes):
        folder = (given.directory / str(size)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        file = prepare(size, folder)
        run(folder, targets, given.cores)
        measured[size] = costs(file)
    print("\n".join(table(measured, what, given.of)))


def write_overlay(folder: Path, overlay: str, requested: Iterable[tuple[int, str, str]]) -> None:
    """Write an overlay and its data set: number and text of each query, and the document that is relevant to it."""
    rows = list(requested)
    write_text(folder / "queries.tsv", "".join(f"{n}\t{text}\n" for n, text, _ in rows))
    write_text(folder / "qrels.txt", "".join(f"{n} 0 {document} 1\n" for n, _, document in rows))
    write_text(folder / "overlay.yaml", overlay + DATASET)


def generate(file: Path, write: Callable[[], None]) -> None:
    """Let a function write a file, unless it is there, and keep what that cost beside it."""
    if not _measured(file).exists():
        before, used = time.monotonic(), os.times()
        write()
        processor = sum(os.times()[:4]) - sum(used[:4])
        write_text(_measured(file), json.dumps([time.monotonic() - before, processor]))


def _measured(file: Path) -> Path:
    return file.with_name("generated.json")


def run(folder: Path, targets: Sequence[str], cores: int) -> None:
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


def costs(file: Path) -> dict[str, Cost]:
    """Return what each stage of the run beside a generated file cost, the file itself first, then as they began."""
    wall, processor = json.loads(_measured(file).read_text())
    folder, summed = file.parent, defaultdict[str, Cost](Cost)
    summed[f"generate {file.name}"] = Cost(1, wall, processor, 0.0, _megabytes(file))
    records = Lineage.read((folder / "results").rglob("*.meta.json")).records
    for record in sorted(records, key=lambda record: record.cost("started")):
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


def table(measured: dict[int, dict[str, Cost]], what: str, size: int) -> list[str]:
    """Return the lines of a Markdown table: figures of the largest number of documents, growth, and extrapolation."""
    sizes = sorted(measured)
    largest = measured[sizes[-1]]
    grown = len(sizes) > 1
    lines = [
        f"| stage, {sizes[-1]:,} {what} | jobs | s | processor s | peak MB | disk MB "
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
