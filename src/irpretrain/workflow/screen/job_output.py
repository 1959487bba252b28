"""A job's output: where it goes while a display has the screen, what its log says, and paths as the user can take
them.
"""

import os
import re
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from irpretrain.foundation.progress import NOTICE

# Paths as the user can take them: from the folder in which the command was given, which `--directory` may leave.


# A relative path of several parts in a text.
RELATIVE_PATH = re.compile(r"""(?<![^\s'"`(])(?:\.{1,2}/|\w)[^\s'"`(),;:]*/[^\s'"`(),;:]*(?<!\.)""")


def as_user_path(path: str | Path) -> str:
    """Return a path for the user: relative if below the folder of the command, otherwise in full."""
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


# A job's log: its progress, its notices, and why it failed.


# How much of a growing log is read for the newest status; a status line is 200 bytes long.
TAIL_BYTES = 8192
STATUS = re.compile(
    r"^\[(?P<title>.*)\] (?P<text>(?:step )?(?P<done>\d[\d,]*)(?:/(?P<total>\d[\d,]*))?(?=[ ,]).*)$"
)
TIME_LEFT = re.compile(r", (?P<number>[\d.]+) (?P<unit>s|min|h) left$")
SECONDS = {"s": 1, "min": 60, "h": 3600}
FAILURE = re.compile(r"^(?:ERROR|FAULT) in \w+: ")


class Status(NamedTuple):
    """A job's progress: its line without the title, and the share that is done if a total is known."""

    text: str
    share: float | None

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the job's present work still takes by its own rate; None where the line has no time."""
        match = TIME_LEFT.search(self.text)
        return float(match["number"]) * SECONDS[match["unit"]] if match else None


def newest_status(log: Path) -> Status | None:
    """Return the newest status in a log; None without any, or if all is done: other work goes on."""
    try:
        with open(log, "rb") as handle:
            handle.seek(0, 2)
            handle.seek(max(0, handle.tell() - TAIL_BYTES))
            lines = handle.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        if match := STATUS.match(line):
            done = int(match["done"].replace(",", ""))
            total = int(match["total"].replace(",", "")) if match["total"] else 0
            if total and done >= total:
                return None
            return Status(match["text"], done / total if total else None)
    return None


def notices(log: Path) -> list[str]:
    """Return a job's notices in order."""
    mark = f"] {NOTICE}"
    lines = [
        line for line in _lines(log) if line.startswith("SLOW: ") or (line.startswith("[") and mark in line)
    ]
    return [line.replace(mark, "] ", 1) for line in dict.fromkeys(lines)]


def failure_message(log: Path) -> str:
    """Return the message that a failed job left at the end of its log; an empty string where it left none."""
    lines = _lines(log)
    for index in range(len(lines) - 1, -1, -1):
        if FAILURE.match(lines[index]):
            return "\n".join(lines[index:]).strip()
    return ""


def _lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


# Where the output of jobs goes while a display has the screen: into a file, by a pipe.
#
# The pipe is drained even where the file cannot be written: the message of a job that found the disk full must not be
# lost, so the newest messages are kept in memory, too.


# A line of a traceback: the copy of a script that Snakemake runs.
IN_SCRIPT = re.compile(r'  File ".*/scripts/tmp\w+\.(?P<script>\w+)\.py", line \d+')
END_MARK = b"\0end of the jobs' output\n"

# Seconds that the end of a run waits for the last of its output.
LONGEST_WAIT = 5.0


class JobOutput(threading.Thread):
    """Takes what this process and its children write to stdout and stderr, until `restore`."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.messages: dict[str, str] = {}
        """Rule, or script → the newest message of one of its jobs that failed."""
        self._path, self._ended, self._message, self._script = path, threading.Event(), "", ""
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
                self._note(line.decode("utf-8", "replace").rstrip("\n"))
        self._ended.set()

    def _note(self, line: str) -> None:
        """Collect messages: from "ERROR in" to an empty line, and the last line of a traceback."""
        # A script that fails before it has a log, at an import, leaves a traceback here alone.
        if match := IN_SCRIPT.match(line):
            self._script = match["script"]
        elif self._script and line and not line[0].isspace():
            where = as_user_path(self._path)
            self.messages[self._script] = f"FAULT in {self._script}: {line}\n  Its traceback is in {where}"
            self._script = ""
        if FAILURE.match(line):
            self._message = line.split(" ")[2].rstrip(":")
            self.messages[self._message] = line
        elif not line:
            self._message = ""
        elif self._message:
            self.messages[self._message] += f"\n{line}"

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
