"""Which characters get into the tables, the same for every format."""

import codecs
import html
import re
from collections.abc import Iterable

from irpretrain.foundation.errors import first_names

# Characters: more than any address of a page has; runs and tables repeat an identifier many times.
LONGEST_IDENTIFIER = 4096

# A whole number as files write it.
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
# A decimal number as files write it. The repeats are possessive: digits before a wrong sign are read once.
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,400}+(?:\.[0-9]{0,400}+)?|\.[0-9]{1,400}+)(?:[eE][+-]?[0-9]{1,3})?")

_LINE_ENDS = re.compile(r"\r\n?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNCLEAN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LONG_NUMBER = re.compile(r"&#([0-9]{8,});?")
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_|<>\[\]])")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Format characters (Unicode's Cf) that are never displayed; the Arabic signs among them, which are, stay.
_INVISIBLE = (
    r"\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
# U+FFFE, a byte-order mark the wrong way round, is no sign; Java loses it at the beginning of a string.
_BREAKS_IDENTIFIER = re.compile(rf"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe{_INVISIBLE}]")


def without_marks(start: bytes) -> bytes:
    """Return the start of a file without byte-order marks; a tool that adds one to each file may add a second."""
    while start.startswith(codecs.BOM_UTF8):
        start = start.removeprefix(codecs.BOM_UTF8)
    return start


def clean_text(text: str) -> str:
    r"""Return `text` with `\n` for line ends, spaces for control characters, U+FFFD for lone surrogates."""
    if not _UNCLEAN.search(text):  # most texts; one search takes a third of the time of three substitutions
        return text
    return whole_characters(_CONTROLS.sub(" ", _LINE_ENDS.sub("\n", text)))


def whole_characters(text: str) -> str:
    """Return `text` with U+FFFD for each lone surrogate, which JSON can hold and tables cannot; as long as before."""
    return _SURROGATES.sub("\ufffd", text)


def unescaped(markup: str) -> str:
    """Return markup with its references (`&amp;`, `&#38;`) as characters."""
    # Python reads no integer of thousands of digits; eight digits are beyond the last character.
    return html.unescape(_LONG_NUMBER.sub(lambda match: f"&#{match[1].lstrip('0')[:8] or 0};", markup))


def markdown_escape(text: str) -> str:
    """Return `text` with Markdown's special characters made literal, on one line."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def clean_line(text: str) -> str:
    """Return `text` cleaned and on one line: runs of white space are one space, none at the ends."""
    return " ".join(clean_text(text).split())


def displayed_names(names: Iterable[str]) -> str:
    """Return names that a file gives (columns, fields) for a message: the first ten, each cut at 40 characters."""
    lines = map(clean_line, names)
    return first_names([line if len(line) <= 40 else f"{line[:40]}…" for line in lines], 10)


def identifier_fault(identifier: str) -> str | None:
    """Return what is wrong with a document's or query's identifier, or None; TREC files separate by white space."""
    if not identifier:
        return "the identifier is empty"
    short_identifier = identifier if len(identifier) <= 80 else identifier[:80] + "…"
    if len(identifier) > LONGEST_IDENTIFIER:
        return f"the identifier {short_identifier!r} has {len(identifier):,} characters, over {LONGEST_IDENTIFIER:,}"
    if _BREAKS_IDENTIFIER.search(identifier):
        fault = f"the identifier {short_identifier!r} holds white space, control or invisible characters"
        is_sound_within = identifier.strip() and not _BREAKS_IDENTIFIER.search(identifier.strip())
        return f"{fault} around it: remove them (TRIM in a spreadsheet)" if is_sound_within else fault
    return None
