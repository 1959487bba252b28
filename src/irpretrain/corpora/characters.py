"""Which characters get into the tables, the same for every format."""

import re
from bisect import bisect_left
from collections.abc import Callable

_LINE_ENDS = re.compile(r"\r\n?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_BREAKS_IDENTIFIER = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")


def clean_text(text: str) -> str:
    """Return `text` with one kind of line end (`\\n`), spaces for control characters, U+FFFD for lone surrogates.

    Tabs and newlines stay, and so does everything else: no Unicode normalisation, no collapsing of spaces.
    """
    text = _LINE_ENDS.sub("\n", text)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def places_in_clean_text(text: str) -> Callable[[int], int]:
    """Return the function from places in `text` to places in `clean_text(text)`, where only `\\r\\n` gets shorter."""
    breaks = [match.start() for match in re.finditer("\r\n", text)]
    return lambda place: place - bisect_left(breaks, place)


def clean_line(text: str) -> str:
    """Return `text` cleaned and on one line: runs of white space are one space, none at the ends."""
    return " ".join(clean_text(text).split())


def identifier_fault(identifier: str) -> str | None:
    """Return what is wrong with a document's or query's identifier, or None; TREC files separate by white space."""
    if not identifier:
        return "the identifier is empty"
    if _BREAKS_IDENTIFIER.search(identifier):
        shown = identifier if len(identifier) <= 80 else identifier[:80] + "…"
        return f"the identifier {shown!r} holds white space or control characters"
    return None
