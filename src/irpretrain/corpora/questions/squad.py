"""Format `squad` of questions: SQuAD's own JSON (Rajpurkar et al., 2016), spans given by their first character."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.corpora.documents.squad import ArticleOptions, SquadQuestion, read_questions
from irpretrain.corpora.records import Malformed, Skipped, SpanQuestion


class SquadQuestionOptions(ArticleOptions):
    """Options of the format squad of questions."""


OPTIONS = SquadQuestionOptions


def read(path: Path, options: SquadQuestionOptions) -> Iterator[SpanQuestion | Skipped | Malformed]:
    """Yield the questions of the chosen articles, numbered; those that SQuAD 2.0 marks as impossible are skipped."""
    for entry in read_questions(path, options):
        yield _span_question(entry) if isinstance(entry, SquadQuestion) else entry


def _span_question(question: SquadQuestion) -> SpanQuestion | Skipped | Malformed:
    position, name, answers = question.position, question.query_id, question.answers
    if not isinstance(answers, list):
        detail = f"question {name} of paragraph {question.paragraph} of {question.article} lacks answers"
        return Malformed(position, "not in SQuAD's format", detail)
    if not answers:
        return Skipped(position, "no answer")
    parsed_spans = [_span(answer, question.context) for answer in answers]
    if bad := [answer for answer, span in zip(answers, parsed_spans, strict=True) if span is None]:
        detail = f"{bad[0]!r} of question {name}"
        return Malformed(position, "answer not in the context", detail[:200])
    spans = tuple(span for span in parsed_spans if span is not None)
    texts = tuple(str(answer["text"]) for answer in answers)
    return SpanQuestion(position, name, question.text, question.context, texts, spans)


def _span(answer: Any, context: str) -> tuple[int, int] | None:
    """Return the half-open span of an answer, None if its text does not stand there."""
    text, start = (
        (answer.get("text"), answer.get("answer_start")) if isinstance(answer, dict) else (None, None)
    )
    if not isinstance(text, str) or not text or type(start) is not int or start < 0:
        return None
    end = start + len(text)
    return (start, end) if context[start:end] == text else None
