"""The formats by name. A new one is a file with `Options` and `read`, and its name here.
`corpora.checked` has what they share: checks of records, and the `Options` of a format that has none.

Formats of documents have `read(path, options, share)` and `SUFFIXES`, the file names that count in a folder;
`option_files(options)` and `folders_beside(path, options)` name what else they read. Other formats have
`read(path, options)`, and `SUFFIXES` where a folder can stand for its files. A format of judgements that holds answers
says `ANSWERS = True` and yields `Answers`. The modules of all formats are imported by the configuration and must
therefore import nothing heavy at the top.
"""

from importlib import import_module
from types import ModuleType
from typing import Any, Literal

from irpretrain.config.base import Section
from irpretrain.config.explain import explain
from irpretrain.near_names import instead_of

Kind = Literal["documents", "topics", "judgements", "runs", "questions", "sentences"]

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
"""Kind → names of its formats: each is a file of the kind's folder, with underscores for hyphens."""


def format_module(kind: Kind, name: str) -> ModuleType:
    """Return the module of the format `name`; ValueError lists the formats of this kind."""
    names = FORMATS[kind]
    if name not in names:
        raise ValueError(f"{name!r} is not a format of {kind}; {instead_of(name, names, 'allowed are')}")
    return import_module(f"irpretrain.corpora.{kind}.{name.replace('-', '_')}")


def gives_answers(name: str) -> bool:
    """Whether a format of judgements holds answers, by which what is retrieved is judged, and no judgements."""
    return getattr(format_module("judgements", name), "ANSWERS", False)


def read_options(kind: Kind, name: str, given: dict[str, Any]) -> Section:
    """Return the checked options of the format `name`; ValueError names every fault."""
    options: type[Section] = format_module(kind, name).Options
    return explain(options, given, f"format {name}")
