"""A disk without room, known whichever library met it."""

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from irpretrain.errors import IRPretrainError, SetupError

# What the numbers of errors mean to a user.
REASONS = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left in your quota of the disk",
    errno.EFBIG: "a file became larger than the disk or `ulimit -f` allows",
}

# What libraries write that hand no number on: NumPy, safetensors, DuckDB, Java.
_WORDS = {
    errno.ENOSPC: re.compile(
        r"no space left on device|os error 28\b|\d+ requested and \d+ written|not enough disk space", re.I
    ),
    errno.EDQUOT: re.compile(r"disk quota exceeded|os error 122\b", re.I),
    errno.EFBIG: re.compile(r"file too large|os error 27\b", re.I),
}
MEGABYTE = 1 << 20


def full_disk(error: BaseException, outputs: Iterable[str | Path]) -> str | None:
    """Return the message of an error, or its cause, by a full disk; None for any other error.

    Where the error names no file, `outputs` and temporary files are being written: the first on a disk without room
    counts, else the first. Without outputs, and with room for temporary files, it is standard output.
    """
    for cause in _chain(error):
        for number, reason in REASONS.items():
            if getattr(cause, "errno", None) == number or _WORDS[number].search(str(cause)):
                named = getattr(cause, "filename", None)
                files = [named] if named else list(outputs)
                rooms = [_room(path) for path in (files if named else [*files, gettempdir()])]
                free, where = next((room for room in rooms if not room[0]), rooms[0])
                if free and not files:
                    return f"standard output: {reason}"
                return (
                    f"{reason} ({free:,} MB are free in {where}); make room, then run the same command again"
                )
    return None


@contextmanager
def reporting_disk_errors(outputs: Iterable[str | Path]) -> Iterator[None]:
    """Raise SetupError if something inside cannot be written or opened; see `full_disk`."""
    try:
        yield
    except IRPretrainError:
        raise
    except Exception as error:
        message = full_disk(error, outputs)
        if message is None and isinstance(error, OSError) and error.filename is not None:
            message = f"{os.fsdecode(error.filename)}: {error.strerror}"
        if message is None:
            raise
        raise SetupError(message) from error


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen = set[int]()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _room(path: Any) -> tuple[int, Path]:
    """Return the free MB of a path's disk, and the folder on it that a user knows."""
    location = Path(os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ".").absolute()
    where = next(folder for folder in (location, *location.parents) if folder.is_dir())
    free = os.statvfs(where)
    own = (
        Path(gettempdir()).absolute() / "irpretrain-"
    )  # begins the names of folders that go with the process
    return free.f_bavail * free.f_frsize // MEGABYTE, own.parent if str(where).startswith(str(own)) else where
