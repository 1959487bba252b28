"""Format `squad` of topics: SQuAD's questions."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import query
from irpretrain.corpora.documents.squad import ArticleOptions, SquadQuestion, read_questions
from irpretrain.corpora.records import Malformed, Query, Skipped


class SquadTopicOptions(ArticleOptions):
    """Options of the format squad."""


OPTIONS = SquadTopicOptions


def read(path: Path, options: SquadTopicOptions) -> Iterator[Query | Skipped | Malformed]:
    for entry in read_questions(path, options):
        if isinstance(entry, SquadQuestion):
            yield query(entry.query_id, entry.text, entry.position)
        else:
            yield entry
