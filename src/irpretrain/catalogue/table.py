"""The state of every data set as a table of text."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from irpretrain.atomic import write_text
from irpretrain.catalogue.absence import FileState, Status, status_of
from irpretrain.catalogue.read import Catalogue, Entry, SourceFile
from irpretrain.catalogue.verify import read_report
from irpretrain.models.encoder_files import hub_command

# Most columns of the screen that are used.
WIDTH = 110
HUB = "https://huggingface.co/"

# What sentences begin with that are commands.
COMMANDS = ("curl ", "hf ")


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
    lines = _lines(catalogue, reports, folders)
    write_text(table, as_text(lines, "/ and ".join(folders)) + "\n")
    statuses = [line.status for line in lines]
    return {status: statuses.count(status) for status in sorted(set(statuses))}


def datasets_text(catalogue: Catalogue, reports: Mapping[str, str | Path], folders: Mapping[str, str]) -> str:
    """Return the state of every data set for the screen; see `list_datasets`, but `folders` maps to displayed names."""
    return as_text(_lines(catalogue, reports, list(folders)), "/ and ".join(folders.values()))


def _lines(
    catalogue: Catalogue, reports: Mapping[str, str | Path], folders: Sequence[str]
) -> list[CatalogueRow]:
    """Return each data set with its report; without a report it has no file."""
    lines: list[CatalogueRow] = []
    for name, entry in catalogue.items():
        folder, states = read_report(reports[name]) if name in reports else (folders[0], {})
        files = {path: states.get(path, FileState("missing")) for path in entry.files}
        lines.append(CatalogueRow(name, entry, folder, files))
    return lines


def as_text(lines: list[CatalogueRow], data: str) -> str:
    """Return the table for the screen: one line per data set, and under it what its user should do."""
    width = max(len(line.name) for line in lines) + 2
    parts = [f"Data sets, in {data}/ ({summary(lines)})", ""]
    for line in lines:
        parts.append(f"{line.name:<{width}}{line.status:<12}{line.entry.label}")
        indent = " " * (width + 12)
        for sentence in advice(line, lines):
            if sentence.startswith(COMMANDS):  # whole, so that it can be copied
                parts.append(indent + sentence)
                continue
            parts += textwrap.wrap(
                sentence, max(WIDTH, 60 + len(indent)), initial_indent=indent, subsequent_indent=indent + "  ",
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
    return "\n".join(parts)


def summary(lines: list[CatalogueRow]) -> str:
    statuses = [line.status for line in lines]
    order = ("verified", "present", "incomplete", "broken", "missing")
    return ", ".join(f"{statuses.count(status)} {status}" for status in order if status in statuses)


def advice(line: CatalogueRow, lines: list[CatalogueRow]) -> list[str]:
    """Return what the user of a data set should know: what is wrong, what is missing and where it belongs."""
    sentences = [
        f"broken: {line.data}/{path}: {state.detail}"
        for path, state in line.files.items()
        if state.status == "broken"
    ]
    absent = [path for path, state in line.files.items() if state.status == "missing"]
    required = [path for path in absent if path in line.entry.required()]
    sentences += [f"get: {line.entry.get}"] if required else []
    if required:
        sentences.append(f"terms: {line.entry.licence.terms} {line.entry.licence.page}")
    commands: dict[str, list[str]] = {}  # several files may come from one archive
    for path in [*required, *(path for path in absent if path not in required)]:
        file = line.entry.files[path]
        optional = "optional: " if file.optional else ""
        if file.url:
            command = fetch_command(file, path, line.data)
            commands.setdefault(command, []).append(f"{optional}{_described(line.entry, path)}")
        else:
            sentences.append(f"{optional or 'put '}{_described(line.entry, path)} at {line.data}/{path}")
    sentences += [f"{command} # {', '.join(held)}" for command, held in commands.items()]
    states = {other.name: other.status for other in lines}
    needed = [
        f"{name} ({states[name]})"
        for name in line.entry.needs
        if states.get(name) not in ("verified", "present")
    ]
    if needed:
        sentences.append(f"needs also: {', '.join(needed)}")
    return sentences


def fetch_command(file: SourceFile, path: str, data: str) -> str:
    """Return the command that fetches a file with an address into the data folder, and checks or completes it."""
    url, location = str(file.url), shlex.quote(f"{data}/{path}")
    if url.startswith(HUB):
        return f"{hub_command(url.removeprefix(HUB))} --local-dir {location}"
    into = shlex.quote(f"{data}/{file.unpack}".removesuffix("/."))
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
        steps.append(
            f"unzip -o {archive} -d {into}"
            if name.endswith((".zip", ".whl"))
            else f"tar -xf {archive} -C {into}"
        )
    if file.then is not None:
        steps.append(file.then.replace("{data}", shlex.quote(data)))
    return " && ".join(steps)


def _described(entry: Entry, path: str) -> str:
    file = entry.files[path]
    return f"the folder of {file.holds}" if file.folder else file.holds
