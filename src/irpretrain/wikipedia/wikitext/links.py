"""Links: which of them a reader sees, what they point at, where their anchors are."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from irpretrain.wikipedia.titles import is_file
from irpretrain.wikipedia.wikitext.images import cut_at_bars
from irpretrain.wikipedia.wikitext.marks import ANCHOR, ANCHOR_END, BREAK, DROPPED, HEADING, NOTHING
from irpretrain.wikipedia.wikitext.rendering import Parts

if TYPE_CHECKING:
    from irpretrain.wikipedia.languages import WikiLanguage

Target = tuple[str, str]
"""Title and fragment."""

LONGEST_TITLE = 255
"""Bytes of UTF-8; MediaWiki has no longer titles."""
_PROTOCOLS = (
    r"(?:(?:https?|ftps?|ircs?|gopher|telnet|nntp|svn|git|worldwind):)?//|mailto:|news:|tel:|geo:|urn:|sip:"
)
_ADDRESS = re.compile(rf"(?:{_PROTOCOLS})[^\s\[\]|]*+")
_LABEL = r"(?:[^\[\]\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\])*+"
_UNUSUAL = re.compile(r"[&_%#:<>{}\x00-\x1f\u200e\u200f\u202a-\u202e]|\s\s")
_IGNORED = re.compile(r"[\u200e\u200f\u202a-\u202e]")
_INVALID = re.compile(r"[<>{}|\[\]\x00-\x1f]")
_LINE_ENDS = str.maketrans({"\n": " ", BREAK: " "})
_DISAMBIGUATOR = re.compile(r" *(?:\([^()]*\)|（[^（）]*）)$")


def mark_links(text: str, language: WikiLanguage, parts: Parts) -> tuple[str, list[Target]]:
    """Return `text` with marks around each link's anchor, all other links reduced to what is visible, and the targets.

    Letters that follow a link directly belong to its anchor, as on the screen. A link within a link is the link; the
    outer one is text. A link may not go over a blank line, a caption not over a heading; else the brackets are text.
    """
    scan = _Scan(text, language, parts)
    return scan.run(), scan.links


@cache
def _pattern(trail: str) -> re.Pattern[str]:
    after = f"([{trail}]*+)" if trail else "()"
    return re.compile(
        rf"\[\[([^\[\]|\n{HEADING}{BREAK}]*+)(\|[^\[\]{HEADING}]*+)?\]\]{after}"  # a link with no bracket in it
        rf"|(\[\[)(?:([^\[\]|\n{HEADING}{BREAK}]*+)\|)?"
        rf"|(\]\](?:\](?!\]))?+){after}"
        rf"|\[(?:{_PROTOCOLS})[^\s\[\]]*+({_LABEL})\]"
    )


class _Open(NamedTuple):
    """Brackets that are not closed yet.

    Attributes:
        start: where they stand in the text.
        place: in `shown` that is kept for them.
        links: number of links before them.
        written: the target, if there is one before a bar.
    """

    start: int
    place: int
    links: int
    written: str | None


class _Scan:
    """The scan over one page."""

    def __init__(self, text: str, language: WikiLanguage, parts: Parts) -> None:
        self.text, self.language, self.parts = text, language, parts
        self.links: list[Target] = []
        self.shown: list[str] = []
        self.open: list[_Open] = []
        self.line, self.section, self.looked = -1, -1, 0  # last line end and heading before `looked`

    def run(self) -> str:
        text, shown = self.text, self.shown
        at = 0
        for token in _pattern(self.language.link_trail).finditer(text):
            start = token.start()
            if start > at:
                shown.append(text[at:start])
            at = token.end()
            kind = token.lastindex
            if kind == 3:
                link = self._link(token[1], token[2], token[3])
                if link == "":
                    link = self._gap(start)
                shown.append(text[start:at] if link is None else link)
            elif kind == 8:
                shown.append(self._label(token[8]))
            elif kind == 7:
                self._close(token)
            else:
                self.open.append(_Open(start, len(shown), len(self.links), token[5]))
                shown.append(token[0])
        shown.append(text[at:])
        for opened in self.open:
            self._leave(opened)
        return "".join(shown)

    def _link(self, written: str, label: str | None, trail: str) -> str | None:
        """What a link shows, with what follows it; None where it is none."""
        plain = label is None or (len(label) > 1 and label[1] != DROPPED and "\n" not in label)
        if plain and _UNUSUAL.search(written) is None and "/" not in written:
            title = written.strip()  # most links: nothing to decode, no prefix
            if 0 < len(title) < 64:
                return self._mark((title, ""), (title if label is None else label[1:]) + trail)
        if label and "\n\n" in label and not self._hidden(written):
            return None
        if "/" in written and (address := _ADDRESS.match(written)):  # an external link in brackets
            return f"[{self._label(written[address.end() :] or (label or '')[1:])}]" + trail
        if label is None:
            anchor = written.strip().removeprefix(":")
            if "%" in anchor:
                anchor = unquote(anchor, errors="replace")
        elif not label[1:].strip(DROPPED) and not self._hidden(written):
            anchor = _pipe_trick(written)
        else:
            anchor = label[1:]
        kind, target = read_target(written, self.language, label is not None)
        if kind == "hidden":
            return self._caption(written, (label or "")[1:], len(self.links)) + trail
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
        self.links.append(target)
        if len(visible) == len(anchor):
            return ANCHOR + anchor + ANCHOR_END
        before, _, after = anchor.partition(visible)
        return before + ANCHOR + visible + ANCHOR_END + after

    def _label(self, label: str) -> str:
        """The label of an external link; there may be links in it."""
        label = label.lstrip(" \t")
        if not label:
            return DROPPED
        if "[[" in label:
            inner = _Scan(label, self.language, self.parts)
            label = inner.run()
            self.links.extend(inner.links)
        return NOTHING + label + NOTHING

    def _caption(self, written: str, label: str, first: int) -> str:
        """Return what is shown of a file: its caption, if captions are kept.

        Of the links from number `first` on, which are those in the label, the ones outside the caption go.
        """
        parts = cut_at_bars(label)
        place = self.parts.images.caption_of_file(parts) if is_file(written.strip()) else -1
        if place < 0 or not self.parts.keeps("captions"):
            del self.links[first:]
            return ""
        caption = parts[place].strip()
        start = first + sum(part.count(ANCHOR) for part in parts[:place])
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
            self._show(opened, token[6], token[7])
            return
        self.shown.append(token[0])

    def _is_file(self, opened: _Open) -> bool:
        return opened.written is not None and self._hidden(opened.written)

    def _show(self, opened: _Open, closing: str, trail: str) -> None:
        shown, index = self.shown, opened.place
        if len(closing) > 2:  # the first of three belongs to a bracket in the label: [[a|[b]]]
            label = "".join(shown[index + 1 :])
            if label.count("[") > label.count("]"):
                shown.append("]")
            else:
                trail = "]" + trail
        if self._is_file(opened):
            caption = self._caption(opened.written or "", "".join(shown[index + 1 :]), opened.links)
            del shown[index:]
            shown.append((caption or self._gap(opened.start)) + trail)
            return
        if opened.written is None:
            shown.append("]]" + trail)
            return
        shown[index] = ""
        if len(self.links) == opened.links:
            label = "".join(shown[index:])
            del shown[index:]
            link = self._link(opened.written, "|" + label, trail)
            shown.append(label + trail if link is None else link)
        else:
            shown.append(trail)

    def _leave(self, opened: _Open) -> None:
        """Deal with opening brackets that are not closed: text, but of a file the line goes up to a link."""
        if self._is_file(opened):
            index = opened.place
            self.shown[index] = ""
            if index + 1 < len(self.shown) and ANCHOR not in self.shown[index + 1]:
                _, line_end, after = self.shown[index + 1].partition("\n")
                self.shown[index + 1] = line_end + after

    def _look(self, end: int) -> None:
        """Find the last line end and heading before `end`; every character is looked at once."""
        self.line = max(self.line, self.text.rfind("\n", self.looked, end))
        self.section = max(self.section, self.text.rfind(HEADING, self.looked, end))
        self.looked = end


def read_target(written: str, language: WikiLanguage, labelled: bool) -> tuple[str, Target | None]:
    """Return "article" with its title and fragment, "hidden" (files, categories, languages) or "other", without."""
    if _UNUSUAL.search(written) is None:
        title = written.strip()
        return ("article", (title, "")) if 0 < len(title) < 64 else _checked(title, "")
    decoded = html.unescape(written) if "&" in written else written
    if "%" in decoded:
        decoded = unquote(decoded, errors="replace")
    title, _, fragment = _IGNORED.sub("", decoded).replace("_", " ").partition("#")
    title, fragment = " ".join(title.split()), " ".join(fragment.split())
    bare = title.removeprefix(":").lstrip()
    name, colon, after = _prefix(bare)
    if colon and name == language.code:  # [[en:God]] of the English Wikipedia leads to its own page
        title = bare = after.strip()
        name, colon, _ = _prefix(bare)
    if colon:
        if bare == title and name in language.hidden:
            return "hidden", None
        if name in language.namespaces or name in language.wikis:
            return "other", None
        if name in language.languages:
            return ("other" if labelled or bare != title else "hidden"), None
        if is_file(bare):
            return ("hidden" if bare == title else "other"), None
    return _checked(bare, fragment)


def _prefix(title: str) -> tuple[str, str, str]:
    prefix, colon, after = title.partition(":")
    return prefix.strip().lower(), colon, after


def _checked(title: str, fragment: str) -> tuple[str, Target | None]:
    if (
        not (title or fragment)
        or _INVALID.search(title)
        or len(title.encode(errors="replace")) > LONGEST_TITLE
    ):
        return "other", None
    return "article", (title, fragment)


def _pipe_trick(written: str) -> str:
    """What `[[Namespace:Name (kind)|]]` shows; MediaWiki writes it out when a page is saved, mostly."""
    name = written.strip().removeprefix(":")
    name = name.partition(":")[2].strip() or name if ":" in name else name
    short = _DISAMBIGUATOR.sub("", name)
    return short if short != name else name.partition(", ")[0]
