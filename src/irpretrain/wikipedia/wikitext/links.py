"""Links: which of them a reader sees, what they point at, where their anchors are."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from irpretrain.wikipedia.titles import is_file
from irpretrain.wikipedia.wikitext.dates import Calendar
from irpretrain.wikipedia.wikitext.images import PageRendering, cut_at_bars
from irpretrain.wikipedia.wikitext.inline import decode_entities
from irpretrain.wikipedia.wikitext.marks import (
    ANCHOR,
    ANCHOR_END,
    APOSTROPHE,
    BREAK,
    DROPPED,
    HEADING,
    NOTHING,
)

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
_RARE_CHARACTERS = r"&_%#:<>{}~/\[\]|\x00-\x1f\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f\u3000"
_UNUSUAL = re.compile(r"[&_%#<>{}~\x00-\x1f\u200e\u200f\u202a-\u202e]|[^\S ]|\s\s|^[.\s]+$")
_IGNORED = re.compile(r"[\u200e\u200f\u202a-\u202e]")
# What no title holds (MediaWikiTitleCodec).
_INVALID = re.compile(
    r"[<>{}|\[\]\x00-\x1f\x7f\ufffd%&~.](?:(?<![%&~.])|(?<=%)[0-9a-fA-F]{2}|(?<=~)~~|(?<![^/]\.)(?<=\.)\.?(?:/|$)"
    r"|(?<=&)(?:[a-zA-Z0-9\x80-\uffff]+|#[0-9]+|#x[0-9a-fA-F]+);)"
)
_LINE_ENDS = str.maketrans({"\n": " ", BREAK: " "})


def mark_links(text: str, language: WikiLanguage, page: PageRendering) -> tuple[str, list[Target]]:
    """Return `text` with marks around each link's anchor, all other links reduced to what is visible, and the targets.

    Letters directly behind a link belong to its anchor, as on the screen; in some languages letters before it do too.
    A link within a link is the link; the outer one is text. So is a link whose title MediaWiki does not allow, a link
    over a blank line, and a caption over a heading.
    """
    scan = _Scan(text, language, page)
    return _show_external(scan.run(), language.templates.calendar), scan.links


def _show_external(text: str, calendar: Calendar) -> str:
    """Return `text` with the labels of external links alone; one without a label shows its number, as on the screen."""
    output: list[str] = []
    copied_to = unlabelled_count = 0
    link = _EXTERNAL.search(text)
    while link:
        if label := _LABEL.match(text, link.end()):
            shown_label = label[1].lstrip()
            if not shown_label:
                unlabelled_count += 1
                shown_label = f"[{calendar.number({'1': str(unlabelled_count)})}]"
            output += [text[copied_to : link.start()], NOTHING, shown_label, NOTHING]
            copied_to = search_from = label.end()
        else:  # no other link of this line ends either
            line_end = text.find("\n", link.end())
            search_from = line_end if line_end >= 0 else len(text)
        link = _EXTERNAL.search(text, search_from)
    return "".join([*output, text[copied_to:]])


@cache
def _patterns(trail: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    # An apostrophe of the trail is none of bold or italics.
    letters = trail.replace("'", "")
    trail_pattern = (
        f"((?>(?:[{letters}]++|'(?!'))*))" if letters != trail else f"([{trail}]*+)" if trail else "()"
    )
    target = rf"[^\[\]|\n\t{HEADING}{BREAK}]*+"
    # What begins with two characters that are no set is searched for in half the time.
    opening = re.compile(
        rf"\[\[(?:((?![ .])[^{_RARE_CHARACTERS}]{{1,63}}+)(?<! )"
        rf"(?:\|((?!\s)[^\[\]\x00-\x1f]++)(?<!\s))?\]\]{trail_pattern}"
        rf"|({target})(\|[^\[\]{HEADING}]*+)?\]\]{trail_pattern}"  # a link with no bracket in it
        rf"|(?:({target})\|)?)"
    )
    return opening, re.compile(rf"(\]\](?>(?:\](?!\]))?)){trail_pattern}")


@cache
def _prefix_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(rf"[{letters}]|\Z")


class _OpenBrackets(NamedTuple):
    """Brackets that are not closed yet."""

    piece_index: int  # of the piece of `output` that holds them
    link_count: int  # number of links before them
    target: str | None  # as written, if there is one before a bar
    is_file: bool  # whether the target is a file that is not shown


class _Scan:
    def __init__(self, text: str, language: WikiLanguage, page: PageRendering) -> None:
        self.text, self.language, self.page = text, language, page
        self.opening, self.closing = _patterns(language.link_trail)
        self.links: list[Target] = []
        self.output: list[str] = []
        self.open_brackets: list[_OpenBrackets] = []
        # How many of `open_brackets` stand before the last line end, the last heading.
        self.open_before_line = self.open_before_heading = 0

    def run(self) -> str:
        """Texts and links as they are written come from one split, so that only other brackets cost a step each."""
        split_text, width = self.opening.split(self.text), self.opening.groups + 1
        texts, titles, labels, trails = (split_text[group::width] for group in range(4))
        first_link = 0
        for link_number in [*self._special(texts, titles, labels), len(titles)]:
            while first_link < link_number:
                # The next text may close what is open.
                end = first_link + 1 if self.open_brackets else link_number
                self._add_text(texts[first_link])
                links = zip(
                    *(titles[first_link:end], labels[first_link:end], trails[first_link:end]),
                    [*texts[first_link + 1 : end], ""],
                    strict=True,
                )
                marked_links = [
                    f"{ANCHOR}{label or title}{trail}{ANCHOR_END}{text}"
                    for title, label, trail, text in links
                ]
                self.output.append("".join(marked_links))
                self.links += zip(titles[first_link:end], repeat(""))
                first_link = end
            self._add_text(texts[link_number])
            if link_number < len(titles):
                self._add_token(*split_text[link_number * width + 1 : (link_number + 1) * width])
            first_link = link_number + 1
        for open_link in self.open_brackets:
            self._keep_unclosed(open_link)
        return "".join(self.output)

    def _add_text(self, text: str) -> None:
        position = 0
        while self.open_brackets:
            closing = self.closing.search(text, position)
            text_between = text[position : closing.start() if closing else None]
            if text_between:
                self.output.append(text_between)
                self._note_line_ends(text_between)
            if closing is None:
                return
            self._close(*closing.groups())
            position = closing.end()
        if position < len(text):
            self.output.append(text[position:])

    def _special(self, texts: list[str], titles: list[str | None], labels: list[str | None]) -> list[int]:
        """Return the numbers of the tokens that are more than a link as it is written."""
        prefix = self.language.link_prefix
        # The prefix may also be nothing, behind another token.
        ends_with_prefix = _prefix_pattern(prefix).match if prefix else None
        return [
            link_number
            for link_number, title in enumerate(titles)
            if title is None
            or "  " in title
            or ("''" in title and labels[link_number] is None)
            or (ends_with_prefix and ends_with_prefix(texts[link_number][-1:]))
        ]

    def _add_token(self, *groups: str | None) -> None:
        title, label, trail_of_title, written_target, written_label, trail, target = groups
        if title is not None:
            written_target, written_label, trail = title, label and f"|{label}", trail_of_title
        if written_target is not None:
            link = self._link(written_target, written_label, trail or "")
            if link == "":
                link = self._placeholder()
            self.output.append(f"[[{written_target}{written_label or ''}]]{trail}" if link is None else link)
            if written_label:
                self._note_line_ends(written_label)
        else:
            is_file = target is not None and self._hidden(target)
            self.open_brackets.append(_OpenBrackets(len(self.output), len(self.links), target, is_file))
            self.output.append("[[" if target is None else f"[[{target}|")

    def _link(self, written_target: str, label: str | None, trail: str) -> str | None:
        if label and "\n\n" in label and not self._hidden(written_target):
            return None
        if _STARTS_AS_ADDRESS.match(written_target):
            return None
        target_kind, target = read_target(written_target, self.language, label is not None)
        if target_kind == "hidden":
            return self._caption(written_target, (label or "")[1:], len(self.links)) + trail
        if target_kind == "invalid" and DROPPED in written_target:  # a template is part of the title
            return NOTHING + (label[1:] if label else written_target.strip()) + trail + NOTHING
        if target_kind == "invalid" or label == "|":
            return None
        if label is None or not label[1:].strip(DROPPED):
            anchor = written_target.lstrip().removeprefix(":")  # a blank at its end stands before the trail
            if "%" in anchor:
                anchor = unquote(anchor, errors="replace")
            anchor = anchor.replace("'", APOSTROPHE)  # no italics
        else:
            anchor = label[1:].replace("[", "&#91;")  # no external link
        if target_kind == "article" and target is not None:
            return self._mark(target, anchor + trail)
        return NOTHING + anchor + trail + NOTHING

    def _hidden(self, written_target: str) -> bool:
        return ":" in written_target and read_target(written_target, self.language, True)[0] == "hidden"

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
        blanks_before, _, blanks_after = anchor.partition(visible)
        return blanks_before + ANCHOR + visible + ANCHOR_END + blanks_after

    def _letters_before(self) -> str:
        if not self.output:
            return ""
        piece, is_prefix_letter = self.output[-1], _prefix_pattern(self.language.link_prefix).match
        start = len(piece)
        while start and is_prefix_letter(piece, start - 1):
            start -= 1
        self.output[-1] = piece[:start]
        return piece[start:]

    def _caption(self, written_target: str, label: str, first_link: int) -> str:
        """Return what is shown of a file: its caption, if captions are kept."""
        # Of the links from number `first_link` on, which are those in the label, the ones outside the caption go.
        options = cut_at_bars(label)
        index = self.page.images.caption_of_file(options) if is_file(written_target.strip()) else -1
        if index < 0 or not self.page.keeps("captions") or len(self.open_brackets) > DEEPEST:
            del self.links[first_link:]
            return ""
        caption = options[index].strip()
        start = first_link + sum(option.count(ANCHOR) for option in options[:index])
        self.links[first_link:] = self.links[start : start + caption.count(ANCHOR)]
        return f"{BREAK}{caption}{BREAK}"

    def _placeholder(self) -> str:
        """What stands for a link that is not shown; nothing at the beginning of a line, which is that of a file."""
        return "" if self.output and self.output[-1][-1:] == "\n" else DROPPED

    def _close(self, closing: str, trail: str) -> None:
        """Deal with closing brackets whose opening ones were not next to them: there are brackets between."""
        while self.open_brackets:
            open_link, outer_count = self.open_brackets.pop(), len(self.open_brackets)
            is_broken = outer_count < (
                self.open_before_heading if open_link.is_file else self.open_before_line
            )
            self.open_before_line = min(self.open_before_line, outer_count)
            self.open_before_heading = min(self.open_before_heading, outer_count)
            if is_broken:
                self._keep_unclosed(open_link)
                continue
            self._show(open_link, closing, trail)
            return
        self.output.append(closing + trail)

    def _show(self, open_link: _OpenBrackets, closing: str, trail: str) -> None:
        output, index = self.output, open_link.piece_index
        if not open_link.is_file and not self._may_be_link(open_link):
            # Its pieces stay, and are not joined: time would be quadratic.
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
        if open_link.is_file:
            caption = self._caption(open_link.target or "", label, open_link.link_count)
            output.append((caption or self._placeholder()) + trail)
            return
        link = self._link(open_link.target or "", f"|{label}", trail)
        output.append(f"{pieces[0]}{label}]]{trail}" if link is None else link)

    def _may_be_link(self, open_link: _OpenBrackets) -> bool:
        """Whether brackets hold a title, which MediaWiki allows, and no other link."""
        return (
            open_link.target is not None
            and len(self.links) == open_link.link_count
            and read_target(open_link.target, self.language, True)[0] != "invalid"
            and not _STARTS_AS_ADDRESS.match(open_link.target)
        )

    def _keep_unclosed(self, open_link: _OpenBrackets) -> None:
        """Deal with opening brackets that are not closed: text, but of a file the line goes up to a link."""
        if open_link.is_file:
            index = open_link.piece_index
            self.output[index] = ""
            if index + 1 < len(self.output) and ANCHOR not in self.output[index + 1]:
                _, line_end, next_lines = self.output[index + 1].partition("\n")
                self.output[index + 1] = line_end + next_lines

    def _note_line_ends(self, text: str) -> None:
        if "\n" in text:
            self.open_before_line = len(self.open_brackets)
        if HEADING in text:
            self.open_before_heading = len(self.open_brackets)


def read_target(written_target: str, language: WikiLanguage, labelled: bool) -> tuple[str, Target | None]:
    """Return "article" with its title and fragment, or without them "hidden" (files, categories, languages), "other" or
    "invalid": no title that MediaWiki allows."""
    if ":" not in written_target and _UNUSUAL.search(written_target) is None:
        title = written_target.strip()
        is_plain_title = 0 < len(title) < 64 and "/" not in title
        return ("article", (title, "")) if is_plain_title else _article_target(title, "")
    decoded = unquote(written_target, errors="replace") if "%" in written_target else written_target
    if "&" in decoded:
        decoded = unicodedata.normalize("NFC", decode_entities(decoded))
    title, _, fragment = _IGNORED.sub("", decoded).replace("_", " ").partition("#")
    title, fragment = " ".join(title.split()), " ".join(fragment.split())
    title_without_colon = title.removeprefix(":").lstrip()
    if written_target.strip() == "#":  # a link to nowhere
        return "other", None
    name, colon, title_after_prefix = _prefix(title_without_colon)
    if colon and name == language.code:  # [[en:God]] of the English Wikipedia leads to its own page
        title = title_without_colon = title_after_prefix.strip()
        name, colon, _ = _prefix(title_without_colon)
    if not colon or _article_target(title_without_colon, fragment)[0] == "invalid":
        return _article_target(title_without_colon, fragment)
    if title_without_colon == title and name in language.hidden:
        return "hidden", None
    if name in language.namespaces or name in language.wikis:
        return (
            "other" if title_without_colon.partition(":")[2].strip() or name in language.wikis else "invalid"
        ), None
    if name in language.languages:
        return ("other" if labelled or title_without_colon != title else "hidden"), None
    if is_file(title_without_colon):
        return ("hidden" if title_without_colon == title else "other"), None
    return "article", (title_without_colon, fragment)


def _prefix(title: str) -> tuple[str, str, str]:
    prefix, colon, after = title.partition(":")
    return prefix.strip().lower(), colon, after


def _article_target(title: str, fragment: str) -> tuple[str, Target | None]:
    is_too_long = len(title.encode(errors="replace")) > LONGEST_TITLE
    is_valid = (title or fragment) and not is_too_long and _INVALID.search(title) is None
    return ("article", (title, fragment)) if is_valid else ("invalid", None)
