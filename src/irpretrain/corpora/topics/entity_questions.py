"""Format `entity-questions` of topics: EntityQuestions (Sciavolino et al., 2021), a JSON list a relation of Wikidata.

Questions have no identifiers; number 12 of P17.test.json is called P17-12.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora import entity_questions
from irpretrain.corpora.records import Malformed, Query, Skipped
from irpretrain.corpora.topics.query import query

SUFFIXES = entity_questions.SUFFIXES


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    for entry in entity_questions.read_questions(path):
        yield (entry if isinstance(entry, Malformed) else query(entry.query_id, entry.text, entry.position))
