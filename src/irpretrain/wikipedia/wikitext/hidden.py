"""First step: comments, templates and elements that are no prose go; what a few templates show takes their place.

One scan over the tokens that matter. Its rules are MediaWiki's preprocessor's: what opens last closes first, an element
such as <ref> ends at the first closing tag, an unclosed comment reaches to the end of the page.
https://www.mediawiki.org/wiki/Preprocessor_ABNF
"""

import re
from functools import cache
from html import unescape

from irpretrain.wikipedia.wikitext.formulas import chemistry_in_a_line, in_a_line
from irpretrain.wikipedia.wikitext.images import caption_in_gallery
from irpretrain.wikipedia.wikitext.marks import BAR, BREAK, DROPPED, EQUAL, FRACTION, NOTHING
from irpretrain.wikipedia.wikitext.prose import LONGEST_START, reads_as_prose, stands_in_sentence
from irpretrain.wikipedia.wikitext.rendering import Parts
from irpretrain.wikipedia.wikitext.templates import Templates

DROPPED_ELEMENTS = (
    "ref|references|gallery|math|chem|ce|timeline|score|imagemap|templatestyles|templatedata|syntaxhighlight|source|graph|"
    "mapframe|maplink|hiero|inputbox|includeonly|indicator|categorytree|style|script|table"
)
LITERAL_ELEMENTS = "nowiki|pre"
DEEPEST = 40
"""Templates within each other that are still shown; MediaWiki's own limit. It bounds the cost of nested ones."""

_TOKEN = re.compile(
    r"\{\{([^{}<|]*+)(\|[^{}<]*+)?\}\}"  # a template without anything in it: most of them
    r"|(\{\{++)|(\}\}++)|<(!--)"
    rf"|<((?i:{DROPPED_ELEMENTS}|{LITERAL_ELEMENTS}))(?=[\s/>])[^<>]*+>"
)
_SIMPLE, _SIMPLE_ARGUMENTS, _OPEN, _CLOSE, _COMMENT, _ELEMENT = range(1, 7)
_FORMULAS = {"math": in_a_line, "chem": chemistry_in_a_line, "ce": chemistry_in_a_line}
_COUNTED = frozenset({*_FORMULAS, "gallery", "table"})
_LITERAL_NAMES = LITERAL_ELEMENTS.split("|")
_OWN_LINE = frozenset(" \t\n{*#:;=|![<")
"""What may follow a template at the beginning of a line that shows no text in that line, such as an infobox."""
_BLANKS = re.compile(r"[ \t]*+")
_OPENING_BRACKETS = ("(", "[", "（")
_REFERENCE_OR_END = re.compile(r"[)\]）]|<ref[\s>]", re.IGNORECASE)
_FRACTION = re.compile("[0-9]+/[0-9]")
_MARKUP = frozenset(f"'>]{NOTHING}")
_NOWIKI = re.compile(r"</?nowiki\s*/?>", re.IGNORECASE)
_LITERAL = str.maketrans({character: f"&#{ord(character)};" for character in "[]{}|<>'=_"})
_UNCUT = str.maketrans({"|": BAR, "=": EQUAL})


def remove_hidden(text: str, templates: Templates, parts: Parts | None = None) -> str:
    """Return `text` without comments, templates (but see `templates`), arguments and elements that are no prose.

    Formulas are shown that can be written in a line, and captions of galleries if `parts` keeps them.
    What <nowiki> and <pre> protect is written as character references, so that no later step takes it for markup.
    """
    return _Scan(text, templates, parts or Parts()).run()


