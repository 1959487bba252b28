"""Lucene's English analyser in Python: the terms of Anserini's indexes, where no Java is installed.

A text is cut at the word boundaries of Unicode (UAX 29) as Lucene's StandardTokenizer has them. A word loses `'s`, its
letters become small, 33 stop words go, and the rest is stemmed as Lucene's PorterStemFilter does. It follows Martin
Porter's own program, which departs from his paper in two suffixes: `bli` becomes `ble`, and `logi` becomes `log`.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal

from irpretrain.text.stop_words import load_stop_words

# The tokeniser cuts a longer word after so many characters.
LONGEST_WORD = 255

POSSESSIVE = ("'", "\u2019", "\uff07")


class EnglishTerms:
    """The terms of English texts, as an index of Lucene has them; each different word is analysed once."""

    def __init__(self, stemmer: Literal["porter", "none"], stop_list: Literal["lucene", "none"]) -> None:
        stem: Callable[[str], str] = porter_stem if stemmer == "porter" else str
        self._find_term = cache(partial(_find_term, load_stop_words(stop_list), stem))

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in their order; stop words have none."""
        return [term for token in tokens(text) if (term := self._find_term(token))]


def _find_term(stop_words: frozenset[str], stem: Callable[[str], str], token: str) -> str:
    word = token[:-2] if token[-1] in "sS" and token[-2:-1] in POSSESSIVE else token
    # A letter at a time, as Java does: Python alone knows a sigma at the end of a word, and makes two of İ.
    word = word.lower() if word.isascii() else "".join(letter.lower()[0] for letter in word)
    return "" if word in stop_words else stem(word)


# Words.


def tokens(text: str) -> list[str]:
    """Return the tokens of Lucene's StandardTokenizer, as they are written."""
    all_tokens = list[str]()
    segments = [text] if text.isascii() else text.split(" ")  # the pattern of ASCII is several times as fast
    for segment in segments:
        pattern: Any = _ASCII_WORD if segment.isascii() else _unicode_word()
        words = pattern.findall(segment)
        has_long_words = any(len(word) > LONGEST_WORD for word in words)
        all_tokens += _short_tokens(pattern, segment) if has_long_words else words
    return all_tokens


def _short_tokens(pattern: Any, text: str) -> list[str]:
    tokens, position = list[str](), 0
    while match := pattern.search(text, position):
        token = pattern.match(text, match.start(), match.start() + LONGEST_WORD)
        tokens.append(token[0])
        position = token.end()
    return tokens


# Words and numbers, which underscores (E) join; N digits, A letters, H Hebrew letters, K Katakana, L and M what joins
# letters and digits in their midst, Q and D single and double quotation marks. A Hebrew letter before a quotation mark
# begins a part of its own.
_LETTER = "(?!{H}(?:{Q}|{D}{H})){A}"
_NUMBER, _LETTERS = "{N}(?:(?:{E}*|{M}){N})*", f"{_LETTER}(?:{{E}}*{_LETTER}|{{L}}{{A}})*"
_PART = f"(?:{{K}}(?:{{E}}*{{K}})*|(?:{{H}}(?:{{Q}}|{{D}}{{H}})|{_NUMBER}|{_LETTERS})+)"
_WORD = f"{{E}}*+{_PART}(?:{{E}}+{_PART})*{{E}}*+"


_ASCII_PART = r"(?:[0-9]+(?:[.,;']?[0-9]+)*|[A-Za-z]+(?:[.:']?[A-Za-z]+)*)"
_ASCII_WORD = re.compile(rf"_*{_ASCII_PART}(?:_*{_ASCII_PART})*_*")


# Lucene has the properties of Unicode 12.1; later editions moved these characters.
_SIGNS = r"\u0600-\u0605\u06DD\u070F\u08E2\U000110BD\U000110CD"
_ATTACHED = rf"\p{{WB=Format}}\p{{WB=Extend}}\p{{WB=ZWJ}}{_SIGNS}"
_NO_LETTERS = r"\u00B8\u02E5-\u02EB\u0558\u055A\u058A-\u058C\uA708-\uA716"
_PICTURES = (
    r"\u2388\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2765-\u2767"
    r"\U0001F000-\U0001F0FF\U0001F10D-\U0001F10F\U0001F12F\U0001F16C-\U0001F171\U0001F1AD-\U0001F1E5"
    r"\U0001F260-\U0001F265\U0001F300-\U0001F3FA\U0001F400-\U0001F53D\U0001F546-\U0001F64F"
    r"\U0001F680-\U0001F6FF\U0001F774-\U0001F77F\U0001F7D5-\U0001F7FF\U0001F8B0-\U0001F8FF"
    r"\U0001F90C-\U0001F93A\U0001FA00-\U0001FFFD"
)


