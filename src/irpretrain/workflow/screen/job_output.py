"""A job's output: where it goes while a display has the screen, what its log says, and paths as the user can take
them.
"""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from irpretrain.foundation.progress import NOTICE

# Paths as the user can take them: from the folder in which the command was given, which `--directory` may leave.


# A relative path of several parts in a text.
PATH = re.compile(r"""(?<![^\s'"`(])(?:\.{1,2}/|\w)[^\s'"`(),;:]*/[^\s'"`(),;:]*(?<!\.)""")


def as_user_path(path: str | Path) -> str:
    """Return a path for the user: relative if below the folder of the command, otherwise in full."""
    there, whole = _users_folder(), os.path.abspath(path)
    return os.path.relpath(whole, there) if Path(whole).is_relative_to(there) else whole


def with_user_paths(text: str) -> str:
    """Return a message with its existing paths, and those out of the run's folder, as user paths; others unchanged."""
    if Path(_users_folder()).resolve() == Path.cwd():
        return text

    def displayed(match: re.Match[str]) -> str:
        path = match[0]
        return as_user_path(path) if path.startswith("../") or os.path.exists(path) else path

    return PATH.sub(displayed, text)


def _users_folder() -> str:
    return os.environ.get("PWD", os.getcwd())


# A job's log: its progress, its notices, and why it failed.


# How much of a growing log is read for the newest status; a status line is 200 bytes long.
TAIL_BYTES = 8192
STATUS = re.compile(
    r"^\[(?P<title>.*)\] (?P<text>(?:step )?(?P<done>\d[\d,]*)(?:/(?P<total>\d[\d,]*))?(?=[ ,]).*)$"
)
LEFT = re.compile(r", (?P<number>[\d.]+) (?P<unit>s|min|h) left$")
SECONDS = {"s": 1, "min": 60, "h": 3600}
FAILURE = re.compile(r"^(?:ERROR|FAULT) in \w+: ")


class Status(NamedTuple):
    """A job's progress: its line without the title, and the share that is done if a total is known."""

    text: str
    share: float | None

    @property
    def left(self) -> float | None:
        """Seconds that the job's present work still takes by its own rate; None where the line has no time."""
        match = LEFT.search(self.text)
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
    reported = [
        line for line in _lines(log) if line.startswith("SLOW: ") or (line.startswith("[") and mark in line)
    ]
    return [line.replace(mark, "] ", 1) for line in dict.fromkeys(reported)]


def failure_message(log: Path) -> str:
    """Return the message that a failed job left at the end of its log; an empty string where it left none."""
    lines = _lines(log)
    for position in range(len(lines) - 1, -1, -1):
        if FAILURE.match(lines[position]):
            return "\n".join(lines[position:]).strip()
    return ""


def _lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


# Where the output of jobs goes while a display has the screen: into memory, and at the end into a file.
# A job that found the disk full could not write its message into a file.


# A line of a traceback: the copy of a script that Snakemake runs.
IN_SCRIPT = re.compile(r'  File ".*/scripts/tmp\w+\.(?P<script>\w+)\.py", line \d+')


class JobOutput:
    """Takes what this process and its children write to stdout and stderr, until `restore`."""

    def __init__(self, path: Path) -> None:
        self.messages: dict[str, str] = {}
        """Rule, or script → the newest message of one of its jobs that failed."""
        self._path = path
        sys.stdout.flush()
        sys.stderr.flush()
        self._screen = os.dup(1), os.dup(2)
        self._memory = os.memfd_create("output of jobs")
        os.dup2(self._memory, 1)
        os.dup2(self._memory, 2)

    def restore(self) -> None:
        """Give the screen back, write the file, and collect the messages."""
        sys.stdout.flush()
        sys.stderr.flush()
        for number, screen in enumerate(self._screen, 1):
            os.dup2(screen, number)
            os.close(screen)
        with open(self._memory, "rb") as memory:
            memory.seek(0)
            content = memory.read()
        with suppress(OSError):
            self._path.write_bytes(content)
        self._collect(content.decode("utf-8", "replace").splitlines())

    def _collect(self, lines: list[str]) -> None:
        """Collect messages: from "ERROR in" to an empty line, and the last line of a traceback."""
        rule = script = ""
        for line in lines:
            # A script that fails before it has a log, at an import, leaves a traceback here alone.
            if match := IN_SCRIPT.match(line):
                script = match["script"]
            elif script and line and not line[0].isspace():
                where = as_user_path(self._path)
                self.messages[script] = f"FAULT in {script}: {line}\n  Its traceback is in {where}"
                script = ""
            if FAILURE.match(line):
                rule = line.split(" ")[2].rstrip(":")
                self.messages[rule] = line
            elif not line:
                rule = ""
            elif rule:
                self.messages[rule] += f"\n{line}"
