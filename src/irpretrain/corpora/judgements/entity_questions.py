"""Format `entity-questions` of judgements: a passage is relevant to a question if it holds one of its answers.

The file judges no passage: `irpretrain.corpora.judge_by_answers` judges what first stages retrieve.
"""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora import entity_questions
from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.checked import NoOptions
from irpretrain.corpora.judge_by_answers import has_words
from irpretrain.corpora.records import Answers, Malformed, Skipped

OPTIONS = NoOptions

SUFFIXES = entity_questions.SUFFIXES

# Says that what is read are answers, not judgements.
ANSWERS = True


def read(path: Path, options: NoOptions) -> Iterator[Answers | Skipped | Malformed]:
    """Yield each question's answers, in the order of the file; a position is a question's number in it.

    An answer without a word is skipped, as every passage would hold it; a question without any other is malformed.
    """
    for entry in entity_questions.read_questions(path):
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