@cache
def _unicode_word() -> Any:
    import regex  # takes 20 ms, and ASCII needs none

    attached = rf"[{_ATTACHED}]*+"
    classes = {
        "E": r"\p{WB=ExtendNumLet}",
        "N": rf"[[\p{{WB=Numeric}}[\p{{Block=Halfwidth_And_Fullwidth_Forms}}&&\p{{Nd}}]]--[{_SIGNS}]]",
        "A": rf"[[\p{{WB=ALetter}}\p{{WB=HebrewLetter}}]--[{_NO_LETTERS}{_SIGNS}]]",
        "H": r"\p{WB=HebrewLetter}",
        "K": r"\p{WB=Katakana}",
        "L": r"[\p{WB=MidLetter}\p{WB=MidNumLet}\p{WB=SingleQuote}]",
        "M": r"[\p{WB=MidNum}\p{WB=MidNumLet}\p{WB=SingleQuote}\uFE10\uFE14]",
        "Q": r"\p{WB=SingleQuote}",
        "D": r"\p{WB=DoubleQuote}",
    }
    word = re.sub(r"\{([A-Z])\}", lambda name: f"(?:{classes[name[1]]}{attached})", _WORD)
    # A key of a telephone and a flag of two letters are words, as are other pictures of emoji (Unicode TR 51).
    pictures = rf"[\p{{Extended_Pictographic}}{_PICTURES}["
    pictures += r"\p{Emoji}--[\p{WB=Regional_Indicator}0-9\#*©®™〰〽\p{Emoji_Modifier}]]]"
    joined_picture = rf"\u200D+[{pictures}\p{{Emoji_Modifier_Base}}\p{{Emoji_Modifier}}]"
    marks = rf"(?:(?!{joined_picture})[[{_ATTACHED}]--[\uFE0E\uFE0F]])*"
    picture = (
        rf"(?:\u200D*{pictures}{marks}\uFE0F?"
        rf"|(?:\u200D*\p{{Emoji_Modifier_Base}}{marks})?\p{{Emoji_Modifier}}{marks})"
    )
    emoji = (
        rf"{picture}(?:[\U000E0020-\U000E007E]+\U000E007F|(?:\u200D{picture})*)"
        rf"|[\#*]{marks}\uFE0F?\u20E3{marks}|(?:\p{{WB=Regional_Indicator}}{attached}){{2}}"
    )
    syllable = (
        rf"\p{{LB=SA}}{attached}(?:\p{{LB=SA}}{attached})*|[\p{{Script=Han}}\p{{Script=Hiragana}}]{attached}"
    )
    return regex.compile(rf"(?V1){word}|{emoji}|{syllable}")


# Stems.


# Suffix-what stands for it, if a vowel and a consonant precede it; of several the first counts.
_DOUBLE_SUFFIXES = (
    "ational-ate tional-tion enci-ence anci-ance izer-ize bli-ble alli-al entli-ent eli-e ousli-ous ization-ize "
    "ation-ate ator-ate alism-al iveness-ive fulness-ful ousness-ous aliti-al iviti-ive biliti-ble logi-log"
)
_OTHER_SUFFIXES = "icate-ic ative- alize-al iciti-ic ical-ic ful- ness-"
_REPLACEMENTS = [
    [pair.split("-") for pair in suffixes.split()] for suffixes in (_DOUBLE_SUFFIXES, _OTHER_SUFFIXES)
]
# Suffixes that go where two vowels with a consonant behind each precede them.
_LAST_SUFFIXES = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def porter_stem(word: str) -> str:
    """Return the stem of a word in small letters, as Lucene's PorterStemFilter does."""
    if not word.isascii() and max(word) > "\uffff":  # Java counts such a letter twice
        code_units = word.encode("utf-16-le", "surrogatepass")
        surrogate_pairs = "".join(
            chr(int.from_bytes(code_units[i : i + 2], "little")) for i in range(0, len(code_units), 2)
        )
        return (
            porter_stem(surrogate_pairs)
            .encode("utf-16-le", "surrogatepass")
            .decode("utf-16-le", "surrogatepass")
        )
    if len(word) <= 2:
        return word
    word = _without_ending(_without_plural(word))
    if word.endswith("y") and "v" in _sounds(word[:-1]):
        word = f"{word[:-1]}i"
    for suffixes in _REPLACEMENTS:
        for suffix, replacement in suffixes:
            if word.endswith(suffix):
                stem = word[: -len(suffix)]
                word = stem + replacement if _measure(stem) > 0 else word
                break
    for suffix in _LAST_SUFFIXES:
        if word.endswith(suffix):
            stem = word[: -len(suffix)] + (suffix[0] if suffix in ("sion", "tion") else "")
            word = stem if _measure(stem) > 1 else word
            break
    if word.endswith("e"):
        measure = _measure(word)
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] != "s" else word


def _without_ending(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((ending for ending in ("ed", "ing") if word.endswith(ending)), "")
    stem = word[: -len(ending)] if ending else ""
    if "v" not in _sounds(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if _has_double_consonant(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _is_short(stem) else stem


def _sounds(word: str) -> str:
    """Return v for each vowel and c for each other letter; y is a vowel behind a consonant."""
    sounds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and sounds.endswith("c"))
        sounds += "v" if is_vowel else "c"
    return sounds


def _measure(word: str) -> int:
    """Return how often a consonant follows a vowel."""
    return _sounds(word).count("vc")


def _has_double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _sounds(word).endswith("c")


def _is_short(word: str) -> bool:
    """Whether a word ends in consonant, vowel and consonant, and not in w, x or y."""
    return _sounds(word).endswith("cvc") and word[-1] not in "wxy"
