"""What jobs and their logs say, and paths as the user can take them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from irpretrain.foundation.progress import NOTICE

# How much of a growing log is read for its newest line; a line of progress is 200 bytes long.
TAIL_BYTES = 8192
# How jobs end that the user ends.
INTERRUPTED = ("exit status 130", "Interrupt", "Terminated", "Hangup")
KILLED = "Killed"


def as_user_path(path: str | Path) -> str:
    """Return a path for the user: relative if below the folder of the command, otherwise in full.

    `--directory` lets the folder of a run be another one.
    """
    folder, absolute = os.environ.get("PWD", os.getcwd()), os.path.abspath(path)
    return os.path.relpath(absolute, folder) if Path(absolute).is_relative_to(folder) else absolute


def folder_note() -> str:
    """Return where paths of messages begin; nothing where the user stands in the folder of the run."""
    folder = as_user_path(os.curdir)
    return "" if folder == os.curdir else f"Relative paths begin in {folder}."


@dataclass
class Job:
    number: int
    rule: str
    title: str  # what the user reads: the rule and the values of its wildcards
    logs: list[Path] = field(default_factory=list)  # the first is its own
    outputs: list[str] = field(default_factory=list)
    started: float = 0.0  # seconds since the epoch
    failure_text: str = ""  # how it failed, by Snakemake

    def seconds(self, now: float) -> float:
        return max(0.0, now - self.started)


def newest_progress(job: Job) -> str:
    """Return the newest count and time left that a running job says; "" if it says nothing."""
    try:
        log = next(iter(job.logs), Path(os.devnull))
        status = log.stat()
        if status.st_mtime < job.started - 1:  # of an earlier run
            return ""
        with open(log, "rb") as handle:
            handle.seek(max(0, status.st_size - TAIL_BYTES))
            lines = handle.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    texts = (line.rpartition("] ")[2] for line in reversed(lines) if line[:1] == "[" and NOTICE not in line)
    count, *details = next(texts, "").split(", ")
    return ", ".join([count, *(detail for detail in details if detail.endswith(" left"))])


def notices(log: Path) -> list[str]:
    """Return a job's notices in order."""
    mark = f"] {NOTICE}"
    return [
        line.replace(mark, "] ", 1)
        for line in dict.fromkeys(lines_of(log))
        if line.startswith("SLOW: ") or (line.startswith("[") and mark in line)
    ]


def failure_message(job: Job, printed: Sequence[str]) -> str:
    """Return why a job failed, from its logs or else the lines that all jobs printed; "" if it was interrupted."""
    beginnings = (f"ERROR in {job.rule}: ", f"FAULT in {job.rule}: ")
    for lines in [*map(lines_of, job.logs), printed]:
        for start in reversed([index for index, line in enumerate(lines) if line.startswith(beginnings)]):
            return "\n".join(lines[start:]).partition("\n\n")[0].strip()
    if job.failure_text in INTERRUPTED:
        return ""
    ending = f": {job.failure_text}" if job.failure_text else ""
    memory = " The system ends jobs so when memory runs out." if job.failure_text == KILLED else ""
    last_lines = [f"\n  The last line that jobs printed: {line}" for line in printed if line][-1:]
    return (
        f"ERROR in {job.rule}: {job.title} stopped without a message{ending}.{memory}\n"
        f"  Its log: {', '.join(map(as_user_path, job.logs))}{''.join(last_lines)}"
    )


def lines_of(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
