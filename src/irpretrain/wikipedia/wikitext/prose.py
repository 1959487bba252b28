"""Which calls of templates that nobody has listed show words: those that a sentence runs through, and quotations.

Editors wrap words of a sentence into templates that mark or format them, as in `which {{clarify span|in recent
years|when?}} has grown`. Templates that show something else or nothing stand elsewhere (lists of links, boxes and hints
on lines of their own, footnotes directly behind a word) or are given something else (names, numbers, file names).
A quotation stands alone behind a line of prose, where no hint on a page or section stands.
docs/methods/wikipedia.md has the measurement.
"""

import re
from collections.abc import Collection

from irpretrain.wikipedia.titles import normal_name
from irpretrain.wikipedia.wikitext.arguments import Arguments, first_argument
from irpretrain.wikipedia.wikitext.dates import Calendar
from irpretrain.wikipedia.wikitext.marks import BAR, BREAK, DROPPED, NOTHING

# Characters of a call that is looked at.
LONGEST = 4000
_BREAK = re.compile(r"<[bB][rR]\s*/?>")
# Words, links, what is left out of a quotation [...] and line breaks.
_IN_A_LINE = re.compile(
    rf"(?>(?:[^\[\]{{}}<>\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]{{}}<>\n]*+\]|{_BREAK.pattern})+)"
)
_NOT_SEEN = re.compile(rf"\[\[(?:[^\[\]|{BAR}]*+[|{BAR}])?|\]\]?|\[\S*+")
_YEAR = re.compile("[0-9]{4}[a-z]?")
_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
# Japanese, Chinese, Thai.
_LETTER_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_WITHOUT_SPACES = re.compile(f"(?:{_LETTER_WITHOUT_SPACES.pattern}){{6}}")
# What follows words of a sentence that stand directly behind a letter; footnotes end with a stop themselves.
_CONTINUED_WITHOUT_SPACES = re.compile(rf"{_LETTER_WITHOUT_SPACES.pattern}|[、，。]")
_FILE = re.compile(r"\.[A-Za-z0-9]{2,4}$")
_INDENT = f" \t*#:;'\"„“«({DROPPED}{NOTHING}"
_CONTINUED = re.compile(r"(?:[ ,;)»”–—][ ,;)»”–—]{0,3}|[.:] )[\w('„“«\"\[]")
# What stands before words of a sentence, in an argument of another call too; behind a word or a closing tag stand
# footnotes and hints.
_OPENING = re.compile(r"(?:[\s(\[/–—„“«‘\"|=]|<[a-zA-Z][^<>]*>)'{0,5}$")
# Characters of its line before a call that are looked at.
LONGEST_START = 80
# Characters before a call alone in its line that are looked at.
LONGEST_BEFORE = 400
# Words in a script without capitals; fewer may be a name.
_MIN_UNCASED_WORDS = 4
_MIN_SENTENCE_WORDS = 5
_SENTENCE_ENDS = tuple(".!?…。！？؟۔।»”’'\")]—;,")
_TAG = re.compile("</?[a-zA-Z]+ ?/?>")
_NO_PROSE = re.compile(r"[=|!{]|\[\[[^\[\]|]*:[^\[\]]*\.\w{3,4}\|")


def words_in_sentence(parameters: Arguments, arguments_text: str) -> str:
    """Return the first argument of a call, or the one that is called text, if it has words of a sentence, else "".

    Args:
        parameters: the arguments.
        arguments_text: the same as they are written.
    """
    first_text = first_argument(parameters)
    if (
        not _IN_A_LINE.fullmatch(first_text)
        or _YEAR.fullmatch(parameters.get("2", ""))
        or _FILE.search(first_text)
    ):
        return ""
    text_before, _, text_after = arguments_text.partition(first_text)
    if (
        "\n" in text_before
        or text_after.lstrip(" ")[:1] not in ("", "|")
        or len(_BREAK.findall(first_text)) > 1
    ):
        return ""  # boxes are written over several lines, lists in them with a break behind each item
    visible = _BREAK.sub(" ", _NOT_SEEN.sub("", first_text))
    words = _WORD.findall(visible)
    letter_count = sum(map(len, words))
    if letter_count < 0.6 * len(visible.replace(" ", "")):
        return ""
    if _WITHOUT_SPACES.search(visible):
        return first_text
    if " " not in visible.strip() or len(words) < 2:
        return ""
    has_case = any(word.lower() != word.upper() for word in words)
    is_prose = len(words) >= _MIN_UNCASED_WORDS
    if has_case:
        is_prose = any(word.islower() and len(word) > 1 for word in words)
    return first_text if is_prose else ""


def foreign_words(name: str, parameters: Arguments, languages: Collection[str]) -> str:
    """Return the words of a call that names their language by its code: `{{taal|de|Haus}}`, `{{ny-de|Haus}}`; else "".

    Args:
        name: of the template.
        parameters: its arguments.
        languages: codes.
    """
    first, (prefix, _, code) = parameters.get("1", ""), normal_name(name).rpartition("-")
    words = first if prefix and code in languages else ""
    if first in languages:
        words = parameters.get("2", "")
    return words if _WORD.search(words) and _IN_A_LINE.fullmatch(words) and not _FILE.search(words) else ""


def quotation(parameters: Arguments, calendar: Calendar) -> str:
    """Return the words of a call that stands alone behind a line of prose, if they are a sentence, else "".

    A hint for editors is no sentence, or has the month in which it was written.
    """
    words = first_argument(parameters)
    if not words.endswith(_SENTENCE_ENDS) or not _IN_A_LINE.fullmatch(_TAG.sub("", words).replace("\n", " ")):
        return ""
    for value in parameters.values():
        month, _, year = value.partition(" ")
        if year.isdecimal() and calendar.month(month):
            return ""
    return words if _is_sentence(_NOT_SEEN.sub("", words)) else ""


def follows_prose(text_before: str) -> bool:
    """Whether the last line of `text_before` that is not blank is prose, not a heading or a table."""
    line = text_before.rstrip(f" \t\n{DROPPED}{NOTHING}{BREAK}").rpartition("\n")[2]
    return not _NO_PROSE.match(line) and (line.endswith((":", "：")) or _is_sentence(_NOT_SEEN.sub("", line)))


def _is_sentence(text: str) -> bool:
    if _WITHOUT_SPACES.search(text):
        return True
    words = _WORD.findall(text)
    has_case = any(word.lower() != word.upper() for word in words)
    return len(words) >= _MIN_SENTENCE_WORDS and (
        not has_case or sum(word.islower() for word in words) >= len(words) / 3
    )


def is_within_sentence(text_before: str, words: str, text: str, end: int) -> bool:
    """Whether a call is part of a sentence by what stands around it.

    Args:
        text_before: what is shown before it: the line, or its last `LONGEST_START` characters and more.
        words: of its first argument.
        text: wikitext of the page.
        end: place in it behind the call.
    """
    if starts_line(text_before):
        return _CONTINUED.match(text, end) is not None
    if _LETTER_WITHOUT_SPACES.match(text_before[-1:]) and _LETTER_WITHOUT_SPACES.match(words[-1:]):
        return _CONTINUED_WITHOUT_SPACES.match(text, end) is not None
    return _OPENING.search(text_before, max(0, len(text_before) - LONGEST_START)) is not None


def starts_line(text_before: str) -> bool:
    """Whether nothing stands before a call in its line but marks of lists and of what opens."""
    line_end = text_before.rfind("\n")
    return len(text_before) - max(line_end, 0) <= LONGEST_START and not text_before[line_end + 1 :].strip(
        _INDENT
    )
