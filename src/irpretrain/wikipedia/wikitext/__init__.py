"""Wikitext to plain text with sections and links, in time linear in its length whatever it holds: `parse_article`."""

from irpretrain.wikipedia.wikitext.parser import parse_article

__all__ = ["parse_article"]
