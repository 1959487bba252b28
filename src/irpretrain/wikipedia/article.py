"""An article as the rest of the software sees it: plain text, and where its sections and links lie in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MOST_SECTIONS = 32_767
"""Sections of an article, the lead included; a page with more is left out. A column of 16 bits numbers them, and no
article has a hundredth of them."""

Role = Literal["", "see-also", "boilerplate"]
"""What a heading says of its section: a list of related articles, no prose (references, links, notes), or nothing."""


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and the text of its own, without that of its subsections.

    Attributes:
        level: 0 for the lead section, else the number of equal signs: 2 for `==History==`.
        heading: plain text of the heading, empty for the lead section and where nothing of the heading is prose.
        start, end: characters of `Article.text`: after the heading's line, before the next heading; without line ends
            at either side, start == end where the section has no text.
        role: what its own heading says of it, in the language of its wiki; nothing of the headings above it.
    """

    level: int
    heading: str
    start: int
    end: int
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A link to an article.

    Attributes:
        target: title as written, entities and percent signs decoded, underscores as spaces, white space collapsed,
            without `#fragment` and leading colon, with the wiki's İ for a small i at the beginning; empty for a link
            within its own page (`[[#History]]`).
        fragment: what follows the first `#`, written the same way; mostly empty.
        start, end: characters of `Article.text`: `text[start:end]` is the anchor that a reader sees; start < end.
        section: index into `Article.sections` of the section whose text or heading holds the anchor.
    """

    target: str
    fragment: str
    start: int
    end: int
    section: int


@dataclass(frozen=True, slots=True)
class Article:
    """Plain text of a page with its structure.

    Attributes:
        text: one paragraph, list item or heading a line; no blank lines, no white space around a line.
        sections: in the order of the text, disjoint; the first is the lead section and is always there.
        links: in the order of the text, disjoint; only those to articles (no files, categories, other wikis).
        parts: number of formulas, captions, tables and galleries that are shown and left out ("tables left out").
    """

    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    parts: Mapping[str, int] = field(default_factory=dict, compare=False)
