"""Which files of a data set are there, before anything is read, and what follows for the data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from irpretrain.catalogue.entry import Entry

FileStatus = Literal["verified", "present", "missing", "broken"]
Status = Literal["verified", "present", "incomplete", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class FileState:
    """What is known of one file.

    Attributes:
        status: verified (by its checksum or the number of its records), present (there is nothing to compare it with),
            missing or broken.
        detail: what was compared, or what is wrong.
    """

    status: FileStatus
    detail: str = ""


def fingerprint(path: str | Path) -> str:
    """Return what tells whether a file or folder has changed since it was verified: number, bytes and latest change of
    its files.
    """
    path = Path(path)
    states = [inner.stat() for inner in (path.rglob("*") if path.is_dir() else [path]) if inner.is_file()]
    latest = max((state.st_mtime_ns for state in states), default=0)
    return f"{len(states)} files, {sum(state.st_size for state in states)} bytes, {latest}"


def status_of(entry: Entry, files: Mapping[str, FileState]) -> Status:
    """Return what the states of a data set's own files amount to."""
    if any(state.status == "broken" for state in files.values()):
        return "broken"
    required = [files[path].status for path in entry.required()]
    if required and all(status == "missing" for status in required):
        return "missing"
    if "missing" in required:
        return "incomplete"
    return "verified" if all(status == "verified" for status in required) else "present"
