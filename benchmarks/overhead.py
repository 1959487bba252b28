"""How much of a run on one machine was spent outside its jobs' scripts.

    python benchmarks/overhead.py --cores 2 [--directory runs/prop-long] [--log <Snakemake's log of the run>]

Each of the run's core-seconds (cores × wall time, from when Snakemake begins its log to when it last writes to it) is
one of three:

- **in a script**: from `stage(...)` at its beginning to its sidecar, times the threads that the job asked for;
- **overhead**: a core is free although a job could run on it, all of whose inputs are there: Snakemake plans, starts
  Python, the script imports, Snakemake takes note of outputs; and all cores before the first and after the last script;
- **no job ready**: a core is free because every job that is left waits for one that runs.

A job that is not started because memory or another resource is limited counts as overhead too.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from irpretrain.foundation.errors import InputError, IRPretrainError
from irpretrain.report.page_views import Lineage

LOGS = ".snakemake/log"
ENDING = ".snakemake.log"


@dataclass(frozen=True)
class Script:
    """When one job's script ran, in seconds since 1970, on how many threads, and after which others."""

    started: float
    ended: float
    threads: int = 1
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class Overhead:
    """Core-seconds of a run: all, in scripts, free although a job was ready; the rest is free as none was."""

    jobs: int
    cores: int
    seconds: float
    in_scripts: float
    overhead: float

    @property
    def total(self) -> float:
        """All core-seconds."""
        return self.cores * self.seconds

    def text(self) -> str:
        """Return what is printed."""
        none_ready = self.total - self.in_scripts - self.overhead
        lines = [
            f"{self.jobs} jobs, {self.seconds:,.0f} s on {self.cores} cores: {self.total:,.0f} core-seconds"
        ]
        for name, value in (
            ("in scripts", self.in_scripts),
            ("overhead: a core was free though a job was ready", self.overhead),
            ("no job was ready", none_ready),
        ):
            lines.append(f"  {value:>10,.0f}  {value / self.total:6.1%}  {name}")
        return "\n".join(lines)


def measure(scripts: Sequence[Script], cores: int, started: float, ended: float) -> Overhead:
    """Divide the core-seconds of a run.

    Args:
        scripts: its jobs; `after` are indices of those that make a job's inputs.
        cores: what Snakemake was given.
        started, ended: of the run, in seconds since 1970.
    """
    moments = sorted(
        {started, ended, *(m for s in scripts for m in (s.started, s.ended) if started < m < ended)}
    )
    first = min((script.started for script in scripts), default=ended)
    last = max((script.ended for script in scripts), default=started)
    in_scripts = overhead = 0.0
    for begin, end in pairwise(moments):
        running = [script for script in scripts if script.started <= begin and end <= script.ended]
        busy = min(sum(script.threads for script in running), cores)
        free = cores - busy
        if first < end <= last:
            free = min(free, _wanted(scripts, begin, free))
        in_scripts += busy * (end - begin)
        overhead += free * (end - begin)
    return Overhead(len(scripts), cores, ended - started, in_scripts, overhead)


def _wanted(scripts: Sequence[Script], moment: float, free: int) -> int:
    """Return how many of the free cores the jobs that are ready could have, smaller jobs first."""
    taken = 0
    ready = (
        script.threads
        for script in scripts
        if script.started > moment and all(scripts[other].ended <= moment for other in script.after)
    )
    for threads in sorted(ready):
        if taken + threads > free:
            break
        taken += threads
    return taken


def read_run(directory: Path, log: Path | None, cores: int) -> Overhead:
    """Measure the last run in a working directory, or the one of a log.

    Raises:
        InputError: there is no log, or no job of the run has a sidecar.
    """
    lineage = Lineage.read((directory / "results").rglob("*.meta.json"))
    begins = [record.cost("started") for record in lineage.records]
    log, chosen = _with_jobs([log] if log else _logs(directory / LOGS), begins)
    position = {number: position for position, number in enumerate(chosen)}
    scripts = [
        Script(
            begins[number],
            begins[number] + lineage.records[number].cost("wall_seconds"),
            max(1, lineage.records[number].requested("threads")),
            tuple(position[source] for source in lineage.sources(number) if source in position),
        )
        for number in chosen
    ]
    ended = max(log.stat().st_mtime, *(script.ended for script in scripts))
    return measure(scripts, cores, _beginning(log), ended)


def _logs(folder: Path) -> list[Path]:
    """Snakemake's logs, the one that ended last first."""
    logs = sorted(folder.glob(f"*{ENDING}"), key=lambda path: -path.stat().st_mtime)
    if not logs:
        raise InputError(
            folder, "there is no log of Snakemake's", remedy="Run the workflow here, then measure it."
        )
    return logs


def _with_jobs(logs: Sequence[Path], begins: Sequence[float]) -> tuple[Path, list[int]]:
    """Return the first log with jobs, and which these are; dry runs and drawings of the workflow have logs too."""
    for log in logs:
        started, ended = _beginning(log), log.stat().st_mtime
        if chosen := [i for i, begin in enumerate(begins) if started <= begin <= ended]:
            return log, chosen
    raise InputError(logs[0], "no job of this run has a sidecar under results")


def _beginning(log: Path) -> float:
    """When a run began: its log is named after it, in local time."""
    try:
        return datetime.strptime(log.name.removesuffix(ENDING), "%Y-%m-%dT%H%M%S.%f").timestamp()
    except ValueError:
        raise InputError(log, "this is not a log of Snakemake's: its name is no time") from None


def main(arguments: Sequence[str]) -> int:
    """Print the overhead of a run, and return an exit code."""
    parser = argparse.ArgumentParser(
        prog="python benchmarks/overhead.py", description="What a run spent outside its scripts."
    )
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="what Snakemake was given")
    parser.add_argument("--directory", "-d", type=Path, default=Path(), help="where the run's results lie")
    parser.add_argument("--log", type=Path, help="Snakemake's log of the run; the last, if not given")
    given = parser.parse_args(arguments)
    try:
        print(read_run(given.directory, given.log, given.cores).text())
    except IRPretrainError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
