"""JSON: one object a line for documents (BEIR, MS MARCO v2, Anserini) and topics (BEIR), one object for judgements.

Judgements are `{"<query>": {"<document>": <relevance>, ...}, ...}` (LeCaRD, ir_measures, ranx); runs have scores in
place of the relevance (ranx).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.config.base import Section, option
from irpretrain.corpora import fields
from irpretrain.corpora.checked import (
    NoOptions,
    converted,
    judgement,
    query,
    read_json,
    read_objects,
    retrieved,
    without_identifier,
)
from irpretrain.corpora.fields import (
    NAME_FIELD,
    DocumentFields,
    FieldNames,
    as_identifier,
    missing_fault,
    pick_field,
    synonym_fault,
)
from irpretrain.corpora.registry import Format
from irpretrain.foundation.files import FieldLine
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Share,
    Skipped,
)


def read_documents(path: Path, options: DocumentFields, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    return converted(read_objects(path, share), lambda record: fields.document(record, options))


IDENTIFIERS = ("id", "_id", "qid", "query_id", "topic_id")
TEXTS = FieldNames(["text", "query", "title", "question"], ["query", "topic"])


class JsonlTopicOptions(Section):
    """Options of the format jsonl."""

    id_field: str | None = option(
        None, f"Identifier; null: the first field present of {', '.join(IDENTIFIERS)}."
    )
    text_field: str | None = option(None, f"Text; null: the first field present of {', '.join(TEXTS)}.")


def read_topics(path: Path, options: JsonlTopicOptions) -> Iterator[Query | Malformed]:
    return converted(read_objects(path), lambda entry: _query(entry, options))


def _query(entry: FieldLine, options: JsonlTopicOptions) -> Query | Malformed:
    record, values, fields_read = entry.fields, list[str](), set[str]()
    for configured_name, defaults in ((options.id_field, IDENTIFIERS), (options.text_field, TEXTS)):
        if synonyms := synonym_fault(record, configured_name, defaults):
            return entry.malformed("two fields for one", synonyms, NAME_FIELD)
        key = pick_field(record, configured_name, defaults)
        if key is None:
            fault = entry.malformed("field missing", missing_fault(configured_name, defaults, record))
            is_identifier = defaults is IDENTIFIERS and not configured_name
            return without_identifier(fault, record) if is_identifier else fault
        value = as_identifier(record[key]) if defaults is IDENTIFIERS else record[key]
        if not isinstance(value, str):
            return entry.malformed("field is not text", f"field {key}")
        values.append(value)
        fields_read.add(key)
    identifier, text = values
    unread = tuple(name for name in record if name not in fields_read)
    return query(identifier, text, entry.position, entry.line, unread)


# Position, query, document, and the document's relevance or score.
DocumentValue = tuple[int, str, str, Any]


def read_judgements(path: Path, options: NoOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file; a position is the number of the judgement in it."""
    return converted(_read_values(path), _judgement)


def _judgement(entry: DocumentValue) -> Judgement | Malformed:
    position, query_id, document, relevance = entry
    is_whole = isinstance(relevance, int) and not isinstance(relevance, bool)
    return judgement(query_id, document, str(relevance) if is_whole else repr(relevance), position)


def read_runs(path: Path, options: NoOptions) -> Iterator[Retrieved | Malformed]:
    """Yield the documents of each query with their scores, in the order of the file; positions count them from 0."""
    return converted(_read_values(path), _retrieved)


def _retrieved(entry: DocumentValue) -> Retrieved | Malformed:
    position, query_id, document, score = entry
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return retrieved(query_id, document, None, repr(score) if is_number else str(score), position, None)


def _read_values(path: Path) -> Iterator[DocumentValue | Malformed]:
    content = read_json(path)
    if isinstance(content, Malformed):
        yield content
        return
    if not isinstance(content, dict):
        yield Malformed(0, "not a JSON object", "queries are wanted")
        return
    position = 0
    for query_id, documents in content.items():
        if not isinstance(documents, dict):
            yield Malformed(position, "not a JSON object", f"documents of query {query_id!r} are wanted")
            position += 1
            continue
        for document, value in documents.items():
            yield position, query_id, document, value
            position += 1


DOCUMENTS = Format(DocumentFields, read_documents, suffixes=(".jsonl", ".json", ".ndjson"))
TOPICS = Format(JsonlTopicOptions, read_topics)
JUDGEMENTS = Format(NoOptions, read_judgements)
RUNS = Format(NoOptions, read_runs)
