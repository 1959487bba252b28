"""Format `mrqa`: questions on a text, answered by spans of it (MRQA 2019, Fisch et al.), one JSON object a line.

The first line is a header; every other holds a context and its questions. Spans are inclusive in the files, and
half-open here.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from irpretrain.corpora.checked import NoOptions, are_texts, read_objects
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import identifier_fault
from irpretrain.foundation.errors import count_of
from irpretrain.foundation.files import FieldLine
from irpretrain.foundation.records import Malformed, SpanQuestion


def read(path: Path, options: NoOptions) -> Iterator[SpanQuestion | Malformed]:
    """Yield the questions in the order of the file; a position is a question's number in it."""
    position, has_header = 0, False
    for entry in read_objects(path):
        if isinstance(entry, Malformed):
            yield replace(entry, position=position)
        elif not has_header and "header" not in entry.fields:
            yield Malformed(
                position, "no header", "the first line must be an object with the key header", entry.line
            )
            return
        elif has_header:
            for question in _questions(entry, position):
                yield question
                position += 1
        has_header = True


def _questions(entry: FieldLine, position: int) -> Iterator[SpanQuestion | Malformed]:
    match entry.fields:
        case {"context": str() as context, "qas": [*questions]}:
            for question_position, question in enumerate(questions, position):
                yield _question(question, context, question_position, entry.line)
        case _:
            yield Malformed(position, "no context", "context or qas is missing", entry.line)


def _question(record: Any, context: str, position: int, line: int | None) -> SpanQuestion | Malformed:
    match record:
        case {"qid": str() as name, "question": str() as text, "answers": [*answers]} if are_texts(answers):
            name = name.strip()
        case _:
            return Malformed(position, "no question", "qid, question or answers is missing", line)
    if fault := identifier_fault(name):
        return Malformed(position, "bad identifier", fault, line)
    spans = list[tuple[int, int]]()
    detected_answers = record.get("detected_answers")
    for answer in detected_answers if isinstance(detected_answers, list) else [None]:
        char_spans = answer.get("char_spans") if isinstance(answer, dict) else None
        for span in char_spans if isinstance(char_spans, list) else [None]:
            half_open_span = _half_open(span, len(context))
            if half_open_span is None:
                detail = (
                    f"{span!r} of question {name}, whose context has {count_of(len(context), 'character')}"
                )
                return Malformed(position, "span outside the context", detail[:200], line)
            spans.append(half_open_span)
    return SpanQuestion(position, name, text, context, tuple(answers), tuple(spans), line)


def _half_open(span: Any, length: int) -> tuple[int, int] | None:
    """Return an inclusive span of a text of that length as a half-open one, None if it is none."""
    if not (isinstance(span, list) and len(span) == 2 and all(type(bound) is int for bound in span)):
        return None
    return (span[0], span[1] + 1) if 0 <= span[0] <= span[1] < length else None


QUESTIONS = Format(NoOptions, read)
