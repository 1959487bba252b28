"""SQuAD's JSON (Rajpurkar et al., EMNLP 2016): a collection of paragraphs or of articles, with its questions.

A paragraph's identifier is `Super_Bowl_50/12`: the article's title with underscores for spaces, and the paragraph's
index in it from 0. An article's identifier is `Super_Bowl_50`. To each question its own paragraph (or article) is
relevant, nothing else is judged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from pydantic import field_validator

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import document, query, read_json
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import clean_line, identifier_fault
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Judgement,
    Malformed,
    Query,
    Share,
    Skipped,
    SpanQuestion,
)

Unit = Literal["paragraph", "article"]


class ArticleOptions(Section):
    """Which articles of a file are read; the same choice for documents, topics and judgements belongs together."""

    articles: tuple[int, int] | None = option(
        None,
        "First article, from 0, and the one after the last; null: all.",
        unit="articles",
    )

    @field_validator("articles")
    @classmethod
    def _check_articles(cls, article_range: tuple[int, int] | None) -> tuple[int, int] | None:
        if article_range is not None and not 0 <= article_range[0] < article_range[1]:
            raise ValueError(
                f"{list(article_range)} contains no article; give [first, end] with 0 <= first < end"
            )
        return article_range


class SquadUnitOptions(ArticleOptions):
    """Options of the format squad."""

    unit: Unit = option(
        "paragraph", "What one document is: a paragraph or a whole article; in corpus and judgements alike."
    )


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; `context` and `questions` are as in the file, the latter None if there is no such key."""

    position: int
    article: str
    index: int
    context: str
    questions: list[Any] | None

    @property
    def identifier(self) -> str:
        return f"{self.article}/{self.index}"


@dataclass(frozen=True, slots=True)
class SquadArticle:
    """One article; its paragraphs may include malformed ones."""

    position: int
    identifier: str
    title: str
    paragraphs: list[Paragraph | Malformed]


