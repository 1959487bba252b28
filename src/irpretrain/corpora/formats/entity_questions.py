"""EntityQuestions (Sciavolino et al., 2021): a JSON list of questions and answers for each relation of Wikidata.

Questions have no identifiers; number 12 of P17.test.json is called P17-12. The files judge no passage: a passage is
relevant to a question if it holds one of its answers, and `irpretrain.corpora.judge_by_answers` judges what first
stages retrieve.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, are_texts, converted, query, read_json
from irpretrain.corpora.judge_by_answers import has_words
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import identifier_fault
from irpretrain.foundation.records import Answers, Malformed, Query


def read_questions(path: Path) -> Iterator[tuple[str, Answers] | Malformed]:
    """Yield the text and the answers of each question; a position is a question's number in the file."""
    content = read_json(path)
    if isinstance(content, Malformed):
        yield content
        return
    if not isinstance(content, list):
        yield Malformed(0, "no list of questions", type(content).__name__)
        return
    relation = path.name.partition(".")[0]
    for position, entry in enumerate(content):
        match entry:
            case {"question": str() as text, "answers": [*answers]} if are_texts(answers):
                yield text, Answers(position, f"{relation}-{position}", tuple(answers))
            case _:
                yield Malformed(position, "no question", "question or answers are missing")


def read_topics(path: Path, options: NoOptions) -> Iterator[Query | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    return converted(read_questions(path), _query)


def _query(question: tuple[str, Answers]) -> Query | Malformed:
    text, answers = question
    return query(answers.query_id, text, answers.position)


def read_judgements(path: Path, options: NoOptions) -> Iterator[Answers | Malformed]:
    """Yield each question's answers, in the order of the file; a position is a question's number in it.

    An answer without a word is left out, as every passage would hold it; a question without any other is malformed.
    """
    return converted(read_questions(path), lambda question: _with_words(question[1]))


def _with_words(answers: Answers) -> Answers | Malformed:
    if fault := identifier_fault(answers.query_id):
        return Malformed(answers.position, "bad identifier", fault)
    if texts := tuple(filter(has_words, answers.answers)):
        return replace(answers, answers=texts)
    detail = f"question {answers.query_id} has no answer with a word"
    return Malformed(answers.position, "no answer", detail)


TOPICS = Format(NoOptions, read_topics, suffixes=(".json",))
JUDGEMENTS = Format(NoOptions, read_judgements, suffixes=(".json",), gives_answers=True)
