"""What a job's log says: how far it is, what the user should know, and why it failed."""

import re
from pathlib import Path
from typing import NamedTuple

from irpretrain.progress import NOTICE

TAIL_BYTES = 8192
"""How much of a growing log is read for the newest status; a status line is 200 bytes long."""
STATUS = re.compile(
    r"^\[(?P<title>.*)\] (?P<text>(?:step )?(?P<done>\d[\d,]*)(?:/(?P<total>\d[\d,]*))?(?=[ ,]).*)$"
)
FAILURE = re.compile(r"^(?:ERROR|FAULT) in \w+: ")


class Status(NamedTuple):
    """How far a job says it is: its line without the title, and the share that is done where a total is known."""

    text: str
    share: float | None


def newest_status(log: Path) -> Status | None:
    """Return the newest status in a log; None where there is none, or it says that all is done: other work goes on."""
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
    """Return what the user should know of a job, in the order in which it was said."""
    mark = f"] {NOTICE}"
    told = [
        line for line in _lines(log) if line.startswith("SLOW: ") or (line.startswith("[") and mark in line)
    ]
    return [line.replace(mark, "] ", 1) for line in dict.fromkeys(told)]


def failure_message(log: Path) -> str:
    """Return the message that a failed job left at the end of its log; an empty string where it left none."""
    lines = _lines(log)
    for place in range(len(lines) - 1, -1, -1):
        if FAILURE.match(lines[place]):
            return "\n".join(lines[place:]).strip()
    return ""


def _lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
