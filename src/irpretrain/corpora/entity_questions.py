"""EntityQuestions' files, a JSON list a relation of Wikidata: shared by the formats of topics and judgements."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.checked import read_json
from irpretrain.corpora.records import Malformed

SUFFIXES = (".json",)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; number 12 of P17.test.json is called P17-12."""

    position: int
    query_id: str
    text: str
    answers: tuple[str, ...]


def read_questions(path: Path) -> Iterator[Question | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    content = read_json(path)
    if not isinstance(content, list):
        yield (
            content
            if isinstance(content, Malformed)
            else Malformed(0, "no list of questions", type(content).__name__)
        )
        return
    relation = path.name.partition(".")[0]
    for position, entry in enumerate(content):
        yield _question(entry, f"{relation}-{position}", position)


def _question(entry: Any, identifier: str, position: int) -> Question | Malformed:
    record = entry if isinstance(entry, dict) else {}
    text, answers = record.get("question"), record.get("answers")
    if (
        not isinstance(text, str)
        or not isinstance(answers, list)
        or not all(isinstance(answer, str) for answer in answers)
    ):
        return Malformed(position, "no question", "question or answers are missing")
    return Question(position, identifier, text, tuple(answers))
