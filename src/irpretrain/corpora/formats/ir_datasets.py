"""Documents, queries, judgements and scored documents of a data set of the package ir_datasets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.config.base import Section, option
from irpretrain.corpora import checked
from irpretrain.corpora.checked import NoOptions, judgement, query, retrieved
from irpretrain.corpora.ir_datasets_library import described_part, read_records, text_of
from irpretrain.corpora.records import AnyDocument, Judgement, Malformed, Query, Retrieved, Share, everything
from irpretrain.corpora.registry import Format


class IrDatasetsDocumentOptions(Section):
    """Options of the format ir_datasets."""

    fields: list[str] | None = option(
        None,
        "Parts of a document that make its body, in this order; null: default_text, without the title.",
        min_length=1,
    )


def read_documents(
    path: Path, options: IrDatasetsDocumentOptions, share: Share = everything
) -> Iterator[AnyDocument]:
    """Yield a share, a slice, of the documents in ir_datasets' order; a position is a document's number."""
    identifier, part, slices = described_part(path)
    first, end, sliced = 0, None, slices is not None
    if slices is not None:
        first = slices * share.number // share.of
        end = slices * (share.number + 1) // share.of if share.number + 1 < share.of else None
    for position, document in enumerate(read_records(identifier, part, first, end), first):
        if sliced or share(position):
            text, title = text_of(document, options.fields, identifier), _text(document, "title")
            body = _without_title(text, title) if options.fields is None else text
            yield checked.document(position, document.doc_id, title, body.strip(), _text(document, "url"))


def _without_title(text: str, title: str) -> str:
    """Return a default text without the title that it begins with, which must end where a word ends."""
    rest = text.removeprefix(title.rstrip())
    return rest if not rest or rest[0].isspace() else text


def _text(record: Any, field: str) -> str:
    value = getattr(record, field, None)
    return value if isinstance(value, str) else ""


class IrDatasetsTopicOptions(Section):
    """Options of the format ir_datasets."""

    fields: list[str] | None = option(
        None,
        "Parts of a topic that make its query, in this order; null: default_text.",
        min_length=1,
    )


def read_topics(path: Path, options: IrDatasetsTopicOptions) -> Iterator[Query | Malformed]:
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield query(record.query_id, text_of(record, options.fields, identifier), position)


def read_judgements(path: Path, options: NoOptions) -> Iterator[Judgement | Malformed]:
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield judgement(record.query_id, record.doc_id, str(record.relevance), position)


def read_runs(path: Path, options: NoOptions) -> Iterator[Retrieved | Malformed]:
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield retrieved(record.query_id, record.doc_id, None, repr(float(record.score)), position, None)


DOCUMENTS = Format(IrDatasetsDocumentOptions, read_documents, suffixes=(".json",))
TOPICS = Format(IrDatasetsTopicOptions, read_topics)
JUDGEMENTS = Format(NoOptions, read_judgements)
RUNS = Format(NoOptions, read_runs)
