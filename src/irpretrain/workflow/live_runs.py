"""Processes of this machine in a run's folder: `python -m irpretrain.workflow.live_runs ARGUMENTS`.

`make resume` calls this first, with Snakemake's arguments, and `make clean`: two runs in one folder, or a job that
outlived its Snakemake, would write the same files, and a run whose results are removed fails.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from irpretrain.config.arguments import directory_of_run
from irpretrain.foundation.progress import print_line

# Part of the path of a script that Snakemake started.
SCRIPTS = "/.snakemake/scripts/"


def live_processes(folder: Path) -> list[int]:
    """Return the ids of Snakemakes and their jobs in a folder, without this process and its ancestors.

    Slurm's jobs do not count: `workflow.cancel` cancels them. Jobs of the Slurm job that this process belongs to do.
    """
    excluded_ids = {os.getpid(), *(ancestor.pid for ancestor in psutil.Process().parents())}
    slurm_jobs = (None, os.environ.get("SLURM_JOB_ID"))
    live_ids = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # it has ended, or is another user's
            if (
                process.pid not in excluded_ids
                and _is_of_a_run(process.cmdline())
                and os.path.samefile(process.cwd(), folder)
                and process.environ().get("SLURM_JOB_ID") in slurm_jobs
            ):
                live_ids.append(process.pid)
    return sorted(live_ids)


# Options of Python that take the next word.
OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def _is_of_a_run(words: Sequence[str]) -> bool:
    """Whether a command is `snakemake`, `python -m snakemake` or `python /…/.snakemake/scripts/…`."""
    program, *arguments = [*words, ""]
    if os.path.basename(program) == "snakemake":
        return True
    if not os.path.basename(program).startswith("python"):
        return False  # whatever it does with a file of this name
    rest_of_words = iter(arguments)
    for word in rest_of_words:
        if word == "-m":
            return next(rest_of_words) == "snakemake"
        if word in OPTIONS_WITH_VALUE:
            next(rest_of_words)
        elif word == "-c" or not word.startswith("-"):
            return SCRIPTS in word or os.path.basename(word) == "snakemake"
    return False


def main(arguments: Sequence[str]) -> int:
    """Print what works in the folder of a run, and return an exit code: 1 if anything does."""
    folder = directory_of_run(arguments)
    live_ids = live_processes(folder) if folder.is_dir() else []
    if not live_ids:
        return 0
    ids_text = " ".join(map(str, live_ids))
    print_line(
        f"ERROR: {folder.resolve()}: a run is alive here, process {ids_text}.\n"
        f"  Wait until it ends, or end it (kill {ids_text}); then do this again."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
