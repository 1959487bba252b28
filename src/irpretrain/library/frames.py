"""Frames of pandas or polars as documents, queries, candidates and pairs; columns are named as in tables of files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from irpretrain.corpora.fields import (
    BODIES,
    IDENTIFIERS,
    TITLES,
    URLS,
    pick_field,
    repeated_names,
    synonym_fault,
)
from irpretrain.corpora.formats.json_files import TEXTS
from irpretrain.corpora.formats.tsv import QUERY_IDENTIFIERS, RANKS, SCORES, TOPIC_IDENTIFIERS
from irpretrain.corpora.policy import names_with_suggestions
from irpretrain.foundation.characters import displayed_names
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.progress import notice

# A query's text beside a document: the columns text and title are the document's.
QUERY_TEXTS = ("query", "question")
_OF_RUNS = {"query_id": QUERY_IDENTIFIERS, "rank": RANKS, "score": SCORES}


def is_frame(items: Any) -> bool:
    """Whether something is a frame of pandas or polars."""
    return hasattr(items, "columns")


def frame_documents(frame: Any) -> Iterator[dict[str, Any]]:
    """Yield the documents of a frame: column of DOCUMENTS → value; only a column of texts is needed."""
    names = {"document_id": IDENTIFIERS, "title": TITLES, "url": URLS, "body": BODIES}
    columns = _columns(frame, "documents", names, "body")
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def frame_queries(frame: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the identifier and the text of each query of a frame."""
    columns = _columns(
        frame, "queries", {"identifier": TOPIC_IDENTIFIERS, "text": TEXTS}, "identifier", "text"
    )
    return zip(columns["identifier"], columns["text"], strict=True)


def frame_candidates(frame: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the identifiers of query and document of each row of a run."""
    names = {"document_id": IDENTIFIERS, **_OF_RUNS}
    columns = _columns(frame, "candidates", names, "query_id", "document_id")
    return zip(columns["query_id"], columns["document_id"], strict=True)


def frame_pairs(frame: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the query's text and the document's identifier of each row."""
    names = {"query": QUERY_TEXTS, "document_id": IDENTIFIERS, **_OF_RUNS}
    columns = _columns(frame, "pairs", names, "query", "document_id")
    return zip(columns["query"], columns["document_id"], strict=True)


def frame_document_pairs(frame: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the query's text and the identifiers of both documents of each row."""
    names = {"query": QUERY_TEXTS, "first": ("first",), "second": ("second",), "query_id": QUERY_IDENTIFIERS}
    columns = _columns(frame, "pairs", names, "query", "first", "second")
    return zip(columns["query"], columns["first"], columns["second"], strict=True)


def _columns(frame: Any, name: str, names: Mapping[str, Sequence[str]], *needed: str) -> dict[str, list[Any]]:
    """Return what a frame's columns hold, by what they are; say which ones are not read."""
    if not any(base.__name__ == "DataFrame" for base in type(frame).__mro__):
        raise ConfigError(
            f"{name}: give a DataFrame of pandas or polars, not a {type(frame).__name__}, which to_pandas() or "
            "collect() may turn into one"
        )
    # The index of pandas, where it has a name, is a column that was set apart: frame.set_index("docno").
    index_names = getattr(getattr(frame, "index", None), "names", ())
    levels = [level for level in index_names if isinstance(level, str)]
    if repeated_levels := repeated_names(levels):
        raise ConfigError(f"{name}: the index has two levels called {displayed_names(repeated_levels[:1])}")
    if named_levels := [level for level in levels if level not in frame.columns]:
        frame = frame.reset_index(named_levels)
    column_names = [column for column in frame.columns if isinstance(column, str)]
    if repeated_columns := repeated_names(column_names):
        raise ConfigError(f"{name}: the table has two columns called {displayed_names(repeated_columns[:1])}")
    column_of_role: dict[str, str] = {}
    for role, synonyms in names.items():
        if fault := synonym_fault(column_names, None, synonyms):
            raise ConfigError(f"{name}: {fault}; keep one of these columns")
        column = pick_field(column_names, None, synonyms)
        if column is not None:
            column_of_role[role] = column
        elif role in needed:
            kinds = (
                f"one of the columns {', '.join(synonyms)}" if len(synonyms) > 1 else f"column {synonyms[0]}"
            )
            raise ConfigError(
                f"{name}: {kinds} is needed; the table has "
                f"{displayed_names([str(column) for column in frame.columns]) or 'none'}"
            )
    if unread_columns := [str(column) for column in frame.columns if column not in column_of_role.values()]:
        known_names = [synonym for synonyms in names.values() for synonym in synonyms]
        column_texts = names_with_suggestions(unread_columns, known_names)
        advice = "; rename a column to have it read" if "did you mean" in column_texts else ""
        notice(name, f"columns that are not read: {column_texts}{advice}")
    return {role: list(frame[column]) for role, column in column_of_role.items()}
