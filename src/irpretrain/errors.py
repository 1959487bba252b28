"""The errors a user can meet: each is one message with the fault, its location and a remedy.

Stages (see `irpretrain.stage`) print these without a traceback; any other exception is a fault of the software and
keeps its traceback in the stage's log.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Remedy for a damaged file of the workflow.
MAKE_AGAIN = "Delete it and run the workflow again."


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# Characters of a line of a message. A longer one quotes a name or text of a file, and loses its middle.
LONGEST_LINE = 2000
HALF = LONGEST_LINE // 2


def visible(text: str) -> str:
    """Return a text with control characters but tabs and newlines written out, as `\\x1b`: no terminal obeys them."""
    return _CONTROLS.sub(lambda control: repr(control[0])[1:-1], text)


class IRPretrainError(Exception):
    """Base of all errors whose message is meant for the user. It names files and quotes them, so it is made safe."""

    def __str__(self) -> str:
        lines = visible(super().__str__()).split("\n")
        return "\n".join(
            line if len(line) <= LONGEST_LINE else f"{line[:HALF]} … {line[-HALF:]}" for line in lines
        )


class ConfigError(IRPretrainError):
    """The configuration cannot be used: unknown key, wrong type, impossible combination."""


class InputError(IRPretrainError):
    """A file of the user cannot be used: path, reason (one clause), line (from 1) if any, remedy."""

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
    """Something the software needs is not installed or does not work (Java, the Anserini jar, a package, a disk)."""


class TrainingError(IRPretrainError):
    """Training cannot go on: the loss is NaN, or memory ran out."""


def one_line(error: BaseException) -> str:
    """Return the first 300 characters of an error's message on one line, its type where it has none."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def need_folder(directory: str | Path, remedy: str) -> None:
    if not os.path.isdir(directory):  # Path's own would raise where the name is too long
        missing = "this is a file, not a folder" if os.path.isfile(directory) else "there is no such folder"
        raise InputError(directory, missing, remedy=remedy)


@contextmanager
def refusing_damage(path: str | Path, what: str, remedy: str) -> Iterator[None]:
    """Raise IntegrityError if own files, read inside, are missing, cut or hold something else."""
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


# Packages that `pip install irpretrain` leaves out, by the extra that brings them.


# Extra → names that are imported of its packages.
EXTRAS = {
    "train": ("accelerate", "safetensors", "torch", "transformers", "xgboost"),
    "tracking": ("tensorboard",),
    "ir-datasets": ("ir_datasets",),
    "mwparserfromhell": ("mwparserfromhell",),
}


@contextmanager
def naming_extras() -> Iterator[None]:
    """Raise SetupError, with the command that installs it, for a package of an extra that is missing inside."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
        if extra is None:
            raise
        raise SetupError(
            f"This needs the package {package}, which is not installed.\n  In the clone: pip install '.[{extra}]'"
        ) from None
