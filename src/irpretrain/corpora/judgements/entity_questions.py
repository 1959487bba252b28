"""Format `entity-questions` of judgements: a passage is relevant to a question if it holds one of its answers.

So the file judges no passage; what first stages retrieve is judged by it, in `irpretrain.corpora.judge_by_answers`.
"""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora import entity_questions
from irpretrain.corpora.answer_words import has_words
from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.checked import Options
from irpretrain.corpora.records import Answers, Malformed, Skipped

SUFFIXES = entity_questions.SUFFIXES
ANSWERS = True
"""Says that what is read are answers, not judgements."""


def read(path: Path, options: Options) -> Iterator[Answers | Skipped | Malformed]:
    """Yield each question's answers, in the order of the file; a position is a question's number in it.

    An answer without a word is passed over, as it would be in every passage; a question without any other is malformed.
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
