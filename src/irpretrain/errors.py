"""The errors a user can meet. Each is one message that says what is wrong, where, and how to mend it.

Stages (see `irpretrain.stage`) print these without a traceback; any other exception is a fault of the
software and keeps its traceback in the stage's log.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAKE_AGAIN = "Delete it and run the workflow again."
"""Remedy for a damaged file of the workflow."""


class IRPretrainError(Exception):
    """Base of all errors whose message is meant for the user."""


class ConfigError(IRPretrainError):
    """The configuration cannot be used: unknown key, wrong type, impossible combination."""


class InputError(IRPretrainError):
    """A file given by the user cannot be used.

    Args:
        path: the file.
        reason: what is wrong with it, in one clause.
        line: 1-based line number, where the fault sits on a line.
        remedy: what to do about it.
    """

    def __init__(self, path: str | Path, reason: str, line: int | None = None, remedy: str = "") -> None:
        self.path, self.reason, self.line, self.remedy = Path(path), reason, line, remedy
        self._arguments = (path, reason, line, remedy)
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {reason}" + (f"\n  {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), self._arguments)


class IntegrityError(InputError):
    """A file is not the one that the manifest or an earlier stage recorded."""


class SetupError(IRPretrainError):
    """Something the software needs is not installed or does not work (Java, the Anserini jar, a package)."""


class TrainingError(IRPretrainError):
    """Training cannot go on: the loss is not a number, or memory ran out."""


def one_line(error: BaseException) -> str:
    """Return the first 300 characters of an error's message on one line, its type where it has none."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def need_folder(directory: str | Path, remedy: str) -> None:
    """Raise InputError where there is no such folder."""
    if not os.path.isdir(directory):  # Path's own would raise where the name is too long
        missing = "this is a file, not a folder" if os.path.isfile(directory) else "there is no such folder"
        raise InputError(directory, missing, remedy=remedy)


@contextmanager
def refusing_damage(path: str | Path, what: str, remedy: str) -> Iterator[None]:
    """Raise IntegrityError where files of ours, read inside, are missing, cut or hold something else."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IntegrityError(path, f"{what}: {error}", remedy=remedy) from None


@contextmanager
def refusing(path: str | Path, what: str, remedy: str = "") -> Iterator[None]:
    """Raise InputError for whatever is raised inside: damaged files make libraries raise nearly anything."""
    try:
        yield
    except (IRPretrainError, MemoryError):
        raise
    except Exception as error:
        raise InputError(path, f"{what}: {one_line(error)}", remedy=remedy) from error
