"""Format `smart` of topics: queries of the SMART collections, `.I` and `.W` (Cranfield, CACM, CISI, MED)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, query
from irpretrain.corpora.documents.smart import SmartRecord, read_records
from irpretrain.corpora.files import Encoding
from irpretrain.corpora.records import Malformed, Query


class SmartTopicOptions(Section):
    """Options of the format smart."""

    encoding: Encoding = option("utf-8", "Of the file.")
    identifiers: Literal["written", "counted"] = option(
        "written",
        "written: as in `.I`. counted: 1, 2, 3, … in file order (Cranfield).",
    )
    fields: list[str] = option(["W"], "Letters of the query's fields, in this order.", min_length=1)


OPTIONS = SmartTopicOptions


def read(path: Path, options: SmartTopicOptions) -> Iterator[Query | Malformed]:
    return converted(read_records(path, options.encoding), lambda record: _query(record, options))


def _query(record: SmartRecord, options: SmartTopicOptions) -> Query | Malformed:
    name = str(record.position + 1) if options.identifiers == "counted" else record.identifier
    text = " ".join(record.text(letter) for letter in options.fields)
    return query(name, text, record.position, record.line)
