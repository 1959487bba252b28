"""The formats by name. A new one is a file with `Options` and `read`, and a line here.
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

FORMATS: dict[Kind, dict[str, str]] = {
    "documents": {
        "wikipedia-dump": "irpretrain.corpora.documents.wikipedia_dump",
        "squad": "irpretrain.corpora.documents.squad",
        "jsonl": "irpretrain.corpora.documents.jsonl",
        "tsv": "irpretrain.corpora.documents.tsv",
        "parquet": "irpretrain.corpora.documents.parquet_files",
        "trectext": "irpretrain.corpora.documents.trectext",
        "trecweb": "irpretrain.corpora.documents.trecweb",
        "smart": "irpretrain.corpora.documents.smart",
        "warc": "irpretrain.corpora.documents.warc",
        "car-paragraphs": "irpretrain.corpora.documents.car_paragraphs",
        "cord19": "irpretrain.corpora.documents.cord19",
        "lecard": "irpretrain.corpora.documents.lecard",
        "ir_datasets": "irpretrain.corpora.documents.ir_datasets",
    },
    "topics": {
        "trec": "irpretrain.corpora.topics.trec",
        "tsv": "irpretrain.corpora.topics.tsv",
        "jsonl": "irpretrain.corpora.topics.jsonl",
        "squad": "irpretrain.corpora.topics.squad",
        "colon": "irpretrain.corpora.topics.colon",
        "smart": "irpretrain.corpora.topics.smart",
        "car-outlines": "irpretrain.corpora.topics.car_outlines",
        "entity-questions": "irpretrain.corpora.topics.entity_questions",
        "ir_datasets": "irpretrain.corpora.topics.ir_datasets",
    },
    "judgements": {
        "trec": "irpretrain.corpora.qrels.trec",
        "tsv": "irpretrain.corpora.qrels.tsv",
        "squad": "irpretrain.corpora.qrels.squad",
        "letor": "irpretrain.corpora.qrels.letor",
        "json": "irpretrain.corpora.qrels.json_object",
        "entity-questions": "irpretrain.corpora.qrels.entity_questions",
        "ir_datasets": "irpretrain.corpora.qrels.ir_datasets",
    },
    "runs": {
        "trec": "irpretrain.corpora.runs.trec",
        "tsv": "irpretrain.corpora.runs.tsv",
        "letor": "irpretrain.corpora.runs.letor",
        "lecard": "irpretrain.corpora.runs.lecard",
        "ir_datasets": "irpretrain.corpora.runs.ir_datasets",
    },
    "questions": {"mrqa": "irpretrain.corpora.questions.mrqa", "squad": "irpretrain.corpora.questions.squad"},
    "sentences": {"glue": "irpretrain.corpora.sentences.glue"},
}
"""Kind and name of a format → its module."""


def format_module(kind: Kind, name: str) -> ModuleType:
    """Return the module of the format `name`; ValueError lists the formats of this kind."""
    modules = FORMATS[kind]
    if name not in modules:
        raise ValueError(f"{name!r} is not a format of {kind}; {instead_of(name, modules, 'allowed are')}")
    return import_module(modules[name])


def gives_answers(name: str) -> bool:
    """Whether a format of judgements holds answers, by which what is retrieved is judged, and no judgements."""
    return getattr(format_module("judgements", name), "ANSWERS", False)


def option_files(kind: Kind, name: str, given: dict[str, Any]) -> list[str]:
    """Return the files that the options of the format `name` name, beside those that it reads."""
    module = format_module(kind, name)
    files_of = getattr(module, "option_files", None)
    return [] if files_of is None else list(files_of(module.Options(**given)))


def read_options(kind: Kind, name: str, given: dict[str, Any]) -> Section:
    """Return the checked options of the format `name`; ValueError names every fault."""

    options: type[Section] = format_module(kind, name).Options
    return explain(options, given, f"format {name}")
