"""Where a redirect leads to."""

from __future__ import annotations

import html
import re

_REDIRECT = re.compile(r"\s*#(\S+?)\s*:?\s*\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|[^\[\]\n]*)?\]\]")
WORDS = frozenset(
    {
        *("redirect", "redirection", "redirección", "redirecionamento", "weiterleitung", "rinvia", "ohjaus"),
        *(
            "doorverwijzing",
            "omdirigering",
            "omdiriger",
            "uudelleenohjaus",
            "patrz",
            "przekieruj",
            "přesměruj",
        ),
        *(
            "átirányítás",
            "yönlendirme",
            "перенаправление",
            "перенапр",
            "転送",
            "リダイレクト",
            "重定向",
            "넘겨주기",
        ),
    }
)
"""What follows # in dumps that do not mark redirects themselves (before 2010); newer ones need no words."""


def redirect_target(text: str | None, marked: str | None) -> tuple[str, str] | None:
    """Return (title, fragment) that a page redirects to; None for other pages, ("", "") where the target is illegible.

    Args:
        text: the page's wikitext; only it tells the fragment.
        marked: the target as the dump itself gives it, None where it gives none.
    """
    link = _REDIRECT.match(text) if text else None
    if marked is None and (link is None or link[1].lower() not in WORDS):
        return None
    title, _, fragment = (marked or "").partition("#")
    if link is not None:
        title, fragment = title or link[2], fragment or link[3] or ""
    return _as_title(title), _as_title(fragment)


def _as_title(text: str) -> str:
    return " ".join(html.unescape(text).replace("_", " ").split()).removeprefix(":").lstrip()
