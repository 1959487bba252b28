"""The errors a user can correct, and how messages name an option: for the configuration and Python, or the command."""

import difflib
import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

# Remedy for a damaged file of the workflow.
MAKE_AGAIN = "Delete it and run the workflow again."

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Characters of a line of a message. A longer one quotes a name or text of a file, and loses its middle.
LONGEST_LINE = 2000
HALF = LONGEST_LINE // 2


def visible(text: str) -> str:
    """Return a text with control characters but tabs and newlines written out, as `\\x1b`: no terminal obeys them.

    Halves of characters are written out too: no stream takes them.
    """
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
        location = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{location}: {reason}" + (f"\n  {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), self._arguments)


class IntegrityError(InputError):
    """A file is not the one that the manifest or an earlier stage recorded."""


class SetupError(IRPretrainError):
    """Something the software needs is not installed or does not work (Java, the Anserini jar, a package, a disk)."""


class TrainingError(IRPretrainError):
    """Training cannot go on: the loss is NaN, or memory ran out."""


def count_of(count: int, noun: str) -> str:
    """Return "1 query", "1,234 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first `most` names and how many are left: "a, b and 1 more"."""
    more_count = len(names) - most
    return ", ".join(names[:most]) + (f" and {more_count:,} more" if more_count > 0 else "")


def one_line(error: BaseException) -> str:
    """Return the first 300 characters of an error's message on one line, its type where it has none."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def need_folder(directory: str | Path, remedy: str) -> None:
    if not os.path.isdir(directory):  # Path's own would raise where the name is too long
        fault = "this is a file, not a folder" if os.path.isfile(directory) else "there is no such folder"
        raise InputError(directory, fault, remedy=remedy)


@contextmanager
def refusing_damage(path: str | Path, fault: str, remedy: str) -> Iterator[None]:
    """Raise IntegrityError if own files, read inside, are missing, cut or hold something else."""
    try:
        yield
    except (AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        raise IntegrityError(path, f"{fault}: {one_line(error)}", remedy=remedy) from None


@contextmanager
def refusing(path: str | Path, fault: str, remedy: str = "") -> Iterator[None]:
    """Raise InputError for whatever is raised inside: damaged files make libraries raise nearly anything."""
    try:
        yield
    except (IRPretrainError, MemoryError):
        raise
    except BaseException as error:
        # A panic of a library written in Rust (tokenizers, safetensors) is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputError(path, f"{fault}: {one_line(error)}", remedy=remedy) from error


# Extra → names that are imported of its packages, which `pip install irpretrain` leaves out.
EXTRAS = {
    "train": ("accelerate", "safetensors", "torch", "transformers", "xgboost"),
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


# What the numbers of errors of a disk without room mean to a user.
REASONS = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left in your quota of the disk",
    errno.EFBIG: "a file became larger than the disk or `ulimit -f` allows",
}

# What libraries write that hand no number on: NumPy, safetensors, DuckDB, Java.
_PATTERNS = {
    errno.ENOSPC: re.compile(
        r"no space left on device|os error 28\b|\d+ requested and \d+ written|not enough disk space", re.I
    ),
    errno.EDQUOT: re.compile(r"disk quota exceeded|os error 122\b", re.I),
    errno.EFBIG: re.compile(r"file too large|os error 27\b", re.I),
}
_NO_TEMPORARY_FOLDER = "No usable temporary directory found"  # of tempfile, which drops why
MEGABYTE = 1 << 20


def full_disk(error: BaseException, outputs: Iterable[str | Path]) -> str | None:
    """Return the message of an error, or its cause, by a full disk; None for any other error.

    Where the error names no file, `outputs` and temporary files are being written: the first on a disk without room
    counts, else the first. Without outputs, and with room for temporary files, it is standard output.
    """
    temporary = temporary_folder()
    for cause in causes(error):
        if isinstance(cause, FileNotFoundError) and _NO_TEMPORARY_FOLDER in str(cause):
            return (
                "no folder for temporary files can be written to; make room in /tmp, or set TMPDIR to a folder that "
                "you may write to"
            )
        for error_number, reason in REASONS.items():
            if getattr(cause, "errno", None) == error_number or _PATTERNS[error_number].search(str(cause)):
                file_name = getattr(cause, "filename", None)
                files = [file_name] if file_name else [*outputs, temporary]
                free_spaces = [_free_space(path) for path in files]
                free_megabytes, folder = next(
                    (space for space in free_spaces if not space[0]), free_spaces[0]
                )
                if free_megabytes and files == [temporary]:
                    return f"standard output: {reason}"
                free_text = f"{free_megabytes:,} MB are free in {folder}"
                return f"{reason} ({free_text}); make room, then run the same command again"
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


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and what it was raised from or while handling."""
    seen_errors = set[int]()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen_errors:
        yield cause
        seen_errors.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _free_space(path: Any) -> tuple[int, Path]:
    absolute_path = Path(os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ".").absolute()
    nearest_folder = next(folder for folder in (absolute_path, *absolute_path.parents) if folder.is_dir())
    file_system = os.statvfs(nearest_folder)
    temporary = temporary_folder()
    if str(nearest_folder).startswith(f"{temporary / 'irpretrain-'}"):  # a folder that goes with the process
        nearest_folder = temporary
    return file_system.f_bavail * file_system.f_frsize // MEGABYTE, nearest_folder


