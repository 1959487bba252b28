"""Passages: runs of whole sentences within one section, for objectives that take parts of an article."""

from collections.abc import Iterable
from dataclasses import dataclass

from irpretrain.text.languages import ENGLISH
from irpretrain.text.lengths import count_spaced
from irpretrain.text.sentences import Characters, sentences


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences (characters of the body) of one section, in order, one after the other, and their language."""

    section: int
    sentences: tuple[Characters, ...]
    language: str = ENGLISH

    @property
    def start(self) -> int:
        """First character."""
        return self.sentences[0][0]

    @property
    def end(self) -> int:
        """Character after the last."""
        return self.sentences[-1][1]


def passages(
    body: str, sections: Iterable[Characters], most_words: int, language: str = ENGLISH
) -> list[Passage]:
    """Cut the own text of each section into passages of at most `most_words` words (`text.lengths`).

    Sentences are packed greedily; a longer sentence is a passage of its own. Sections without text give none.
    """
    cut = []
    for number, (start, end) in enumerate(sections):
        run: list[Characters] = []
        words = 0
        for sentence in sentences(body, start, end, language):
            length = count_words(body, sentence, language)
            if run and words + length > most_words:
                cut.append(Passage(number, tuple(run), language))
                run, words = [], 0
            run.append(sentence)
            words += length
        if run:
            cut.append(Passage(number, tuple(run), language))
    return cut


def count_words(body: str, characters: Characters, language: str = ENGLISH) -> int:
    """Return the number of words (`text.lengths`) of some characters of a text."""
    return count_spaced(body[slice(*characters)], language)


def long_sentences(body: str, passage: Passage, words: int) -> list[Characters]:
    """Return the sentences of a passage with at least so many words."""
    return [s for s in passage.sentences if count_words(body, s, passage.language) >= words]
