"""Format `tsv` of judgements: tab-separated columns with a header (BEIR) or named in the options."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import displayed_names
from irpretrain.corpora.checked import judgement
from irpretrain.corpora.fields import ColumnNames, header, pick, read_rows
from irpretrain.corpora.records import Judgement, Malformed, Skipped
from irpretrain.errors import InputError

QUERIES = ("query_id", "query-id", "qid", "topic")
DOCUMENTS = ("document_id", "corpus-id", "corpus_id", "docid", "doc_id", "pid")
RELEVANCES = ("relevance", "score", "rel", "label")


class TsvJudgementOptions(Section):
    """Options of the format tsv."""

    columns: ColumnNames | None = option(
        None,
        "Column names in order (query_id, document_id, relevance), for files without a "
        "header; null: the first line.",
        min_length=3,
    )


OPTIONS = TsvJudgementOptions


def read(path: Path, options: TsvJudgementOptions) -> Iterator[Judgement | Skipped | Malformed]:
    columns = options.columns or header(path)
    if not columns:
        return
    keys = [pick(columns, None, names) for names in (QUERIES, DOCUMENTS, RELEVANCES)]
    for key, names in zip(keys, (QUERIES, DOCUMENTS, RELEVANCES), strict=True):
        if key is None:
            reason = (
                f"one of the columns {', '.join(names)} is needed; the file has {displayed_names(columns)}"
            )
            raise InputError(path, reason)
    query_key, document_key, relevance_key = map(str, keys)
    for row in read_rows(path, columns, options.columns is None):
        if isinstance(row, Malformed):
            yield row
        else:
            cells = row.fields
            relevance = cells[relevance_key].strip()
            yield judgement(cells[query_key], cells[document_key], relevance, row.position, row.line)
