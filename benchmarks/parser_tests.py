"""MediaWiki's own parser tests, to the letter: what our parser shows against the text of the expected HTML.

    python benchmarks/parser_tests.py FOLDER

FOLDER holds the files `tests/parser/*.txt` of MediaWiki or Parsoid. Plain tests count: no options but a language or a
title, no templates, signatures, files, footnotes or extensions, whose text depends on more than the wikitext. Tables
are left out on both sides, white space is not compared. Every test that differs is printed, with its reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from irpretrain.library.documents import parse_wikitext

DIFFERENCES = {
    "files are left out, with what MediaWiki shows instead of a missing one": (
        "Entities in file name and attributes",
        "Redirected image",
        "Image link to nonexistent file (T3850 - good)",
        "Fuzz testing: image with bogus manual thumbnail",
        "Special characters in embedded file links (T29679)",
    ),
    "of a file's link that is not closed the line is left out": ("Broken image caption with link",),
    "tags of extensions that are not closed are left out": (
        "Broken image links with HTML captions (T41700)",
        "<nowiki> and <pre> preference (first one wins)",
    ),
    "the wiki of the tests has other tags and prefixes than Wikipedia": (
        "Non-word characters are valid in extension tags (T19663)",
        "aside tag in extension HTML is not p-wrapped (T278565)",
        '"Extra" interlanguage links (T34189 / gerrit 111390)',
        "Handle interwiki links pointing to the current wiki as plain wiki links (T47209)",
        "Looks like an interlanguage link, but is actually a local interwiki",
    ),
    "addresses are shown as they are written": (
        "External links: IDN ignored character reference in hostname; strip it right off",
        "Brackets in urls",
        "Handling of &#x0A; in URLs",
        "unclosed internal link XSS (T137264)",
    ),
    "Python's HTML parser drops noncharacters": ("Illegal character references (T106578, T113194)",),
    "numbers of links are shown in European digits": ("T17196: localised external link numbers",),
    "further colons before a prefix are passed over": ("Multiple colons escaping interlanguage links",),
}
LINES = frozenset(
    "p div li dt dd ul ol dl blockquote center h1 h2 h3 h4 h5 h6 pre hr br table tr td th caption".split()  # noqa: SIM905
)
VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
HIDDEN = frozenset({"style", "script", "table"})
_OPTIONS = re.compile(r"(?:language=([a-z-]+)|title=.*|parsoid=.*|wgParser\w+=.*|wgFragment\w+=.*|\s)*")
_NOT_PLAIN = re.compile(
    r"\{\{|~~~|<(?:gallery|tag|statictag|sealtag|indicator|aliens|embed|langconvert|pwraptest)", re.IGNORECASE
)
_NOT_PLAIN_HTML = re.compile(
    r"<img|mw-file|typeof=|mw-gallery|class=\"error|mw-magiclink|toclevel|mw-ext-|<audio|<video|infobox|<references|mw-references|cite_note|class=\"references"
)


class Text(HTMLParser):
    """The visible text of HTML, without tables and links to edit."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()

    def __str__(self) -> str:
        return "".join(self._pieces)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LINES:
            self._pieces.append("\n")
        if tag not in VOID:
            self._open.append((tag, tag in HIDDEN or "mw-editsection" in (dict(attrs).get("class") or "")))

    def handle_endtag(self, tag: str) -> None:
        if tag in LINES:
            self._pieces.append("\n")
        numbers = [number for number, (name, _) in enumerate(self._open) if name == tag]
        del self._open[numbers[-1] if numbers else len(self._open) :]

    def handle_data(self, data: str) -> None:
        if not any(hidden for _, hidden in self._open):
            self._pieces.append(data)


def plain_tests(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the name, language, wikitext and expected HTML of each plain test of a file."""
    for block in re.split(r"(?m)^!! *test *$", path.read_text(encoding="utf-8", errors="replace"))[1:]:
        name, *rest = re.split(r"(?m)^!! *([a-zA-Z/+*_-]+) *$\n?", block)
        sections = dict(zip(rest[::2], rest[1::2], strict=False))
        wikitext = sections.get("wikitext") or sections.get("input") or ""
        html = sections.get("html") or sections.get("html/php") or sections.get("html/*") or ""
        options = _OPTIONS.fullmatch(sections.get("options", "").strip())
        if not wikitext or not html.strip() or options is None or "config" in sections:
            continue
        if not _NOT_PLAIN.search(wikitext) and not _NOT_PLAIN_HTML.search(html):
            yield name.strip(), options[1] or "en", wikitext.rstrip("\n"), html


def main(folder: str) -> int:
    """Print the tests that differ and how many do not; return 0."""
    same = tests = 0
    reasons = {name: reason for reason, names in DIFFERENCES.items() for name in names}
    for path in sorted(Path(folder).glob("*.txt")):
        for name, language, wikitext, html in plain_tests(path):
            expected, actual = str(Text(html)), parse_wikitext(wikitext, "Parser test", language).body
            tests += 1
            if "".join(expected.split()) == "".join(actual.split()):
                same += 1
            else:
                print(
                    f"{path.name}: {name} ({reasons.get(name, 'NEW')})\n  {' '.join(expected.split())!r}\n  {actual!r}"
                )
    print(f"{same} of {tests} plain tests to the letter")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