class _Scan:
    """The scan over one page. `shown` is the text so far; templates that are still open know where they began in it."""

    def __init__(self, text: str, templates: Templates, parts: Parts) -> None:
        self.text, self.templates, self.parts = text, templates, parts
        self.shown: list[str] = []
        # Of each: braces that are not closed yet, index of `shown` that is kept for them.
        self.open: list[list[int]] = []
        self.unclosed: set[str] = set()  # elements without a closing tag from here on

    def run(self) -> str:
        text, shown, pattern_of, search = self.text, self.shown, self.templates.pattern, _TOKEN.search
        at = 0
        while token := search(text, at):
            start = token.start()
            if start > at:
                shown.append(text[at:start])
            at = token.end()
            kind = token.lastindex
            if kind in (_SIMPLE, _SIMPLE_ARGUMENTS):
                pattern, arguments = pattern_of(token[1]), token[2] or ""
                result = None
                if (pattern or (arguments and pattern is None)) and len(self.open) < DEEPEST:
                    result = self._call(pattern, token[1], arguments[1:], at)
                if result is not None:
                    self._add(result)
                elif shown and shown[-1][-1:] == "\n":
                    at = self._drop(at)
                else:
                    shown.append(DROPPED)
            elif kind == _OPEN:
                self.open.append([at - start, len(shown)])
                shown.append("")
            elif kind == _CLOSE:
                at = self._close(at - start, at)
            elif kind == _COMMENT:
                at = self._comment(at)
            else:
                at = self._element(token, start, at)
        shown.append(text[at:])
        for braces, index in self.open:
            shown[index] = "{" * braces
        return "".join(shown).replace(BAR, "|").replace(EQUAL, "=")

    def _before(self) -> str:
        """Return the character that is shown last; "" at the beginning and behind opening braces."""
        return self.shown[-1][-1:] if self.shown else ""

    def _add(self, result: str) -> None:
        """Show what a template shows."""
        result = self._apart(result)
        if "'" in result and "'" in result[:1] + result[-1:]:
            result = NOTHING + result + NOTHING
        self.shown.append(result.translate(_UNCUT) if self.open else result)

    def _apart(self, result: str) -> str:
        """Keep a fraction apart from a digit before it; markup may be between."""
        if "/" in result and _FRACTION.match(result):
            before = self._before()
            return (" " if before.isdecimal() else FRACTION if before in _MARKUP else "") + result
        return result

    def _drop(self, at: int) -> int:
        """Leave out what ends at `at`; return where to go on."""
        if self._before() != "\n" or self.text[at : at + 1] not in _OWN_LINE:
            self.shown.append(DROPPED)
            return at
        return self._after_blanks(at)  # else the line would begin with a space: preformatted text

    def _after_blanks(self, at: int) -> int:
        blanks = _BLANKS.match(self.text, at)
        return blanks.end() if blanks else at

    def _comment(self, at: int) -> int:
        """Return where to go on behind a comment; one that has lines of its own goes with them."""
        end = self.text.find("-->", at)
        if end < 0:
            return len(self.text)
        at = end + 3
        if self.shown and self.shown[-1].rstrip(" \t")[-1:] == "\n":
            after = self._after_blanks(at)
            if self.text[after : after + 1] == "\n":
                self.shown[-1] = self.shown[-1].rstrip(" \t")
                return after + 1
        return at

    def _close(self, braces: int, at: int) -> int:
        """Deal with closing braces that end at `at`; return where to go on."""
        shown = self.shown
        while braces >= 2 and self.open:
            opened = self.open[-1]
            index = opened[1]
            used = 3 if braces >= 3 and opened[0] >= 3 else 2
            deep = len(self.open) + opened[0] // 2 > DEEPEST
            result = None if used == 3 or deep else self._show(index + 1, at)
            del shown[index:]
            braces -= used
            opened[0] -= used
            if opened[0]:
                shown.append("{" if opened[0] == 1 else "")
            if opened[0] < 2:
                self.open.pop()
            if result is None:
                at = self._drop(at)
            else:
                self._add(result)
        if braces:
            shown.append("}" * braces)
        return at

    def _show(self, first: int, at: int) -> str | None:
        """Return what a template shows whose call ends at `at` and begins at an index of `shown`; None: nothing."""
        name = self.shown[first].partition("|")[0] if first < len(self.shown) else ""
        pattern = self.templates.pattern(name)
        if pattern == "":
            return None
        arguments = "".join(self.shown[first:]).partition("|")[2]
        return self._call(pattern, name, arguments, at, first - 1)

    def _call(
        self, pattern: str | None, name: str, arguments: str, at: int, index: int | None = None
    ) -> str | None:
        """Return what a call shows that ends at `at` and begins at an index of `shown`, at its end if None.

        None: nothing.
        """
        if pattern:
            return self.templates.show(pattern, name, arguments) or None
        words = reads_as_prose(arguments) if arguments else ""
        if not words:
            return None
        before = self._line(len(self.shown) if index is None else index)
        return words if stands_in_sentence(before, words, self.text, at) else None

    def _line(self, index: int) -> str:
        """Return the last characters that are shown before an index of `shown`, of their line at least as many as the
        place of a call is judged by."""
        pieces: list[str] = []
        length = 0
        while index and length <= LONGEST_START and not (pieces and "\n" in pieces[-1]):
            index -= 1
            pieces.append(self.shown[index])
            length += len(pieces[-1])
        return "".join(reversed(pieces))

    def _element(self, tag: re.Match[str], start: int, at: int) -> int:
        """Deal with an element whose opening tag ends at `at`; return where to go on."""
        name = tag[_ELEMENT].lower()
        if tag[0].endswith("/>"):
            if name in _LITERAL_NAMES:
                self.shown.append(NOTHING)
                return at
            return self._drop_element(name, at)
        if name not in self.unclosed:
            inner, outer = _end_of_table(self.text, at) if name == "table" else _end(self.text, name, at)
            if outer >= 0:
                if name in _LITERAL_NAMES:
                    self.shown.append(_literal(name, self.text[at:inner]))
                    return outer
                if name in _COUNTED:
                    return self._part(name, at, inner, outer)
                return self._drop_element(name, outer)
            self.unclosed.add(name)
        self.shown.append(self.text[start:at])
        return at

    def _part(self, name: str, at: int, inner: int, outer: int) -> int:
        """Deal with a formula, gallery or table whose content is between `at` and `inner`; return `outer` or beyond."""
        content = self.text[at:inner]
        if name in _FORMULAS:
            formula = _FORMULAS[name](unescape(content))
            self.parts.count("formulas", bool(formula))
            if formula := formula or self.parts.rendering.formula_word:
                self.shown.append(_literal("nowiki", self._apart(formula)))
                return outer
        elif name == "table":
            self.parts.count("tables", False)
        else:
            if self.parts.keeps("galleries"):
                lines = remove_hidden(content, self.templates, self.parts).split("\n")
                captions = (caption_in_gallery(line, self.parts.images) for line in lines)
                self._add("".join(f"\n\n{caption}" for caption in captions if caption) + "\n\n")
                return outer
        return self._drop_element(name, outer)

    def _drop_element(self, name: str, at: int) -> int:
        if name != "ref":
            return self._drop(at)
        # A reference is a mark in the line, not a gap: what stands around it stays, and so does its line. What stands
        # alone in brackets is a gap.
        shown = self.shown
        if self._before() in _OPENING_BRACKETS and _REFERENCE_OR_END.match(self.text, at):
            return self._drop(at)
        if shown and shown[-1] and shown[-1][-1] in "'\n]":
            shown.append(NOTHING)
        return at


@cache
def _closing_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.IGNORECASE)


def _end(text: str, name: str, at: int) -> tuple[int, int]:
    """Where the content of an element ends and where its closing tag does; (-1, -1) if it has none."""
    tag = _closing_tag(name).search(text, at)
    return tag.span() if tag else (-1, -1)


_TABLE_TAG = re.compile(r"<(/?)table(?=[\s/>])[^<>]*+>", re.IGNORECASE)


def _end_of_table(text: str, at: int) -> tuple[int, int]:
    depth = 1
    for tag in _TABLE_TAG.finditer(text, at):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.span()
    return -1, -1


def _literal(name: str, content: str) -> str:
    """Protect text from the steps to come: its brackets and quotes, and the beginnings of its lines."""
    if name == "nowiki":
        return f"{NOTHING}{content.translate(_LITERAL)}{NOTHING}".replace("\n", "\n" + NOTHING)
    shown = _NOWIKI.sub("", content).translate(_LITERAL)
    return f"{BREAK}{shown}{BREAK}".replace("\n", BREAK)
