"""Stands in for the wikitext parser until it is merged: the whole text is one lead section without links."""

from __future__ import annotations

from dataclasses import dataclass

from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.plain_text import dropped_names, plain_text


@dataclass(frozen=True, slots=True)
class Section:
    level: int
    heading: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Link:
    target: str
    fragment: str
    start: int
    end: int
    section: int


@dataclass(frozen=True, slots=True)
class Article:
    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...]


class WikiLanguage:
    def __init__(self, names: set[str]) -> None:
        self.names = names

    @classmethod
    def of(cls, site: SiteInfo) -> WikiLanguage:
        return cls(dropped_names(site.namespaces))

    def is_disambiguation(self, wikitext: str) -> bool:
        text = wikitext.lower()
        return "{{disambig" in text or "{{dab}}" in text or "{{begriffsklärung}}" in text


def parse_article(wikitext: str, language: WikiLanguage) -> Article:
    text = plain_text(wikitext, language.names)
    return Article(text, (Section(0, "", 0, len(text)),), ())
