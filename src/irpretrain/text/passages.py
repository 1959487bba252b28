"""Sentences and passages of a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from irpretrain.config.retrieval import MAX_PASSAGES, PassagesConfig
from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.words import spaced_words

# Sentences of a text, by rules: for objectives whose query, or an anchor's surroundings, is a sentence.
#
# A sentence ends with its line, or at a full stop, `!`, `?` or `…` (and the closing quotes and brackets after it),
# before white space that no lower-case letter follows, unless the full stop ends an abbreviation of the language or
# an initial. Marks of Chinese and Japanese end one anywhere. Outside English, marks of Arabic, Urdu and Hindi end
# one too; in some languages a full stop after one or two digits does not (3. Oktober).

_LINE = re.compile(r"[^\n]+")
_NOT_SPACE = re.compile(r"\S")
_IDEOGRAPHIC = "。！？"

# Start and end (exclusive) of a piece of a text, in characters.
Characters = tuple[int, int]


@dataclass(frozen=True)
class _Rules:
    # Marks with closing quotes and brackets, where white space follows or the marks need none.
    end: re.Pattern[str]
    last_word: re.Pattern[str]  # the word before a mark
    initial: re.Pattern[str]  # a letter that may be an initial
    abbreviations: frozenset[str]  # as written; small letters match capitals too
    ordinals: bool  # whether a full stop after a number of one or two digits ends none


def sentences(
    text: str, start: int = 0, end: int | None = None, language_name: str = ENGLISH
) -> list[Characters]:
    """Return the sentences of text[start:end] in order, as characters of `text`, without white space around them."""
    rules = _rules(language_name)
    spans = []
    for line in _LINE.finditer(text, start, len(text) if end is None else end):
        sentence_start = line.start()
        for sentence_end in [*_ends(text, line.start(), line.end(), rules), line.end()]:
            if sentence := strip(text, sentence_start, sentence_end):
                spans.append(sentence)
            sentence_start = sentence_end
    return spans


def strip(text: str, start: int, end: int) -> Characters | None:
    """Return the characters of text[start:end] without white space at either end, None if nothing is left."""
    first_match = _NOT_SPACE.search(text, start, end)
    if first_match is None:
        return None
    return first_match.start(), start + len(text[start:end].rstrip())


@cache
def _rules(language_name: str) -> _Rules:
    language_data = language(language_name)
    if language_name == ENGLISH:
        marks, closing, letter, initial = ".!?…", r"[\"'”’»)\]]*+", r"[^\W\d_]", "."
    else:
        marks, letter = ".!?…؟۔।॥", r"[^\s\d.,;:!?()\[\]\"'«»“”„]"
        # Quotes that open in English close in German („…“, »…«); French ones may stand apart.
        closing = r"[\"'”’»“‘«)\]]*+(?:[ \u00A0\u202F]»)?"
        initial = "[^\u1100-\U0010ffff]"  # Korean, Japanese and Chinese have words of one letter
    end = rf"(?<![{marks}])[{marks}]++{closing}(?=\s)|[{_IDEOGRAPHIC}]+[”’」』）]*"
    last_word = rf"{letter}+(?:\.{letter}+)*$"
    patterns = (re.compile(end), re.compile(last_word), re.compile(initial))
    return _Rules(*patterns, language_data.abbreviations, language_data.ordinals)


def _ends(text: str, start: int, end: int, rules: _Rules) -> Iterator[int]:
    for mark in rules.end.finditer(text, start, end):
        next_character = _NOT_SPACE.search(text, mark.end(), end)
        if text[mark.start()] in _IDEOGRAPHIC or not (
            next_character is None or next_character[0].islower() or _abbreviated(text, start, mark, rules)
        ):
            yield mark.end()


def _abbreviated(text: str, start: int, end_mark: re.Match[str], rules: _Rules) -> bool:
    if end_mark[0] != ".":
        return False
    # Looking back a bounded way: words are short, lines need not be.
    preceding_text = text[max(start, end_mark.start() - 20) : end_mark.start()]
    if rules.ordinals and _ORDINAL.search(preceding_text):
        return True
    word = rules.last_word.search(preceding_text)
    return word is not None and (
        (len(word[0]) == 1 and rules.initial.match(word[0]) is not None)
        or "." in word[0]
        or word[0] in rules.abbreviations
        or word[0].lower() in rules.abbreviations
    )


_ORDINAL = re.compile(r"(?<!\d)(?<!\d[.,])\d{1,2}$")


# Documents cut into overlapping passages, each scored separately (Dai and Callan, SIGIR 2019: BERT-maxP).
#
# Passages begin every `stride` words and have `words` words; the first one that reaches the end of the document is
# the last, so that none lies wholly in another. A document without words has one passage, which is empty.


def passage_bounds(
    word_count: int, options: PassagesConfig, max_passages: int = MAX_PASSAGES
) -> list[tuple[int, int]]:
    """Return (first, end) of each passage of a document with so many words.

    Of more than `max_passages`, that many evenly spaced ones with first and last.
    """
    bounds = [(0, min(options.words, word_count))]
    while bounds[-1][1] < word_count:
        start = bounds[-1][0] + options.stride
        bounds.append((start, min(start + options.words, word_count)))
    if len(bounds) <= max_passages:
        return bounds
    positions = np.linspace(0, len(bounds) - 1, max_passages).round().astype(int)
    return [bounds[position] for position in positions]


def piece_bounds(word_starts: np.ndarray, options: PassagesConfig) -> list[tuple[int, int]]:
    """Return (first, end) of each passage of a document of word pieces; a punctuation mark is a word too."""
    word_beginnings = np.flatnonzero(word_starts)
    word_beginnings[:1] = 0  # pieces before the first beginning belong to the first word
    bounds = np.append(word_beginnings, len(word_starts))
    return [
        (int(bounds[first]), int(bounds[last]))
        for first, last in passage_bounds(len(word_beginnings), options)
    ]


def text_passages(text: str, options: PassagesConfig, language: str = ENGLISH) -> list[str]:
    """Return the passages of a text, whose words are those of `text.words`."""
    words = spaced_words(text, language)
    bounds = passage_bounds(len(words), options)
    return [text[words[first][0] : words[end - 1][1]] if first < end else "" for first, end in bounds]
