"""Format `jsonl` of topics: one JSON object a line is one query (BEIR)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, query, read_objects
from irpretrain.corpora.fields import as_identifier, pick
from irpretrain.corpora.files import FieldLine
from irpretrain.corpora.records import Malformed, Query

IDENTIFIERS = ("id", "_id", "qid", "query_id")
TEXTS = ("text", "query", "title", "question")


class JsonlTopicOptions(Section):
    """Options of the format jsonl."""

    id_field: str | None = option(
        None, f"Identifier; null: the first field present of {', '.join(IDENTIFIERS)}."
    )
    text_field: str | None = option(None, f"Text; null: the first field present of {', '.join(TEXTS)}.")


OPTIONS = JsonlTopicOptions


def read(path: Path, options: JsonlTopicOptions) -> Iterator[Query | Malformed]:
    return converted(read_objects(path), lambda entry: _query(entry, options))


def _query(entry: FieldLine, options: JsonlTopicOptions) -> Query | Malformed:
    record = entry.fields
    id_key, text_key = pick(record, options.id_field, IDENTIFIERS), pick(record, options.text_field, TEXTS)
    if id_key is None or text_key is None:
        missing_field = (
            (options.id_field or " or ".join(IDENTIFIERS))
            if id_key is None
            else (options.text_field or " or ".join(TEXTS))
        )
        return Malformed(entry.position, "field missing", f"there is no field {missing_field}", entry.line)
    identifier, text = as_identifier(record[id_key]), record[text_key]
    if identifier is None or not isinstance(text, str):
        wrong = id_key if identifier is None else text_key
        return Malformed(entry.position, "field is not text", f"field {wrong}", entry.line)
    return query(identifier, text, entry.position, entry.line)
