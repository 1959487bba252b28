"""Processes of this machine in a run's folder: `python -m irpretrain.workflow.live_runs ARGUMENTS`.

`make resume` calls this first, with Snakemake's arguments, and `make clean`: two runs in one folder, or a job that
outlived its Snakemake, would write the same files, and a run whose results are removed fails.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from irpretrain.config.arguments import directory_of_run

PROCESSES = Path("/proc")

# Part of the path of a script that Snakemake started.
SCRIPTS = "/.snakemake/scripts/"


def live_processes(folder: Path, processes: Path = PROCESSES) -> list[int]:
    """Return the ids of Snakemakes and their jobs in a folder, without this process and its ancestors.

    Slurm's jobs do not count: `workflow.cancel` cancels them. Empty without /proc.
    """
    own = set(_ancestors(os.getpid(), processes))
    found = []
    for entry in processes.glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            words = (entry / "cmdline").read_text(errors="replace").split("\0")
            if (
                int(entry.name) not in own
                and _is_of_a_run(words)
                and (entry / "cwd").samefile(folder)
                and not _is_of_slurm(entry)
            ):
                found.append(int(entry.name))
    return sorted(found)


def _is_of_a_run(words: Sequence[str]) -> bool:
    # `python -m snakemake`, `python /…/bin/snakemake` or `python /…/.snakemake/scripts/…`.
    return any(SCRIPTS in word or os.path.basename(word) == "snakemake" for word in words[:3])


def _is_of_slurm(process: Path) -> bool:
    """Whether a process belongs to a job of Slurm, but not to the one that this process belongs to."""
    job = re.search(r"(?:^|\0)SLURM_JOB_ID=(\d+)", (process / "environ").read_text(errors="replace"))
    return job is not None and job[1] != os.environ.get("SLURM_JOB_ID")


def _ancestors(process: int, processes: Path) -> Iterator[int]:
    while process > 0:
        yield process
        try:
            status = (processes / str(process) / "stat").read_text(errors="replace")
        except OSError:
            return
        process = int(status.rpartition(")")[2].split()[1])


def main(arguments: Sequence[str]) -> int:
    """Print what works in the folder of a run, and return an exit code: 1 if anything does."""
    folder = directory_of_run(arguments)
    live = live_processes(folder) if folder.is_dir() else []
    if not live:
        return 0
    numbers = " ".join(map(str, live))
    print(
        f"ERROR: {folder.resolve()}: a run is alive here, process {numbers}.\n"
        f"  Wait until it ends, or end it (kill {numbers}); then do this again.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
