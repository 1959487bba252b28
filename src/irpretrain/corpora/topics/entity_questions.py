"""Format `entity-questions` of topics: EntityQuestions (Sciavolino et al., 2021), a JSON list a relation of Wikidata.

Questions have no identifiers; number 12 of P17.test.json is called P17-12.
"""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, converted, query
from irpretrain.corpora.entity_questions import SUFFIXES, read_questions
from irpretrain.corpora.records import Malformed, Query

__all__ = ["OPTIONS", "SUFFIXES", "read"]

OPTIONS = NoOptions


def read(path: Path, options: NoOptions) -> Iterator[Query | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    return converted(read_questions(path), lambda e: query(e.query_id, e.text, e.position))
