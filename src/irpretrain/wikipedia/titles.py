"""Titles in normal form, as MediaWiki compares them (https://www.mediawiki.org/wiki/Manual:Page_title); redirects."""

import re
import unicodedata
from collections.abc import Collection
from typing import Literal
from urllib.parse import unquote

from irpretrain.foundation.characters import unescaped

# `case` of a dump's siteinfo: whether the first letter of a title is always a capital.
TitleCase = Literal["first-letter", "case-sensitive"]
# Key of the metadata of REDIRECTS that holds what the shard's dumps say: distinct values, sorted, joined by commas.
TITLE_CASE = "title_case"

# A prefix, and a name with an ending that https://commons.wikimedia.org/wiki/Commons:File_types allows.
_MEDIA = re.compile(
    r"[^:]*:.*\.(?:bmp|djvu?|flac|gif|jpe?g|jpe|midi?|mp[34]|mpe?g|og[agvx]|opus|pdf|png|stl|svg|tiff?|wav|web[mp]|xcf)\s*",
    re.IGNORECASE | re.DOTALL,
)


def spaced(title: str) -> str:
    """Return a title or name with spaces for underscores, single ones, and none at the ends."""
    return " ".join(title.replace("_", " ").split())


def normal_name(name: str) -> str:
    """Return a name of a wiki (heading, template, namespace) as it is compared: `spaced`, in small letters."""
    return spaced(name).lower()


def is_file(title: str) -> bool:
    """Whether a title is a media file by its form, whatever the namespace of files is called here: `图片:A.jpg`."""
    return _MEDIA.fullmatch(title) is not None


def normal_title(title: str, case: TitleCase = "first-letter") -> str:
    """Return the normal form of a title or a link's target.

    Underscores are spaces, runs of white space are one space, none at the ends; a leading colon (which only makes a
    link of what would be a category or file) goes; the first letter is a capital where the wiki says so. A #fragment is
    no part of a target here: the articles' parser has taken it off. What is left may be empty: a link within the page.
    """
    normal = spaced(title)
    if normal.startswith(":"):
        normal = normal[1:].lstrip()
    # Letters whose capital is two characters (ß) stay, as MediaWiki leaves them.
    capital = normal[:1].upper() if case == "first-letter" else ""
    return capital + normal[1:] if len(capital) == 1 else normal


# Where a redirect leads to.

_REDIRECT = re.compile(r"\s*+[#＃](?!\s)([^\[\]]++)\[\[([^\[\]|\n]*)(?:\|[^\[\]\n]*)?\]\]")
_PERCENT = re.compile("%[0-9a-fA-F]{2}")
_DOT_ABOVE = "\N{COMBINING DOT ABOVE}"


def redirect_target(
    text: str | None, marked_target: str | None, redirect_words: Collection[str]
) -> tuple[str, str] | None:
    """Return (title, fragment) that a page redirects to; None for other pages, ("", "") where the target is illegible.

    Args:
        text: the page's wikitext; only it tells the fragment.
        marked_target: the target as the dump itself gives it, None where it gives none.
        redirect_words: what follows # in a redirect that the dump does not mark (before 2010), each as `redirect_word`.
    """
    link = _REDIRECT.match(text) if text else None
    if marked_target is None and (
        link is None or redirect_word(link[1].rstrip().removesuffix(":")) not in redirect_words
    ):
        return None
    title, _, fragment = (marked_target or "").partition("#")
    if link is not None:
        written_title, _, written_fragment = unicodedata.normalize(
            "NFC", unescaped(unquote(link[2]))
        ).partition("#")
        if not title and _PERCENT.search(written_title):
            return "", ""  # MediaWiki decodes once, and has no such title
        title, fragment = title or written_title, fragment or written_fragment
    return normal_title(title, "case-sensitive"), normal_title(fragment, "case-sensitive")


def redirect_word(word: str) -> str:
    """Return what words of redirects are compared by: as `normal_name`, and i with and without a dot is one letter.

    MediaWiki's message files mark the word as case-insensitive in every language; Turkish writes the capital of i as İ,
    which in small letters is i with a combining dot, and that of ı as I.
    """
    return normal_name(word).replace(_DOT_ABOVE, "").replace("ı", "i")
