"""What is shown beside prose, and a count of what is not."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from irpretrain.wikipedia.wikitext.images import ImageOptions

# Captions of files in the text, tables, captions in galleries.
Part = Literal["captions", "tables", "galleries"]


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a user wants to be shown of a page.

    Attributes:
        keep: parts that are shown, each caption and each row of a table as a line of its own.
        formula_word: stands for a formula that cannot be written in a line; "" shows nothing.
    """

    keep: frozenset[Part] = frozenset()
    formula_word: str = ""


@dataclass(slots=True)
class Parts:
    """How a page is rendered, how often what is no prose was shown or left out ("tables left out" and the like), and
    whether the page calls itself a disambiguation page."""

    rendering: Rendering = field(default_factory=Rendering)
    images: ImageOptions = field(default_factory=ImageOptions)
    counts: Counter[str] = field(default_factory=Counter)
    disambiguation: bool = False

    def keeps(self, part: Part) -> bool:
        """Count a part of the page; return whether it is shown."""
        keeps = part in self.rendering.keep
        self.count(part, keeps)
        return keeps

    def count(self, what: str, is_rendered: bool) -> None:
        """Count what was shown or left out."""
        self.counts[f"{what} {'shown' if is_rendered else 'left out'}"] += 1
