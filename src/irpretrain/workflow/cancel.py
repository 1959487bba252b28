"""Cancel the Slurm jobs of dead runs of a folder; `python -m irpretrain.workflow.cancel` begins `make resume`.

When Snakemake is killed, its submitted jobs live on. A resumed run would submit them again, and two jobs would write
the same files. `--directory` is read as Snakemake does; its other arguments are ignored.
"""

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from irpretrain.config.arguments import directory_of_run
from irpretrain.foundation.errors import IRPretrainError, SetupError
from irpretrain.foundation.progress import print_line

RUN_ID = re.compile(r"SLURM run ID: (\S+)")
WAIT_SECONDS, POLL_SECONDS = 600.0, 2.0


def run_ids(folder: Path) -> list[str]:
    """Names of the Slurm jobs of each run that was started in `folder`, from Snakemake's logs there."""
    logs = sorted((folder / ".snakemake" / "log").glob("*.snakemake.log"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in logs]
    return list(dict.fromkeys(run_id for text in texts for run_id in RUN_ID.findall(text)))


def live_jobs(names: Sequence[str]) -> list[str]:
    """Ids of the jobs with one of these names that wait, run, or are about to end."""
    lines = slurm("squeue", "--noheader", "--me", "--format=%i|%j").splitlines()
    queue = [line.strip().split("|", 1) for line in lines if line.strip()]
    return [job for job, name in queue if name in names]


def cancel_jobs(folder: Path, wait: float = WAIT_SECONDS) -> int:
    """Cancel queued and running jobs of `folder`'s runs, wait for their end, and return their number.

    Raises:
        SetupError: Slurm's commands are missing or fail, or jobs outlive `wait` seconds.
    """
    names = run_ids(folder)
    cancelled = remaining_jobs = live_jobs(names) if names else []
    if remaining_jobs:
        print_line(
            f"Cancelling {len(remaining_jobs)} Slurm jobs of a run that is dead: {' '.join(remaining_jobs)}"
        )
        slurm("scancel", *remaining_jobs)
    deadline = time.monotonic() + wait
    while remaining_jobs:
        if time.monotonic() > deadline:
            raise SetupError(
                f"Slurm jobs {' '.join(remaining_jobs)} were cancelled but still run; see squeue"
            )
        time.sleep(POLL_SECONDS)
        remaining_jobs = live_jobs(names)
    return len(cancelled)


def slurm(*command: str) -> str:
    """Return the output of one of Slurm's commands; SetupError if it is not installed, or fails."""
    try:
        process = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise SetupError(f"{command[0]} was not found: is this a machine of a Slurm cluster?") from None
    if process.returncode:
        raise SetupError(f"{command[0]} failed: {process.stderr.strip()}")
    return process.stdout


def main(arguments: Sequence[str]) -> int:
    try:
        cancel_jobs(directory_of_run(arguments))
    except IRPretrainError as error:
        print_line(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
