"""The formats by name. A new one is a `Format` in a file of `corpora.formats`, and its name here; see also
`corpora.checked`.

The configuration imports all formats: import nothing heavy at the top.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from irpretrain.config.base import Section, explain
from irpretrain.errors import instead_of

Kind = Literal["documents", "topics", "judgements", "runs", "questions"]

# Kind → names of its formats → file in `corpora.formats`, which holds the format under the kind's name in capitals.
FORMATS: dict[Kind, dict[str, str]] = {
    "documents": {
        "wikipedia-dump": "wikipedia_dump",
        "squad": "squad",
        "jsonl": "json_files",
        "tsv": "tsv",
        "parquet": "parquet",
        "trectext": "trectext",
        "trecweb": "trecweb",
        "smart": "smart",
        "warc": "warc",
        "car-paragraphs": "car",
        "cord19": "cord19",
        "lecard": "lecard",
        "ir_datasets": "ir_datasets",
    },
    "topics": {
        "trec": "trec",
        "tsv": "tsv",
        "jsonl": "json_files",
        "squad": "squad",
        "colon": "colon",
        "smart": "smart",
        "car-outlines": "car",
        "entity-questions": "entity_questions",
        "ir_datasets": "ir_datasets",
    },
    "judgements": {
        "trec": "trec",
        "tsv": "tsv",
        "squad": "squad",
        "letor": "letor",
        "json": "json_files",
        "entity-questions": "entity_questions",
        "ir_datasets": "ir_datasets",
    },
    "runs": {
        "trec": "trec",
        "tsv": "tsv",
        "letor": "letor",
        "lecard": "lecard",
        "ir_datasets": "ir_datasets",
    },
    "questions": {"mrqa": "mrqa", "squad": "squad"},
}


def _nothing(*_: Any) -> list[Any]:
    return []


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind and format are read, and what else they need."""

    options: type[Section]

    # Documents: (path, options, share) → documents; other kinds: (path, options) → records.
    read: Callable[..., Iterator[Any]]

    # Ends of the file names that count in a folder; none if a folder cannot replace its files.
    suffixes: tuple[str, ...] = ()

    # What else is read: options → files.
    option_files: Callable[[Any], list[str]] = _nothing

    # (path, options) → what the file says of all its documents, such as the version of a dump.
    facts: Callable[[Path, Any], dict[str, str]] | None = None

    # The file of judgements has answers, and a passage that holds one is relevant.
    gives_answers: bool = False


def format_of(kind: Kind, name: str) -> Format:
    """Return the format `name`; ValueError lists the formats of this kind."""
    names = FORMATS[kind]
    if name not in names:
        raise ValueError(f"{name!r} is not a format of {kind}; {instead_of(name, names, 'allowed are')}")
    module = import_module(f"irpretrain.corpora.formats.{names[name]}")
    return cast(Format, getattr(module, kind.upper()))


def read_options(kind: Kind, name: str, given: dict[str, Any]) -> Section:
    """Return the checked options of the format `name`; ValueError names every fault."""
    return explain(format_of(kind, name).options, given, f"format {name}")
