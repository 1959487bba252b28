"""A job's output: where it goes while a display has the screen, what its log says, and paths as the user can take
them.
"""

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from irpretrain.foundation.progress import NOTICE

# A relative path of several parts in a text.
RELATIVE_PATH = re.compile(r"""(?<![^\s'"`(])(?:\.{1,2}/|\w)[^\s'"`(),;:]*/[^\s'"`(),;:]*(?<!\.)""")


def as_user_path(path: str | Path) -> str:
    """Return a path for the user: relative if below the folder of the command, otherwise in full.

    `--directory` lets the folder of a run be another one.
    """
    folder, absolute = _users_folder(), os.path.abspath(path)
    return os.path.relpath(absolute, folder) if Path(absolute).is_relative_to(folder) else absolute


def with_user_paths(text: str) -> str:
    """Return a message with its existing paths, and those out of the run's folder, as user paths; others unchanged."""
    if Path(_users_folder()).resolve() == Path.cwd():
        return text

    def displayed(match: re.Match[str]) -> str:
        path = match[0]
        return as_user_path(path) if path.startswith("../") or os.path.exists(path) else path

    return RELATIVE_PATH.sub(displayed, text)


def _users_folder() -> str:
    return os.environ.get("PWD", os.getcwd())


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


def failure_message(lines: Sequence[str], rule: str = "") -> str:
    """Return the last message of a failed job of a rule, to the end of the lines; an empty string without any."""
    beginnings = (f"ERROR in {rule}", f"FAULT in {rule}")
    starts = [index for index, line in enumerate(lines) if line.startswith(beginnings)]
    return "\n".join(lines[starts[-1] :]).strip() if starts else ""


def lines_of(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


END_MARK = b"\0end of the jobs' output\n"
KEPT_LINES = 200

# Seconds that the end of a run waits for the last of its output.
LONGEST_WAIT = 5.0


class JobOutput(threading.Thread):
    """Takes what this process and its children write to stdout and stderr into a file, until `restore`.

    By a pipe, which is drained even where the file cannot be written: the message of a job that found the disk full
    must not be lost, so the newest lines are kept in memory, too.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.newest = deque[str](maxlen=KEPT_LINES)
        self._path, self._ended = path, threading.Event()
        sys.stdout.flush()
        sys.stderr.flush()
        self._screen = os.dup(1), os.dup(2)
        self._reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os.close(writing)
        self.start()

    def run(self) -> None:
        with _opened(self._path) as file, open(self._reading, "rb") as lines:
            for line in lines:
                if line.endswith(END_MARK):
                    break
                with suppress(OSError):
                    file.write(line)
                self.newest.append(line.decode("utf-8", "replace").rstrip("\n"))
        self._ended.set()

    def restore(self) -> None:
        """Give the screen back, after all that was written until now has been read."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(2, END_MARK)
        for descriptor, screen in enumerate(self._screen, 1):
            os.dup2(screen, descriptor)
            os.close(screen)
        self._ended.wait(LONGEST_WAIT)


def _opened(path: Path) -> IO[bytes]:
    try:
        return open(path, "wb", buffering=0)
    except OSError:
        return open(os.devnull, "wb")
