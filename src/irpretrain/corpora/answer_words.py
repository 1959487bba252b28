"""Whether a passage holds an answer: `has_answer` of Dense Passage Retrieval (dpr/data/qa_validation.py), by string.

Passage and answer are decomposed (NFD) and cut into words: runs of letters, numbers and marks, or one other character
that is no separator, control, format or unassigned one. A passage holds an answer if the answer's words stand in it
side by side; small and capital letters are one.
"""

import unicodedata

import regex

_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def spaced(text: str) -> str:
    """Return the words of a text in small letters, a space before and after each; they have none inside.

    So an answer is in a passage exactly if `spaced(answer)` is in `spaced(passage)`, which C code looks for.
    """
    words = (word.lower() for word in _WORD.findall(unicodedata.normalize("NFD", text)))
    return f" {' '.join(words)} "


def has_words(text: str) -> bool:
    """Whether a text has a word at all."""
    return _WORD.search(text) is not None
