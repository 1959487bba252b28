"""Where a redirect leads to."""

from __future__ import annotations

import html
import re
from collections.abc import Collection

_REDIRECT = re.compile(r"\s*#(\S+?)\s*:?\s*\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|[^\[\]\n]*)?\]\]")


def redirect_target(text: str | None, marked: str | None, words: Collection[str]) -> tuple[str, str] | None:
    """Return (title, fragment) that a page redirects to; None for other pages, ("", "") where the target is illegible.

    Args:
        text: the page's wikitext; only it tells the fragment.
        marked: the target as the dump itself gives it, None where it gives none.
        words: what follows # in a redirect that the dump does not mark (before 2010), in small letters.
    """
    link = _REDIRECT.match(text) if text else None
    if marked is None and (link is None or link[1].lower() not in words):
        return None
    title, _, fragment = (marked or "").partition("#")
    if link is not None:
        title, fragment = title or link[2], fragment or link[3] or ""
    return _as_title(title), _as_title(fragment)


def _as_title(text: str) -> str:
    return " ".join(html.unescape(text).replace("_", " ").split()).removeprefix(":").lstrip()
