"""Absent data: which files are missing, whether the catalogue knows them, and what is left out for it."""

import os
import textwrap
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from irpretrain.config.experiments import AbsenceConfig, DownstreamConfig
from irpretrain.config.references import EntryName
from irpretrain.config.root import Config, Entries
from irpretrain.corpora.catalogue.completion import searched_folders_text
from irpretrain.corpora.catalogue.read import LISTING, Entry, read_catalogue
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.sources import UsedFile, used_files
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.progress import size_text

FileStatus = Literal["verified", "present", "missing", "broken"]
Status = Literal["verified", "present", "incomplete", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class FileState:
    # Verified (by its checksum), present (there is nothing to compare it with), missing or broken.
    status: FileStatus
    detail: str = ""  # what was compared, or what is wrong


def fingerprint(path: str | Path) -> str:
    """Return number, bytes and latest change of files: whether they have changed since they were verified."""
    path = Path(path)
    states = [file.stat() for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    # A file that replaces another may have an older time of writing (cp -p, rsync -a), but not of its change.
    latest = max((max(state.st_mtime_ns, state.st_ctime_ns) for state in states), default=0)
    return f"{len(states)} files, {sum(state.st_size for state in states)} bytes, {latest}"


def status_of(entry: Entry, files: Mapping[str, FileState]) -> Status:
    """Return what the states of a data set's own files amount to."""
    if any(state.status == "broken" for state in files.values()):
        return "broken"
    required_statuses = [files[path].status for path in entry.required()]
    if required_statuses and all(status == "missing" for status in required_statuses):
        return "missing"
    if "missing" in required_statuses:
        return "incomplete"
    return "verified" if all(status == "verified" for status in required_statuses) else "present"


# The files outside the project that a configuration reads, and which of them the catalogue knows.


def needed_files(config: Config, entries: Entries | None = None) -> list[UsedFile]:
    """Return `used_files` by their paths, each once; embedded assets and ir_datasets' data left out."""
    files = (used_file for used_file in used_files(config, entries) if resolve(used_file.path)[0] == "file")
    return list({used_file.path: used_file for used_file in files}.values())


def missing_files(config: Config, entries: Entries | None = None) -> list[UsedFile]:
    """Return what is needed, is not there and is a file of the catalogue, so that it is known how to get it."""
    absent_files = [file for file in needed_files(config, entries) if not os.path.exists(file.path)]
    if not absent_files:
        return []
    known_paths = catalogue_paths(config.data_folder)
    return [file for file in absent_files if file.path in known_paths]


def missing_by_entry(config: Config) -> dict[str, list[str]]:
    absent_files = missing_files(config)
    entry_by_path = catalogue_paths(config.data_folder) if absent_files else {}
    paths_by_entry: dict[str, list[str]] = {}
    for absent_file in absent_files:
        paths_by_entry.setdefault(entry_by_path[absent_file.path], []).append(absent_file.path)
    return dict(sorted(paths_by_entry.items()))


def entries_in_use(config: Config, folders: Iterable[str]) -> set[str]:
    """Return the catalogue's entries whose files a configuration reads, in any data folder."""
    entry_by_path = ChainMap(*map(catalogue_paths, folders))
    return {entry_by_path[file.path] for file in needed_files(config) if file.path in entry_by_path}


def missing_data_text(paths_by_entry: dict[str, list[str]], heading: str) -> str:
    """Return which files are missing, where each can be had, and how large the downloads are, as text for the screen;
    nothing if none is missing."""
    if not paths_by_entry:
        return ""
    catalogue = read_catalogue()
    width = max(map(len, paths_by_entry))
    lines, sizes = [heading], dict[str, float | None]()
    for name, paths in paths_by_entry.items():
        entry = catalogue[name]
        # A path begins with the data folder.
        sizes[name] = entry.download(
            file for file in entry.files if any(path.endswith(f"/{file}") for path in paths)
        )
        more_text = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        lines += [f"  {name:<{width}}  {paths[0]}{more_text}, {_size(sizes[name])}", f"      {entry.source}"]
    known_bytes = sum(size for size in sizes.values() if size is not None)
    entries_without_size = [name for name, size in sizes.items() if size is None]
    size_texts = [size_text(known_bytes)] if known_bytes else []
    size_texts += [f"what is not known of {', '.join(entries_without_size)}"] if entries_without_size else []
    lines.append(textwrap.fill(f"To fetch: {', and '.join(size_texts)}.", 100))
    lines.append(f"{LISTING} says where each belongs, on which terms, and how to get it.")
    return "\n".join(lines)


def _size(size: float | None) -> str:
    return "size not known" if size is None else f"about {size_text(size)}"


@cache
def catalogue_paths(data_folder: str) -> dict[str, str]:
    """Return every path of the catalogue, in the data folder, with the name of its entry."""
    return {f"{data_folder}/{path}": name for name, entry in read_catalogue().items() for path in entry.files}


# What needs files of the catalogue that are not there: left out, and remembered with the reason.


HOW_TO_GET = f"{LISTING} says how to get them"

# Views, which need data without an experiment: section → what an entry is called.
VIEWS = {
    "predictors": "predictor",
    "diagnoses": "diagnosis",
    "weight_distributions": "distribution of weights",
    "attributions": "page of attributions",
    "term_weight_pages": "page of weights",
}


def refuse_absent(config: Config) -> None:
    """Raise ConfigError with the missing files of the catalogue, what needs them and where to get them.

    Not with `skip_absent`: then their users are left out.
    """
    if config.skip_absent:
        return
    reduced_config = without_absent(config)
    if reduced_config is config:
        return
    names = [f"experiments.{name}" for name in reduced_config.absent]
    names += [f"downstream_tasks.{task}" for task in reduced_config.absent_tasks]
    names += [f"{section}.{name}" for section, name in _absent_views(config)]
    lines = [
        f"{', '.join(names)}: files that {'this needs' if len(names) == 1 else 'these need'} are missing.",
        *_where_to_get(config, missing_by_entry(config)),
        "  `skip_absent: true` in the configuration leaves out what needs them; `make plan` works without the files.",
    ]
    raise ConfigError("\n".join(lines))


def absent_file(config: Config, path: str, remedy: str = "") -> ConfigError:
    """Return the error of a missing file that a target needs: its keys, location, and source or `remedy`."""
    all_files = used_files(config, config.all_entries())
    keys = ", ".join(file.key for file in all_files if file.path == path) or "the configuration"
    fault = f"{keys}: {path}: there is no such file or folder"
    if entry := catalogue_paths(config.data_folder).get(path):
        return ConfigError("\n".join([fault, *_where_to_get(config, {entry: [path]})]))
    return ConfigError(f"{fault}\n  Paths are relative to {Path.cwd()}.{remedy}")


def _where_to_get(config: Config, paths_by_entry: Mapping[str, Sequence[str]]) -> Iterator[str]:
    catalogue = read_catalogue()
    for entry, missing_paths in paths_by_entry.items():
        yield from (f"  {entry}, from {catalogue[entry].source}", *(f"    {path}" for path in missing_paths))
    yield f"  Looked for in {searched_folders_text(config.data_folder)}."
    yield f"  `{LISTING}` says where each belongs, on which terms, and how to get it;"
    yield '  `make run ARGS="datasets --configfile …"`, with your overlay, does so of these alone.'


def without_absent(config: Config) -> Config:
    """Return the configuration without the experiments, tasks and views that need a missing file of the catalogue.

    The reasons go to `absent` and `absent_tasks`, for the tables, and to the report's notes. Any other missing file is
    a fault (`corpora.sources`).
    """
    absent = {
        name: AbsenceConfig(dataset=experiment.dataset, candidates=experiment.candidates, reason=reason)
        for name, experiment in config.active_experiments.items()
        if (reason := _absence(config, [("experiments", name)]))
    }
    # A task is absent from an entry of `downstream` if its own files are, or those of the entry's models.
    tasks = {
        (name, task): reason
        for name, entry in config.active("downstream").items()
        for task in entry.tasks
        if (
            reason := _absence(
                config, [("downstream_tasks", task), *(("models", model) for model in entry.models)]
            )
        )
    }
    absent_tasks = {task: reason for (_, task), reason in tasks.items()}
    views = _absent_views(config)
    if not absent and not tasks and not views:
        return config
    notes = _notes("Not run", [*absent, *absent_tasks])
    notes += _notes("Not made", [f"{VIEWS[section]} {name}" for section, name in views])
    report = config.report.model_copy(update={"notes": [*config.report.notes, *notes]})
    kept_experiments = {name: entry for name, entry in config.experiments.items() if name not in absent}
    changed_sections = {"experiments": kept_experiments, "absent": absent, "report": report}
    if absent_tasks:
        changed_sections |= {"downstream": _downstream_without(config, tasks), "absent_tasks": absent_tasks}
    changed_sections["absent_predictors"] = {
        name: reason for (section, name), reason in views.items() if section == "predictors"
    }  # objectives name them, so that they stay
    for section in {section for section, _ in views} - {"predictors"}:
        entries = getattr(config, section)
        changed_sections[section] = {
            name: entry for name, entry in entries.items() if (section, name) not in views
        }
    return config.model_copy(update=changed_sections)


def _absence(config: Config, roots: list[EntryName]) -> str:
    """Return why some entries cannot be had; nothing if no file of the catalogue that they need is missing."""
    absent_files = missing_files(config, config.reachable_entries(roots))
    if not absent_files:
        return ""
    more_text = f" and {len(absent_files) - 1} more files are" if len(absent_files) > 1 else " is"
    return f"{absent_files[0].path}{more_text} missing; {HOW_TO_GET}"


def _notes(consequence: str, names: list[str]) -> list[str]:
    """One note at most: every table has it, and cells have the reasons."""
    return [f"{consequence}, as files are missing: {', '.join(names)}; {HOW_TO_GET}."] if names else []


def _downstream_without(config: Config, absent: Collection[tuple[str, str]]) -> dict[str, DownstreamConfig]:
    """Return the entries of `downstream` with the tasks whose files are there, those without any left out."""
    entries = dict[str, DownstreamConfig]()
    for name, entry in config.downstream.items():
        if tasks := [task for task in entry.tasks if (name, task) not in absent]:
            entries[name] = entry.model_copy(update={"tasks": tasks})
    return entries


def _absent_views(config: Config) -> dict[EntryName, str]:
    view_entries = [(section, name) for section in VIEWS for name in config.active(section)]
    return {view: reason for view in view_entries if (reason := _absence(config, [view]))}
