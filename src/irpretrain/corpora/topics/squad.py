"""Format `squad` of topics: SQuAD's questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.records import Malformed, Query, Skipped
from irpretrain.corpora.squad import ArticleOptions
from irpretrain.corpora.squad_questions import Question, read_questions
from irpretrain.corpora.topics.query import query


class Options(ArticleOptions):
    """Options of the format squad."""


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the questions in the order of the file."""
    for entry in read_questions(path, options):
        if isinstance(entry, Question):
            yield query(entry.query_id, entry.text, entry.position)
        else:
            yield entry
