"""Where a redirect leads to."""

import re
import unicodedata
from collections.abc import Collection
from urllib.parse import unquote

from irpretrain.corpora.characters import unescaped
from irpretrain.wikipedia.titles import normal_title, spelt

_REDIRECT = re.compile(r"\s*+[#＃](?!\s)([^\[\]]++)\[\[([^\[\]|\n]*)(?:\|[^\[\]\n]*)?\]\]")
_PERCENT = re.compile("%[0-9a-fA-F]{2}")
_DOT_ABOVE = "\N{COMBINING DOT ABOVE}"


def redirect_target(text: str | None, marked: str | None, words: Collection[str]) -> tuple[str, str] | None:
    """Return (title, fragment) that a page redirects to; None for other pages, ("", "") where the target is illegible.

    Args:
        text: the page's wikitext; only it tells the fragment.
        marked: the target as the dump itself gives it, None where it gives none.
        words: what follows # in a redirect that the dump does not mark (before 2010), each as `redirect_word`.
    """
    link = _REDIRECT.match(text) if text else None
    if marked is None and (link is None or redirect_word(link[1].rstrip().removesuffix(":")) not in words):
        return None
    title, _, fragment = (marked or "").partition("#")
    if link is not None:
        written, _, part = unicodedata.normalize("NFC", unescaped(unquote(link[2]))).partition("#")
        if not title and _PERCENT.search(written):
            return "", ""  # MediaWiki decodes once, and has no such title
        title, fragment = title or written, fragment or part
    return normal_title(title, "case-sensitive"), normal_title(fragment, "case-sensitive")


def redirect_word(word: str) -> str:
    """Return what words of redirects are compared by: as `spelt`, and i with and without a dot is one letter.

    MediaWiki's message files mark the word as case-insensitive in every language; Turkish writes the capital of i as İ,
    which in small letters is i with a combining dot, and that of ı as I.
    """
    return spelt(word).replace(_DOT_ABOVE, "").replace("ı", "i")
