"""The formats by name. A new one is a file with `OPTIONS` and `read`, and its name here; see also `corpora.checked`.

Formats of documents have `read(path, options, share)` and `SUFFIXES`, the file names that count in a folder;
`option_files(options)` and `folders_beside(path, options)` name what else they read. Other formats have `read(path,
options)`, and `SUFFIXES` if a folder can replace its files. A format of judgements that holds answers has `ANSWERS =
True` and yields `Answers`. The configuration imports all formats: import nothing heavy at the top.
"""

from importlib import import_module
from types import ModuleType
from typing import Any, Literal

from irpretrain.config.base import Section, explain
from irpretrain.wording import instead_of

Kind = Literal["documents", "topics", "judgements", "runs", "questions", "sentences"]

# Kind → names of its formats: each is a file of the kind's folder, with underscores for hyphens.
FORMATS: dict[Kind, tuple[str, ...]] = {
    "documents": (
        "wikipedia-dump", "squad", "jsonl", "tsv", "parquet", "trectext", "trecweb", "smart", "warc",
        "car-paragraphs", "cord19", "lecard", "ir_datasets",
    ),
    "topics": (
        "trec", "tsv", "jsonl", "squad", "colon", "smart", "car-outlines", "entity-questions", "ir_datasets",
    ),
    "judgements": ("trec", "tsv", "squad", "letor", "json", "entity-questions", "ir_datasets"),
    "runs": ("trec", "tsv", "letor", "lecard", "ir_datasets"),
    "questions": ("mrqa", "squad"),
    "sentences": ("glue",),
}  # fmt: skip


def format_module(kind: Kind, name: str) -> ModuleType:
    """Return the module of the format `name`; ValueError lists the formats of this kind."""
    names = FORMATS[kind]
    if name not in names:
        raise ValueError(f"{name!r} is not a format of {kind}; {instead_of(name, names, 'allowed are')}")
    return import_module(f"irpretrain.corpora.{kind}.{name.replace('-', '_')}")


def gives_answers(name: str) -> bool:
    return getattr(format_module("judgements", name), "ANSWERS", False)


def read_options(kind: Kind, name: str, given: dict[str, Any]) -> Section:
    """Return the checked options of the format `name`; ValueError names every fault."""
    options: type[Section] = format_module(kind, name).OPTIONS
    return explain(options, given, f"format {name}")
