"""Format `squad` of judgements: each question's own paragraph (or article) is relevant, nothing else is judged."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import option
from irpretrain.corpora.documents.squad import (
    ArticleOptions,
    SquadQuestion,
    Unit,
    paragraph_id,
    read_questions,
)
from irpretrain.corpora.records import Judgement, Malformed, Skipped


class SquadJudgementOptions(ArticleOptions):
    """Options of the format squad."""

    unit: Unit = option("paragraph", "As in the corpus.")


OPTIONS = SquadJudgementOptions


def read(path: Path, options: SquadJudgementOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield one judgement a question, in the order of the file."""
    for entry in read_questions(path, options):
        if not isinstance(entry, SquadQuestion):
            yield entry
            continue
        article = entry.article
        document_id = paragraph_id(article, entry.paragraph) if options.unit == "paragraph" else article
        yield Judgement(entry.position, entry.query_id, document_id, 1)
