"""Checkpoints that no job resumes from: `make checkpoints` lists them, `make checkpoints ARGS=--remove` removes them.

A finished job removes its own. A killed job leaves them, and after a change of its configuration nobody reads them.
Checkpoints are stale if their output exists. Those of the library lie beside their output, and go with the next
training that writes it.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from irpretrain.foundation.errors import IRPretrainError, count_of
from irpretrain.foundation.progress import print_line
from irpretrain.training.job_lock import hold_lock

CHECKPOINT_ROOT = Path("results/checkpoints")
# What `Checkpoints` makes for a job, by its key.
JOB_NAME = re.compile(r"[0-9a-f]{16,}(\.lock)?|\.[0-9a-f]{16,}\.removed")

# In a job's folder while its outputs are put in their places: their paths. `training.outputs` writes it.
OUTPUTS_FILE = "outputs.json"


class Leftover(NamedTuple):
    """Checkpoints of a job that is not done."""

    folder: Path
    output: str
    megabytes: float
    is_stale: bool


def leftovers(directory: Path) -> Iterator[Leftover]:
    entries = []
    for folder in filter(Path.is_dir, (directory / CHECKPOINT_ROOT).glob("*")):
        try:
            output = str(json.loads((folder / "job.json").read_text(encoding="utf-8"))["output"])
        except (OSError, ValueError, TypeError, KeyError):
            output = next(iter(_outputs_being_written(folder)), "")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        # A folder that a finished job was about to remove has a name that begins with a dot.
        is_stale = folder.name.startswith(".") or (bool(output) and (directory / output).exists())
        entries.append(Leftover(folder, output or "an unknown output", size / 1e6, is_stale))
    yield from sorted(entries, key=lambda leftover: (leftover.output, leftover.folder))


def _outputs_being_written(job: Path) -> list[str]:
    """Return the outputs that a job was putting in their places when it was killed, or has put there."""
    try:
        paths = json.loads((job / OUTPUTS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return paths if isinstance(paths, list) else []


def was_writing(root: Path, output: Path) -> bool:
    """Whether a job with its checkpoints under `root` was killed while it put `output` in its place."""
    return any(str(output) in _outputs_being_written(job) for job in root.glob("*"))


def remove_unfinished(root: Path) -> None:
    """Remove checkpoints and locks of killed jobs from a folder that no other job uses."""
    # What an earlier removal left comes first: a job with the same key is renamed to the same name.
    paths = sorted(path for path in root.iterdir() if JOB_NAME.fullmatch(path.name))
    killed_jobs = [path for path in paths if path.is_dir() and not _outputs_being_written(path)]
    for path in paths:
        if not path.is_dir():
            path.unlink()
            continue
        # Renamed first: a folder that a killed process left half removed must not be resumed from.
        if not path.name.startswith("."):
            path = path.rename(path.with_name(f".{path.name}.removed"))
        shutil.rmtree(path)
    if killed_jobs:
        print_line(
            f"{root}: removed the checkpoints of {count_of(len(killed_jobs), 'earlier training')} of this output"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="List checkpoints of jobs that were broken off.")
    parser.add_argument("--remove", action="store_true", help="remove those that no job goes on from")
    parser.add_argument("--directory", type=Path, default=Path(), help="folder of the run")
    options = parser.parse_args(arguments)
    removed_megabytes = 0.0
    for leftover in leftovers(options.directory):
        resumable_note = "its job goes on from it; if you changed or dropped that job, remove the folder"
        state = "stale: its output is there" if leftover.is_stale else resumable_note
        print(f"{leftover.megabytes:10,.1f} MB  {leftover.output}  {leftover.folder}  ({state})")
        if options.remove and leftover.is_stale:
            try:
                with hold_lock(leftover.folder.with_suffix(".lock"), str(leftover.folder)):
                    shutil.rmtree(leftover.folder)
            except (IRPretrainError, OSError) as error:
                print_line(f"ERROR: {error}")
                return 1
            removed_megabytes += leftover.megabytes
    if options.remove:
        print(f"{removed_megabytes:10,.1f} MB  removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
