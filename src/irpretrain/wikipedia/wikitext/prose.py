"""Which calls of templates that nobody has listed show their first argument: those that a sentence runs through.

Editors wrap words of a sentence into templates that mark or format them, as in `which {{clarify span|in recent
years|when?}} has grown`. Templates that show something else or nothing stand elsewhere (lists of links, boxes and hints
on lines of their own, footnotes directly behind a word) or are given something else (names, numbers, file names).
docs/methods/wikipedia.md has the measurement.
"""

import re

from irpretrain.wikipedia.wikitext.arguments import split_arguments
from irpretrain.wikipedia.wikitext.marks import BAR, DROPPED, NOTHING

LONGEST = 2000
"""Characters of a call that is looked at."""
_BREAK = re.compile(r"<[bB][rR]\s*/?>")
_IN_A_LINE = re.compile(
    rf"(?:[^\[\]{{}}<>\n]|\[\[[^\[\]\n]*+\]\]|\[(?:https?:)?//[^\[\]{{}}<>\n]*+\]|{_BREAK.pattern})++"
)
"""Words, links and line breaks."""
_NOT_SEEN = re.compile(rf"\[\[(?:[^\[\]|{BAR}]*+[|{BAR}])?|\]\]?|\[\S*+")
_YEAR = re.compile("[0-9]{4}[a-z]?")
_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_LETTER_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
"""Japanese, Chinese, Thai."""
_WITHOUT_SPACES = re.compile(f"(?:{_LETTER_WITHOUT_SPACES.pattern}){{6}}")
_CONTINUED_WITHOUT_SPACES = re.compile(rf"{_LETTER_WITHOUT_SPACES.pattern}|[、，。]")
"""What follows words of a sentence that stand directly behind a letter; footnotes end with a stop themselves."""
_FILE = re.compile(r"\.[A-Za-z0-9]{2,4}$")
_START = re.compile(rf"(?:^|\n)[ \t*#:;'\"„“«({DROPPED}{NOTHING}]*$")
_CONTINUED = re.compile(r"(?:[ ,;)»”–—][ ,;)»”–—]{0,3}|[.:] )[\w('„“«\"\[]")
_OPENING = re.compile(r"(?:[\s(\[/–—„“«‘\"|=]|<[a-zA-Z][^<>]*>)'{0,5}$")
"""What stands before words of a sentence, in an argument of another call too; behind a word or a closing tag stand
footnotes and hints."""
LONGEST_START = 80
"""Characters before a call that are looked at."""
_FEWEST_UNCASED = 4
"""Words in a script without capitals; fewer may be a name."""


def reads_as_prose(arguments: str) -> str:
    """Return the first argument of a call, or the one called text, if it has words of a sentence, else nothing.

    Args:
        arguments: what stands between the name's `|` and the closing braces.
    """
    if len(arguments) > LONGEST:
        return ""
    parameters = split_arguments(arguments)
    first = parameters.get("1") or parameters.get("text", "")
    if not _IN_A_LINE.fullmatch(first) or _YEAR.fullmatch(parameters.get("2", "")) or _FILE.search(first):
        return ""
    before, _, after = arguments.partition(first)
    if "\n" in before or after.lstrip(" ")[:1] not in ("", "|") or len(_BREAK.findall(first)) > 1:
        return ""  # boxes are written over several lines, lists in them with a break behind each item
    shown = _BREAK.sub(" ", _NOT_SEEN.sub("", first))
    words = _WORD.findall(shown)
    letters = sum(map(len, words))
    if letters < 0.6 * len(shown.replace(" ", "")):
        return ""
    if _WITHOUT_SPACES.search(shown):
        return first
    if " " not in shown.strip() or len(words) < 2:
        return ""
    cased = any(word.lower() != word.upper() for word in words)
    if not (
        any(word.islower() and len(word) > 1 for word in words) if cased else len(words) >= _FEWEST_UNCASED
    ):
        return ""
    return first


def stands_in_sentence(before: str, words: str, text: str, end: int) -> bool:
    """Whether a call is part of a sentence by what stands around it.

    Args:
        before: what is shown before it: the line, or its last `LONGEST_START` characters and more.
        words: of its first argument.
        text: wikitext of the page.
        end: place in it behind the call.
    """
    start = max(0, len(before) - LONGEST_START)
    if _START.search(before, start):
        return _CONTINUED.match(text, end) is not None
    if _LETTER_WITHOUT_SPACES.match(before[-1:]) and _LETTER_WITHOUT_SPACES.match(words[-1:]):
        return _CONTINUED_WITHOUT_SPACES.match(text, end) is not None
    return _OPENING.search(before, start) is not None