def read_documents(path: Path, options: SquadUnitOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a position counts the paragraphs (or articles) of the file from 0."""
    for article in read_articles(path, options):
        if isinstance(article, Malformed):
            if share(article.position):
                yield article
        elif options.unit == "paragraph":
            yield from (entry for entry in _paragraphs(article) if share(entry.position))
        elif share(article.position):
            yield _article_document(article)


def read_articles(path: Path, options: ArticleOptions) -> Iterator[SquadArticle | Malformed]:
    """Yield the chosen articles of one file, which is read as a whole (30 MB); positions run through the file."""
    content = read_json(path)
    articles = content.get("data") if isinstance(content, dict) else None
    if not isinstance(articles, list):
        detail = "there is no list of articles under the key data"
        fault = Malformed(0, "not in SQuAD's format", detail, loses_more=True)
        yield content if isinstance(content, Malformed) else fault
        return
    paragraphs = 0
    for position, entry in enumerate(articles):
        article = _article(entry, position, paragraphs)
        if isinstance(article, SquadArticle):
            paragraphs += len(article.paragraphs)
        if options.articles is None or options.articles[0] <= position < options.articles[1]:
            yield article


def _article(entry: Any, position: int, first_position: int) -> SquadArticle | Malformed:
    match entry:
        case {"title": str() as title, "paragraphs": [*paragraphs]}:
            pass
        case _:
            detail = f"article {position + 1} lacks a title or a list of paragraphs"
            return Malformed(first_position, "not in SQuAD's format", detail)
    identifier = re.sub(r"\s+", "_", title.strip())
    if fault := identifier_fault(identifier):
        return Malformed(first_position, "bad identifier", f"article {position + 1}: {fault}")
    readable_title = clean_line(unquote(title).replace("_", " "))
    checked_paragraphs = [
        _paragraph(entry, first_position + index, index, identifier) for index, entry in enumerate(paragraphs)
    ]
    return SquadArticle(position, identifier, readable_title, checked_paragraphs)


def _paragraph(entry: Any, position: int, index: int, article: str) -> Paragraph | Malformed:
    context = entry.get("context") if isinstance(entry, dict) else None
    questions = entry.get("qas") if isinstance(entry, dict) else None
    if not isinstance(context, str) or not isinstance(questions, list | None):
        detail = f"paragraph {index} of {article} lacks a context, or its qas is not a list"
        return Malformed(position, "not in SQuAD's format", detail)
    return Paragraph(position, article, index, context, questions)


def _paragraphs(article: SquadArticle) -> Iterator[AnyDocument]:
    for paragraph in article.paragraphs:
        if isinstance(paragraph, Malformed):
            yield paragraph
        else:
            yield _document(paragraph.position, paragraph.identifier, article.title, paragraph.context)


def _article_document(article: SquadArticle) -> AnyDocument:
    contexts = list[str]()
    for paragraph in article.paragraphs:
        if isinstance(paragraph, Malformed):
            return replace(paragraph, position=article.position)
        if paragraph.context.strip():
            contexts.append(paragraph.context)
    return _document(article.position, article.identifier, article.title, "\n".join(contexts))


def _document(position: int, identifier: str, title: str, text: str) -> AnyDocument:
    # A title is no document without a paragraph.
    return document(position, identifier, title if text.strip() else "", text)


@dataclass(frozen=True, slots=True)
class SquadQuestion:
    """One question; `position` counts the questions of the chosen articles from 0, `answers` is as in the file."""

    position: int
    query_id: str
    text: str
    paragraph: Paragraph
    answers: Any


def read_squad(path: Path, options: ArticleOptions) -> Iterator[SquadQuestion | Skipped | Malformed]:
    """Yield the questions of the chosen articles; those that SQuAD 2.0 marks as impossible are skipped."""
    position = 0
    for article in read_articles(path, options):
        for paragraph in [article] if isinstance(article, Malformed) else article.paragraphs:
            if isinstance(paragraph, Paragraph) and paragraph.questions is None:
                detail = f"paragraph {paragraph.index} of {paragraph.article} lacks its list qas"
                paragraph = Malformed(0, "not in SQuAD's format", detail)
            if isinstance(paragraph, Malformed):
                yield replace(paragraph, position=position)
                position += 1
                continue
            for entry in paragraph.questions or ():
                yield _question(entry, paragraph, position)
                position += 1


def _question(entry: Any, paragraph: Paragraph, position: int) -> SquadQuestion | Skipped | Malformed:
    record = entry if isinstance(entry, dict) else {}
    identifier, text = record.get("id"), record.get("question")
    if not isinstance(identifier, str) or not isinstance(text, str):
        detail = f"a question of paragraph {paragraph.index} of {paragraph.article} lacks an id or a question"
        return Malformed(position, "not in SQuAD's format", detail)
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault)
    if record.get("is_impossible") is True:
        return Skipped(position, "unanswerable question")
    return SquadQuestion(position, identifier, text, paragraph, record.get("answers"))


def read_topics(path: Path, options: ArticleOptions) -> Iterator[Query | Skipped | Malformed]:
    for entry in read_squad(path, options):
        if isinstance(entry, SquadQuestion):
            yield query(entry.query_id, entry.text, entry.position)
        else:
            yield entry


def read_judgements(path: Path, options: SquadUnitOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield one judgement a question, in the order of the file."""
    for entry in read_squad(path, options):
        if not isinstance(entry, SquadQuestion):
            yield entry
            continue
        paragraph = entry.paragraph
        document_id = paragraph.identifier if options.unit == "paragraph" else paragraph.article
        yield Judgement(entry.position, entry.query_id, document_id, 1)


def read_questions(path: Path, options: ArticleOptions) -> Iterator[SpanQuestion | Skipped | Malformed]:
    """Yield the questions of the chosen articles, numbered; those that SQuAD 2.0 marks as impossible are skipped."""
    for entry in read_squad(path, options):
        yield _span_question(entry) if isinstance(entry, SquadQuestion) else entry


def _span_question(question: SquadQuestion) -> SpanQuestion | Skipped | Malformed:
    position, name, paragraph = question.position, question.query_id, question.paragraph
    if not isinstance(question.answers, list):
        detail = f"question {name} of paragraph {paragraph.index} of {paragraph.article} lacks answers"
        return Malformed(position, "not in SQuAD's format", detail)
    if not question.answers:
        return Skipped(position, "no answer")
    texts, spans = list[str](), list[tuple[int, int]]()
    for answer in question.answers:
        span = _span(answer, paragraph.context)
        if span is None:
            detail = f"{answer!r} of question {name}"
            return Malformed(position, "answer not in the context", detail[:200])
        texts.append(str(answer["text"]))
        spans.append(span)
    return SpanQuestion(position, name, question.text, paragraph.context, tuple(texts), tuple(spans))


def _span(answer: Any, context: str) -> tuple[int, int] | None:
    """Return the half-open span of an answer, None if its text does not stand there."""
    match answer:
        case {"text": str() as text, "answer_start": int() as start} if text and type(start) is int:
            end = start + len(text)
            return (start, end) if start >= 0 and context[start:end] == text else None
    return None


DOCUMENTS = Format(SquadUnitOptions, read_documents, suffixes=(".json",))
TOPICS = Format(ArticleOptions, read_topics)
JUDGEMENTS = Format(SquadUnitOptions, read_judgements)
QUESTIONS = Format(ArticleOptions, read_questions)
