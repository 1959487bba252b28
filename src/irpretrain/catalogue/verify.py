"""Whether the files of a data set are the published ones: size, checksum, number of records, readability."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_text
from irpretrain.catalogue.absence import FileState, status_of
from irpretrain.catalogue.read import LISTING, Entry, Reading, SourceFile, readings, resolved
from irpretrain.config.corpora import MalformedConfig
from irpretrain.corpora.file_lists import document_files, given_files
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.registry import format_of
from irpretrain.errors import InputError, IntegrityError

# Records at the beginning of a corpus that must be readable where no checksum vouches for it.
SAMPLE = 100


def verify(name: str, entry: Entry, data: str | Path, output: str | Path) -> dict[str, Any]:
    """Write the state of every file of a data set as JSON, for `read_report`; faults do not stop it. Return counts."""
    files = {path: _state(Path(data) / path, file) for path, file in entry.files.items()}
    for reading in readings(entry):
        files |= _states_after(reading, Path(data), files, entry)
    report = {
        "entry": name,
        "data": str(data),
        "status": status_of(entry, files),
        "files": {path: asdict(state) for path, state in files.items()},
    }
    write_text(output, json.dumps(report, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    statuses = [state.status for state in files.values()]
    return {status: statuses.count(status) for status in sorted(set(statuses))}


def read_report(path: str | Path) -> tuple[str, dict[str, FileState]]:
    """Return the data folder and the state of each file from what `verify` wrote."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return content["data"], {name: FileState(**state) for name, state in content["files"].items()}


def require(name: str, report: str | Path, output: str | Path) -> dict[str, int]:
    """Write that a data set is sound; IntegrityError with the first file that differs from the published one."""
    data, states = read_report(report)
    broken = {path: state for path, state in states.items() if state.status == "broken"}
    if broken:
        path, state = next(iter(broken.items()))
        others = f"; {len(broken) - 1} more files of {name} are broken" if len(broken) > 1 else ""
        remedy = f"Get it again. {LISTING} shows the state of every file."
        raise IntegrityError(f"{data}/{path}", state.detail + others, remedy=remedy)
    write_text(output, json.dumps({"entry": name, "files": len(states)}) + "\n")
    return {"files": len(states)}


def _state(path: Path, file: SourceFile) -> FileState:
    """The state of one file by size and checksum."""
    if not path.exists():
        return FileState("missing")
    if path.is_dir() != file.folder:
        expected_kind = "folder" if file.folder else "file"
        return FileState("broken", f"this must be a {expected_kind}")
    if file.folder:
        return FileState("present")
    size = path.stat().st_size
    if file.bytes not in (None, size):
        return FileState("broken", f"{size:,} bytes, the published file has {file.bytes:,}")
    for kind, expected in (("sha256", file.sha256), ("md5", file.md5)):
        if expected is not None:
            checksum = _checksum(path, kind)
            if checksum != expected:
                return FileState("broken", f"its {kind} is {checksum}, that of the published file {expected}")
            return FileState("verified", kind)
    return FileState("present")


def _checksum(path: Path, kind: str) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()


def _states_after(
    reading: Reading, data: Path, states: Mapping[str, FileState], entry: Entry
) -> dict[str, FileState]:
    """What reading adds to the states of its files: nothing, where a checksum vouches for all, or one is not there."""
    paths = [*reading.paths, *reading.aids]
    statuses = [states[path].status for path in paths if path in states]
    if len(statuses) < len(paths) or {"missing", "broken"} & set(statuses) or set(statuses) == {"verified"}:
        return {}
    try:
        state = _sampled(reading, data, entry) if reading.kind == "documents" else _counted(reading, data)
    except InputError as error:
        line = "" if error.line is None else f":{error.line}"
        state = FileState("broken", f"{error.path.name}{line}: {error.reason}")
    return {path: state for path in reading.paths if states[path].status != "verified"}


def _counted(reading: Reading, data: Path) -> FileState:
    """Read every record; their number is compared with the expected one, if that is known."""
    reader = format_of(reading.kind, reading.format)
    files = given_files([data / path for path in reading.paths], reader.suffixes)
    tally = RecordTally(MalformedConfig(), "malformed")
    options = reader.options(**resolved(reading.options, reading.aids, data))
    number = sum(1 for path in files for _ in tally.sound(path, reader.read(path, options)))
    what = f"{number:,} {'questions with answers' if reader.gives_answers else reading.kind}"
    if reading.expected is None:
        return FileState("present", what)
    if number != reading.expected:
        return FileState("broken", f"{what}, there must be {reading.expected:,}")
    return FileState("verified", what)


def _sampled(reading: Reading, data: Path, entry: Entry) -> FileState:
    """Read the first records of a corpus; the rest is read, and counted, when the corpus is."""
    [source] = reading.paths
    reader = format_of("documents", reading.format)
    files = document_files(data / source, reading.format, reading.patterns)
    expected = entry.files[source].files
    if expected not in (None, len(files)):
        return FileState("broken", f"{len(files):,} files, there must be {expected:,}")
    tally = RecordTally(MalformedConfig(), "malformed")
    records = reader.read(files[0], reader.options(**resolved(reading.options, reading.aids, data)))
    number = sum(1 for _ in tally.sound(files[0], islice(records, SAMPLE)))
    if number == 0 and len(files) == 1:
        return FileState("broken", "there is no document in it")
    return FileState("present", f"{len(files):,} files, the beginning of the first can be read")
