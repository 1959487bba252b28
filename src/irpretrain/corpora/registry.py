"""The formats by name. A new one is a `Format` in a file of `corpora.formats`, and its name here; see also
`corpora.checked`.

The configuration imports all formats: import nothing heavy at the top.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from irpretrain.config.base import Section, explain
from irpretrain.foundation.errors import instead_of

Kind = Literal["documents", "topics", "judgements", "runs", "questions"]

# Kind → names of its formats, in the order of the documentation.
FORMATS: dict[Kind, Sequence[str]] = {
    "documents": (
        "wikipedia-dump",
        "squad",
        "jsonl",
        "tsv",
        "csv",
        "parquet",
        "trectext",
        "trecweb",
        "smart",
        "warc",
        "car-paragraphs",
        "cord19",
        "lecard",
        "ir_datasets",
    ),
    "topics": (
        "trec",
        "tsv",
        "csv",
        "jsonl",
        "squad",
        "colon",
        "smart",
        "car-outlines",
        "entity-questions",
        "ir_datasets",
    ),
    "judgements": ("trec", "tsv", "csv", "squad", "letor", "json", "entity-questions", "ir_datasets"),
    "runs": ("trec", "tsv", "csv", "json", "letor", "lecard", "ir_datasets"),
    "questions": ("mrqa", "squad"),
}
# Formats whose file in `corpora.formats` has another name. It holds the format under the kind's name in capitals.
MODULES = {"jsonl": "json_files", "json": "json_files", "car-paragraphs": "car", "car-outlines": "car"}


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind and format are read, and what else they need."""

    options: type[Section]

    # Documents: (path, options, share) → documents; other kinds: (path, options) → records.
    read: Callable[..., Iterator[Any]]

    # Ends of the file names that count in a folder; none if a folder cannot replace its files.
    suffixes: tuple[str, ...] = ()

    # What else is read: options → files.
    option_files: Callable[[Any], list[str]] = lambda options: []

    # (path, options) → what the file says of all its documents, such as the version of a dump.
    facts: Callable[[Path, Any], dict[str, str]] = lambda path, options: {}

    # The file of judgements has answers, and a passage that holds one is relevant.
    gives_answers: bool = False


def format_of(kind: Kind, name: str) -> Format:
    """Return the format `name`; ValueError lists the formats of this kind."""
    names = FORMATS[kind]
    if name not in names:
        raise ValueError(f"{name!r} is not a format of {kind}; {instead_of(name, names, 'allowed are')}")
    module = import_module(f"irpretrain.corpora.formats.{MODULES.get(name, name.replace('-', '_'))}")
    return cast(Format, getattr(module, kind.upper()))


def read_options(kind: Kind, name: str, values: dict[str, Any]) -> Section:
    """Return the checked options of the format `name`; ValueError names every fault."""
    return explain(format_of(kind, name).options, values, f"format {name}")
