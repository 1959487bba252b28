"""EntityQuestions (Sciavolino et al., 2021): a JSON list of questions and answers for each relation of Wikidata.

Questions have no identifiers; number 12 of P17.test.json is called P17-12. The files judge no passage: a passage is
relevant to a question if it holds one of its answers, and `irpretrain.corpora.judge_by_answers` judges what first
stages retrieve.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.checked import NoOptions, converted, query, read_json
from irpretrain.corpora.judge_by_answers import has_words
from irpretrain.corpora.records import Answers, Malformed, Query, Skipped
from irpretrain.corpora.registry import Format


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


def read_topics(path: Path, options: NoOptions) -> Iterator[Query | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    return converted(read_questions(path), lambda e: query(e.query_id, e.text, e.position))


def read_judgements(path: Path, options: NoOptions) -> Iterator[Answers | Skipped | Malformed]:
    """Yield each question's answers, in the order of the file; a position is a question's number in it.

    An answer without a word is skipped, as every passage would hold it; a question without any other is malformed.
    """
    for entry in read_questions(path):
        if isinstance(entry, Malformed):
            yield entry
        elif fault := identifier_fault(entry.query_id):
            yield Malformed(entry.position, "bad identifier", fault)
        elif answers := tuple(filter(has_words, entry.answers)):
            yield Answers(entry.position, entry.query_id, answers)
        else:
            yield Malformed(
                entry.position, "no answer", f"question {entry.query_id} has no answer with a word"
            )


TOPICS = Format(NoOptions, read_topics, suffixes=(".json",))
JUDGEMENTS = Format(NoOptions, read_judgements, suffixes=(".json",), gives_answers=True)
