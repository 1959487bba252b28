"""A disk without room, known whichever library met it."""

import errno
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

REASONS = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left in your quota of the disk",
    errno.EFBIG: "a file became larger than the disk or `ulimit -f` allows",
}
"""What the numbers of errors mean to a user."""
_WORDS = {
    errno.ENOSPC: re.compile(
        r"no space left on device|os error 28\b|\d+ requested and \d+ written|not enough disk space", re.I
    ),
    errno.EDQUOT: re.compile(r"disk quota exceeded|os error 122\b", re.I),
    errno.EFBIG: re.compile(r"file too large|os error 27\b", re.I),
}
"""What libraries write that hand no number on: NumPy, safetensors, DuckDB, Java."""
MEGABYTE = 1 << 20


def full_disk(error: BaseException, outputs: Iterable[str | Path]) -> str | None:
    """Return what a user reads when room on a disk ran out: what, where, what to do. None for any other error.

    Args:
        error: what was raised, maybe because of another error.
        outputs: what was being written, where the error names no file.
    """
    for cause in _chain(error):
        for number, reason in REASONS.items():
            if getattr(cause, "errno", None) == number or _WORDS[number].search(str(cause)):
                where = _existing(getattr(cause, "filename", None) or next(iter(outputs), "."))
                free = os.statvfs(where)
                room = f"{free.f_bavail * free.f_frsize // MEGABYTE:,} MB are free in {where}"
                return f"{reason} ({room}); make room, then run the same command again"
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    seen = set[int]()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _existing(path: Any) -> Path:
    """Return the nearest folder of a path that is there."""
    place = Path(os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ".").absolute()
    return next(folder for folder in (place, *place.parents) if folder.is_dir())
