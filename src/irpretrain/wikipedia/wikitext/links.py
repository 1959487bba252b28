"""Links: which of them a reader sees, what they point at, where their anchors are."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from irpretrain.wikipedia.titles import is_file
from irpretrain.wikipedia.wikitext.entities import decode_entities
from irpretrain.wikipedia.wikitext.images import cut_at_bars
from irpretrain.wikipedia.wikitext.marks import (
    ANCHOR,
    ANCHOR_END,
    APOSTROPHE,
    BREAK,
    DROPPED,
    HEADING,
    NOTHING,
)
from irpretrain.wikipedia.wikitext.rendering import Parts

if TYPE_CHECKING:
    from irpretrain.wikipedia.languages import WikiLanguage

# Title and fragment.
Target = tuple[str, str]

# Files within each other whose captions are kept; it bounds the time.
DEEPEST = 40
# Bytes of UTF-8; MediaWiki has no longer titles.
LONGEST_TITLE = 255
# $wgUrlProtocols of MediaWiki; a regular expression.
_PROTOCOLS = (
    r"(?i:(?:(?:https?|s?ftp|ftps|ircs?|gopher|telnet|nntp|svn|git|ssh|mms|redis|worldwind):)?//"
    r"|(?:bitcoin|geo|magnet|mailto|matrix|news|sips?|sms|tel|urn|xmpp):)"
)
# Other than MediaWiki's, it goes on behind a template that is left out.
_IN_ADDRESS = r"(?:[^\s\[\]<>\"'\x00-\x06\x08-\x20\x7f]++|'(?!'))"
ADDRESS = rf"{_PROTOCOLS}(?>\[[0-9a-fA-F:.]++\]{_IN_ADDRESS}*|{_IN_ADDRESS}+)"
_EXTERNAL = re.compile(rf"\[{ADDRESS}")
_LABEL = re.compile(rf"((?>(?:[^\]\n{ANCHOR}]++|{ANCHOR}[^{ANCHOR_END}\n]*+{ANCHOR_END})*))\]")
_STARTS_AS_ADDRESS = re.compile(_PROTOCOLS)
# What no title holds of a link that can be read as it is written: no prefix, nothing to decode.
_RARE = r"&_%#:<>{}~/\[\]|\x00-\x1f\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f\u3000"
_UNUSUAL = re.compile(r"[&_%#:<>{}~\x00-\x1f\u200e\u200f\u202a-\u202e]|[^\S ]|\s\s|^[.\s]+$")
_IGNORED = re.compile(r"[\u200e\u200f\u202a-\u202e]")
# What no title holds (MediaWikiTitleCodec).
_INVALID = re.compile(
    r"[<>{}|\[\]\x00-\x1f\x7f\ufffd]|%[0-9a-fA-F]{2}|&(?:[a-zA-Z0-9\x80-\uffff]+|#[0-9]+|#x[0-9a-fA-F]+);|~~~"
    r"|(?:^|/)\.\.?(?:/|$)"
)
_LINE_ENDS = str.maketrans({"\n": " ", BREAK: " "})


def mark_links(text: str, language: WikiLanguage, parts: Parts) -> tuple[str, list[Target]]:
    """Return `text` with marks around each link's anchor, all other links reduced to what is visible, and the targets.

    Letters directly behind a link belong to its anchor, as on the screen; in some languages letters before it do too.
    A link within a link is the link; the outer one is text. So is a link whose title MediaWiki does not allow, a link
    over a blank line, and a caption over a heading.
    """
    scan = _Scan(text, language, parts)
    return _show_external(scan.run()), scan.links


def _show_external(text: str) -> str:
    """Return `text` with the labels of external links alone; one without a label shows its number, as on the screen."""
    output: list[str] = []
    at = numbered = 0
    link = _EXTERNAL.search(text)
    while link:
        line_end = text.find("\n", link.end())
        line_end = line_end if line_end >= 0 else len(text)
        label = _LABEL.match(text, link.end(), line_end)
        after = label.end() if label else line_end  # no other link of this line ends either
        if label:
            words = label[1].lstrip(" \t\xa0")
            numbered += not words
            output += [text[at : link.start()], NOTHING, words or f"[{numbered}]", NOTHING]
            at = after
        link = _EXTERNAL.search(text, after)
    return "".join([*output, text[at:]])


@cache
def _pattern(trail: str) -> re.Pattern[str]:
    # An apostrophe of the trail is none of bold or italics.
    letters = trail.replace("'", "")
    after = f"((?>(?:[{letters}]++|'(?!'))*))" if letters != trail else f"([{trail}]*+)" if trail else "()"
    target = rf"[^\[\]|\n{HEADING}{BREAK}]*+"
    # The first character as a set of its own: with groups in its place, re.search takes three times as long.
    return re.compile(
        rf"[\[\]](?:(?<=\[)\[(?:((?![ .])[^{_RARE}]{{1,63}}+)(?<! )"
        rf"(?:\|((?!\s)[^\[\]\x00-\x1f]++)(?<!\s))?\]\]{after}"
        rf"|({target})(\|[^\[\]{HEADING}]*+)?\]\]{after}"  # a link with no bracket in it
        rf"|()(?:({target})\|)?)"
        rf"|(?<=\])(\](?>(?:\](?!\]))?)){after})"
    )


@cache
def _before(letters: str) -> re.Pattern[str]:
    return re.compile(f"[{letters}]")


class _Open(NamedTuple):
    """Brackets that are not closed yet.

    Attributes:
        start: where they stand in the text.
        piece: index in `output` that holds them.
        links: number of links before them.
        written: the target, if there is one before a bar.
    """

    start: int
    piece: int
    links: int
    written: str | None


class _Scan:
    """The scan over one page."""

    def __init__(self, text: str, language: WikiLanguage, parts: Parts) -> None:
        self.text, self.language, self.parts = text, language, parts
        self.links: list[Target] = []
        self.output: list[str] = []
        self.open: list[_Open] = []
        self.line, self.section, self.looked = -1, -1, 0  # last line end and heading before `looked`

    def run(self) -> str:
        text, output, links, has_prefix = self.text, self.output, self.links, bool(self.language.link_prefix)
        at = 0
        for token in _pattern(self.language.link_trail).finditer(text):
            start = token.start()
            if start > at:
                output.append(text[at:start])
            at = token.end()
            kind = token.lastindex
            if kind == 3:
                title, label, trail = token.group(1, 2, 3)
                if has_prefix or "  " in title or (label is None and "''" in title):
                    link = self._link(title, label and f"|{label}", trail)
                    output.append(text[start:at] if link is None else link)
                else:
                    links.append((title, ""))
                    output.append(f"{ANCHOR}{label or title}{trail}{ANCHOR_END}")
            elif kind == 6:
                link = self._link(token[4], token[5], token[6])
                if link == "":
                    link = self._gap(start)
                output.append(text[start:at] if link is None else link)
            elif kind == 10:
                self._close(token)
            else:
                self.open.append(_Open(start, len(output), len(self.links), token[8]))
                output.append(token[0])
        output.append(text[at:])
        for opened in self.open:
            self._leave(opened)
        return "".join(output)

    def _link(self, written: str, label: str | None, trail: str) -> str | None:
        if label and "\n\n" in label and not self._hidden(written):
            return None
        if _STARTS_AS_ADDRESS.match(written):
            return None
        kind, target = read_target(written, self.language, label is not None)
        if kind == "hidden":
            return self._caption(written, (label or "")[1:], len(self.links)) + trail
        if kind == "invalid" and DROPPED in written:  # a template is part of the title
            return NOTHING + (label[1:] if label else written.strip()) + trail + NOTHING
        if kind == "invalid" or label == "|":
            return None
        if label is None or not label[1:].strip(DROPPED):
            anchor = written.strip().removeprefix(":")
            if "%" in anchor:
                anchor = unquote(anchor, errors="replace")
            anchor = anchor.replace("'", APOSTROPHE)  # no italics
        else:
            anchor = label[1:].replace("[", "&#91;")  # no external link
        if kind == "article" and target is not None:
            return self._mark(target, anchor + trail)
        return NOTHING + anchor + trail + NOTHING

    def _hidden(self, written: str) -> bool:
        return ":" in written and read_target(written, self.language, True)[0] == "hidden"

    def _mark(self, target: Target, anchor: str) -> str:
        if "\n" in anchor or BREAK in anchor:
            anchor = anchor.translate(_LINE_ENDS)
        visible = anchor.strip()
        if not visible:
            return anchor
        if self.language.link_prefix:
            anchor = self._letters_before() + anchor
            visible = anchor.strip()
        self.links.append(target)
        if len(visible) == len(anchor):
            return ANCHOR + anchor + ANCHOR_END
        before, _, after = anchor.partition(visible)
        return before + ANCHOR + visible + ANCHOR_END + after

    def _letters_before(self) -> str:
        """Take the letters away that stand directly before a link; return them."""
        if not self.output:
            return ""
        piece, belongs = self.output[-1], _before(self.language.link_prefix).match
        start = len(piece)
        while start and belongs(piece, start - 1):
            start -= 1
        self.output[-1] = piece[:start]
        return piece[start:]

    def _caption(self, written: str, label: str, first: int) -> str:
        """Return what is shown of a file: its caption, if captions are kept.

        Of the links from number `first` on, which are those in the label, the ones outside the caption go.
        """
        parts = cut_at_bars(label)
        index = self.parts.images.caption_of_file(parts) if is_file(written.strip()) else -1
        if index < 0 or not self.parts.keeps("captions") or len(self.open) > DEEPEST:
            del self.links[first:]
            return ""
        caption = parts[index].strip()
        start = first + sum(part.count(ANCHOR) for part in parts[:index])
        self.links[first:] = self.links[start : start + caption.count(ANCHOR)]
        return f"{BREAK}{caption}{BREAK}"

    def _gap(self, start: int) -> str:
        """What stands for a link that is not shown; nothing at the beginning of a line, which is that of a file."""
        return "" if self.text[start - 1 : start] == "\n" else DROPPED

    def _close(self, token: re.Match[str]) -> None:
        """Deal with closing brackets whose opening ones were not next to them: there are brackets between."""
        end = token.start()
        self._look(end)
        while self.open:
            opened = self.open.pop()
            if opened.start < (self.section if self._is_file(opened) else self.line):
                self._leave(opened)
                continue
            self._show(opened, f"]{token[9]}", token[10])
            return
        self.output.append(token[0])

    def _is_file(self, opened: _Open) -> bool:
        return opened.written is not None and self._hidden(opened.written)

    def _show(self, opened: _Open, closing: str, trail: str) -> None:
        output, index = self.output, opened.piece
        is_file = self._is_file(opened)
        if not is_file and not self._may_be_link(
            opened
        ):  # its pieces stay, and are not joined: time would be quadratic
            output.append(closing + trail)
            return
        pieces = output[index:]
        del output[index:]
        label = "".join(pieces[1:])
        if len(closing) > 2:  # the first of three belongs to a bracket in the label: [[a|[b]]]
            if label.count("[") > label.count("]"):
                label += "]"
            else:
                trail = "]" + trail
        if is_file:
            caption = self._caption(opened.written or "", label, opened.links)
            output.append((caption or self._gap(opened.start)) + trail)
            return
        link = self._link(opened.written or "", f"|{label}", trail)
        output.append(f"{pieces[0]}{label}]]{trail}" if link is None else link)

    def _may_be_link(self, opened: _Open) -> bool:
        """Whether brackets hold a title, which MediaWiki allows, and no other link."""
        return (
            opened.written is not None
            and len(self.links) == opened.links
            and read_target(opened.written, self.language, True)[0] != "invalid"
            and not _STARTS_AS_ADDRESS.match(opened.written)
        )

    def _leave(self, opened: _Open) -> None:
        """Deal with opening brackets that are not closed: text, but of a file the line goes up to a link."""
        if self._is_file(opened):
            index = opened.piece
            self.output[index] = ""
            if index + 1 < len(self.output) and ANCHOR not in self.output[index + 1]:
                _, line_end, after = self.output[index + 1].partition("\n")
                self.output[index + 1] = line_end + after

    def _look(self, end: int) -> None:
        """Find the last line end and heading before `end`; every character is looked at once."""
        self.line = max(self.line, self.text.rfind("\n", self.looked, end))
        self.section = max(self.section, self.text.rfind(HEADING, self.looked, end))
        self.looked = end


def read_target(written: str, language: WikiLanguage, labelled: bool) -> tuple[str, Target | None]:
    """Return "article" with its title and fragment, or without them "hidden" (files, categories, languages), "other" or
    "invalid": no title that MediaWiki allows."""
    if _UNUSUAL.search(written) is None:
        title = written.strip()
        return ("article", (title, "")) if 0 < len(title) < 64 and "/" not in title else _checked(title, "")
    decoded = unquote(written, errors="replace") if "%" in written else written
    if "&" in decoded:
        decoded = unicodedata.normalize("NFC", decode_entities(decoded))
    title, _, fragment = _IGNORED.sub("", decoded).replace("_", " ").partition("#")
    title, fragment = " ".join(title.split()), " ".join(fragment.split())
    bare = title.removeprefix(":").lstrip()
    if written.strip() == "#":  # a link to nowhere
        return "other", None
    name, colon, after = _prefix(bare)
    if colon and name == language.code:  # [[en:God]] of the English Wikipedia leads to its own page
        title = bare = after.strip()
        name, colon, _ = _prefix(bare)
    if not colon or _checked(bare, fragment)[0] == "invalid":
        return _checked(bare, fragment)
    if bare == title and name in language.hidden:
        return "hidden", None
    if name in language.namespaces or name in language.wikis:
        return ("other" if bare.partition(":")[2].strip() or name in language.wikis else "invalid"), None
    if name in language.languages:
        return ("other" if labelled or bare != title else "hidden"), None
    if is_file(bare):
        return ("hidden" if bare == title else "other"), None
    return "article", (bare, fragment)


def _prefix(title: str) -> tuple[str, str, str]:
    prefix, colon, after = title.partition(":")
    return prefix.strip().lower(), colon, after


def _checked(title: str, fragment: str) -> tuple[str, Target | None]:
    if (
        not (title or fragment)
        or _INVALID.search(title)
        or len(title.encode(errors="replace")) > LONGEST_TITLE
    ):
        return "invalid", None
    return "article", (title, fragment)
