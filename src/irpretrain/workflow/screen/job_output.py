"""A job's output: where it goes while a display has the screen, and what its log says; paths as the user can take
them.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from irpretrain.foundation.progress import NOTICE


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


# How much of a growing log is read for its newest line; a line of progress is 200 bytes long.
TAIL_BYTES = 8192


def newest_progress(log: Path, since: float) -> str:
    """Return the newest line of progress of a job that began then, without its title; an empty string without any."""
    try:
        status = log.stat()
        if status.st_mtime < since - 1:  # of an earlier run
            return ""
        with open(log, "rb") as handle:
            handle.seek(max(0, status.st_size - TAIL_BYTES))
            lines = handle.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    texts = (line.rpartition("] ")[2] for line in reversed(lines) if line[:1] == "[" and NOTICE not in line)
    return next(texts, "")


def notices(log: Path) -> list[str]:
    """Return a job's notices in order."""
    mark = f"] {NOTICE}"
    return [
        line.replace(mark, "] ", 1)
        for line in dict.fromkeys(lines_of(log))
        if line.startswith("SLOW: ") or (line.startswith("[") and mark in line)
    ]


def failure_message(lines: Sequence[str], rule: str) -> str:
    """Return the last message of a failed job of a rule, to the next blank line; an empty string without any."""
    beginnings = (f"ERROR in {rule}: ", f"FAULT in {rule}: ")
    starts = [index for index, line in enumerate(lines) if line.startswith(beginnings)]
    return "\n".join(lines[starts[-1] :]).partition("\n\n")[0].strip() if starts else ""


def lines_of(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


class JobOutput:
    """Sends what this process and its children write to stdout and stderr to a file, until `restore`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        sys.stdout.flush()
        sys.stderr.flush()
        self._screen = os.dup(1), os.dup(2)
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        except OSError:  # a full disk
            file = os.open(os.devnull, os.O_WRONLY)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.close(file)

    def restore(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, screen in enumerate(self._screen, 1):
            os.dup2(screen, descriptor)
            os.close(screen)
