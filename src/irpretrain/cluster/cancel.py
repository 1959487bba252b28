"""Cancel the jobs that dead runs of a folder left in Slurm's queue: `python -m irpretrain.cluster.cancel`.

When Snakemake is killed, the jobs that it submitted live on. A resumed run would submit them again, and two jobs would
write the same files. `make resume` calls this first. With `--directory` it looks there, as Snakemake does; Snakemake's
other arguments are passed over.
"""

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from irpretrain.errors import IRPretrainError, SetupError
from irpretrain.progress import say

RUN_ID = re.compile(r"SLURM run ID: (\S+)")
WAIT_SECONDS, POLL_SECONDS = 600.0, 2.0


def run_ids(folder: Path) -> list[str]:
    """Names of the Slurm jobs of each run that was started in `folder`, from Snakemake's logs there."""
    logs = sorted((folder / ".snakemake" / "log").glob("*.snakemake.log"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in logs]
    return list(dict.fromkeys(run_id for text in texts for run_id in RUN_ID.findall(text)))


def left_jobs(names: Sequence[str]) -> list[str]:
    """Ids of the jobs with one of these names that wait, run, or are about to end."""
    lines = slurm("squeue", "--noheader", "--me", "--format=%i|%j").splitlines()
    queue = [line.strip().split("|", 1) for line in lines if line.strip()]
    return [job for job, name in queue if name in names]


def cancel_jobs(folder: Path, wait: float = WAIT_SECONDS) -> int:
    """Cancel what runs of `folder` left in the queue, wait until nothing of it runs any more, and return how many.

    Raises:
        SetupError: Slurm's commands are not there or fail, or jobs outlive `wait` seconds.
    """
    names = run_ids(folder)
    cancelled = left = left_jobs(names) if names else []
    if left:
        say(f"Cancelling {len(left)} Slurm jobs of a run that is dead: {' '.join(left)}")
        slurm("scancel", *left)
    end = time.monotonic() + wait
    while left:
        if time.monotonic() > end:
            raise SetupError(f"Slurm jobs {' '.join(left)} were cancelled but still run; see squeue")
        time.sleep(POLL_SECONDS)
        left = left_jobs(names)
    return len(cancelled)


def slurm(*command: str) -> str:
    """Return what one of Slurm's commands prints.

    Raises:
        SetupError: it is not installed, or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise SetupError(f"{command[0]} was not found: is this a machine of a Slurm cluster?") from None
    if done.returncode:
        raise SetupError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def main(arguments: Sequence[str]) -> int:
    """Cancel, and return an exit code."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    try:
        cancel_jobs(parser.parse_known_args(arguments)[0].directory)
    except IRPretrainError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
