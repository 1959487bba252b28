"""SQuAD's questions as queries, each with its paragraph: shared by the formats of topics and judgements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.records import Malformed, Skipped
from irpretrain.corpora.squad import Article, ArticleOptions, Paragraph, read_articles


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `position` counts the questions of the chosen articles from 0."""

    position: int
    query_id: str
    text: str
    article: str
    paragraph: int


def read_questions(path: Path, options: ArticleOptions) -> Iterator[Question | Skipped | Malformed]:
    """Yield the questions of the chosen articles; those that SQuAD 2.0 marks as impossible are skipped."""
    position = 0
    for article in read_articles(path, options):
        for entry in _entries(article):
            if isinstance(entry, Malformed):
                yield Malformed(position, entry.reason, entry.detail, entry.line)
            else:
                yield _question(*entry, position)
            position += 1


def _entries(article: Article | Malformed) -> Iterator[Malformed | tuple[Any, str, int]]:
    if isinstance(article, Malformed):
        yield article
        return
    for paragraph in article.paragraphs:
        if isinstance(paragraph, Paragraph):
            for question in paragraph.questions:
                yield question, article.identifier, paragraph.index
        else:
            yield paragraph


def _question(entry: Any, article: str, paragraph: int, position: int) -> Question | Skipped | Malformed:
    record = entry if isinstance(entry, dict) else {}
    identifier, text = record.get("id"), record.get("question")
    if not isinstance(identifier, str) or not isinstance(text, str):
        detail = f"a question of paragraph {paragraph} of {article} lacks an id or a question"
        return Malformed(position, "not in SQuAD's format", detail)
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault)
    if record.get("is_impossible") is True:
        return Skipped(position, "unanswerable question")
    return Question(position, identifier, text, article, paragraph)
