"""A disk without room, known whichever library met it."""

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
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

    `outputs` are the files being written, if the error names none; without any it is standard output.
    """
    for cause in _chain(error):
        for number, reason in REASONS.items():
            if getattr(cause, "errno", None) == number or _WORDS[number].search(str(cause)):
                written = getattr(cause, "filename", None) or next(iter(outputs), None)
                if written is None:
                    return f"standard output: {reason}"
                where = _existing(written)
                free = os.statvfs(where)
                room = f"{free.f_bavail * free.f_frsize // MEGABYTE:,} MB are free in {where}"
                return f"{reason} ({room}); make room, then run the same command again"
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


def _existing(path: Any) -> Path:
    location = Path(os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ".").absolute()
    return next(folder for folder in (location, *location.parents) if folder.is_dir())
