"""Wikitext to plain text with sections and links: `parse_article`. Time grows linearly with length, whatever the input."""

from irpretrain.wikipedia.wikitext.parser import parse_article

__all__ = ["parse_article"]