def temporary_folder() -> Path:
    """Return the folder of temporary files, also where the disk has no room to try it out."""
    try:
        return Path(tempfile.gettempdir()).absolute()
    except FileNotFoundError:
        return Path(os.environ.get("TMPDIR") or "/tmp").absolute()


# Whether messages name an option for users of the command, or of the configuration and of Python.
_FOR_COMMAND: ContextVar[bool] = ContextVar("for_command", default=False)


@contextmanager
def cli_messages() -> Iterator[None]:
    """Let messages inside name the options of the command `irpretrain` in place of the configuration's."""
    token = _FOR_COMMAND.set(True)
    try:
        yield
    finally:
        _FOR_COMMAND.reset(token)


def cli_or_api(text: str, for_command: str) -> str:
    """Return `text`, or what users of the command read in its place."""
    return for_command if _FOR_COMMAND.get() else text


# Names that a message on an unknown one lists at most.
NAMES_DISPLAYED = 30
NO_NAMES: Mapping[str, str] = {}


def nearest(name: str, names: Iterable[str], minimum_likeness: float = 0.6) -> list[str]:
    """Return the names most like `name` in any case: none, one, or several ties."""
    name_of_lower_case = {candidate.lower(): candidate for candidate in reversed(list(names))}
    close_matches = difflib.get_close_matches(name.lower(), name_of_lower_case, 3, minimum_likeness)
    likeness = {match: difflib.SequenceMatcher(None, match, name.lower()).ratio() for match in close_matches}
    return [
        name_of_lower_case[match] for match in close_matches if likeness[match] == likeness[close_matches[0]]
    ]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return "did you mean X?", or nothing if no name is like `name`."""
    names = [candidate for candidate in names if "{" not in candidate]
    # Paths are alike by their folders, so they must be more alike; patterns of paths are no names.
    near_names = nearest(name, names, 0.8 if "/" in name else 0.6)
    return f"did you mean {' or '.join(near_names)}?" if near_names else ""


def instead_of(
    name: str, names: Iterable[str], list_heading: str = "there are", origins: Mapping[str, str] = NO_NAMES
) -> str:
    """Return "did you mean X?", or the allowed names after `list_heading`; `origins` are allowed but not listed."""
    names = [str(candidate) for candidate in names]
    near_names = nearest(name, [*names, *origins])
    if not near_names:
        return f"{list_heading} {first_names(names, NAMES_DISPLAYED) or 'no entries'}"
    suggestions = [
        near_name if near_name in names else f"{near_name}, from {origins[near_name]}"
        for near_name in near_names
    ]
    return f"did you mean {' or '.join(suggestions)}?"
