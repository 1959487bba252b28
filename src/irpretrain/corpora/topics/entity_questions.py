"""Format `entity-questions` of topics: EntityQuestions (Sciavolino et al., 2021), a JSON list a relation of Wikidata.

Questions have no identifiers; number 12 of P17.test.json is called P17-12.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.json_files import read_json
from irpretrain.corpora.records import Malformed, Query, Skipped
from irpretrain.corpora.topics.query import query

SUFFIXES = (".json",)


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    content = read_json(path)
    if not isinstance(content, list):
        yield (
            content
            if isinstance(content, Malformed)
            else Malformed(0, "no list of questions", repr(content)[:40])
        )
        return
    relation = path.name.partition(".")[0]
    for position, entry in enumerate(content):
        text = entry.get("question") if isinstance(entry, dict) else None
        answers = entry.get("answers") if isinstance(entry, dict) else None
        if not isinstance(text, str) or not isinstance(answers, list):
            yield Malformed(position, "no question", "question or answers are missing")
        else:
            yield query(f"{relation}-{position}", text, position)
