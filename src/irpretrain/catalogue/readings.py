"""What of a data set is read from which of its files, by the formats that its entry names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from irpretrain.catalogue.entry import Entry
from irpretrain.corpora.registry import Kind

TASK_KINDS: tuple[Kind, ...] = ("questions", "sentences")
"""Of the records of tasks beside retrieval; keys of their entries."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Records of one kind in one or several files.

    Attributes:
        paths: in the data folder.
        aids: files in the data folder that the options name.
        expected: how many records there must be, where that is known.
        patterns: which files of a folder count, as in `corpora.files.list_files`.
    """

    kind: Kind
    format: str
    paths: list[str]
    aids: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    expected: int | None = None
    patterns: list[str] | None = None


def readings(entry: Entry) -> Iterator[Reading]:
    """Yield everything that an entry says how to read."""
    for corpus in entry.corpora.values():
        yield _reading("documents", corpus, entry)
    for dataset in entry.datasets.values():
        yield _reading("topics", dataset["queries"], entry)
        yield _reading("judgements", dataset["qrels"], entry)
    for stage in entry.first_stages.values():
        for run in stage["runs"].values():
            yield _reading("runs", run, entry)
    for task in entry.downstream_tasks.values():
        for kind in TASK_KINDS:
            for part in task.get(kind, {}).values():
                yield _reading(kind, part, entry)


def _reading(kind: Kind, section: dict[str, Any], entry: Entry) -> Reading:
    path, options = section["path"], section.get("options", {})
    return Reading(
        kind,
        section.get("format", "trec"),
        [path] if isinstance(path, str) else list(path),
        [value for value in options.values() if isinstance(value, str) and value in entry.files],
        options,
        section.get("expected"),
        section.get("files"),
    )
