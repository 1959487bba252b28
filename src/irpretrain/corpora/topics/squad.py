"""Format `squad` of topics: SQuAD's questions."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import query
from irpretrain.corpora.documents.squad import ArticleOptions, Question, read_questions
from irpretrain.corpora.records import Malformed, Query, Skipped


class Options(ArticleOptions):
    """Options of the format squad."""


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the questions in the order of the file."""
    for entry in read_questions(path, options):
        if isinstance(entry, Question):
            yield query(entry.query_id, entry.text, entry.position)
        else:
            yield entry
