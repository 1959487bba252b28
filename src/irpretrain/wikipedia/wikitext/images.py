"""Options in links to files, and which of their parts is the caption.

MediaWiki's rule (`Parser::makeImage`): the caption is the last part that is no option, and a reader sees it beside a
thumbnail or in a frame.
"""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from irpretrain.wikipedia.wikitext.marks import ANCHOR, ANCHOR_END, DROPPED, NOTHING

_MARKS = DROPPED + NOTHING
_BAR_OR_BRACKETS = re.compile(rf"(\|)|(\[\[)|(\]\])|{ANCHOR}[^{ANCHOR_END}]*+{ANCHOR_END}")
_BAR, _OPENING, _CLOSING = 1, 2, 3
_NUMBER = rf"[0-9x.,\s{_MARKS}]*"


class ImageOptions:
    """The words of a wiki for options of files; `$1` in one stands for a value, which is a number but behind `=`.

    Args:
        options: such as `left`, `$1px`, `alt=$1`.
        frames: those that show the caption, such as `thumb`.
    """

    def __init__(self, options: Collection[str] = (), frames: Collection[str] = ()) -> None:
        self._frames, self._options = _OptionWords(frames), _OptionWords([*options, *frames])

    def caption_of_file(self, options: list[str]) -> int:
        """Return which part of a link to a file is the caption that a reader sees; -1: none."""
        options = [option.strip() for option in options]
        is_framed = any(option in self._frames for option in options)
        return self.last_caption(options) if is_framed else -1

    def last_caption(self, options: list[str]) -> int:
        """Return which part is the last that is no option; -1 if there is none with words.

        What stands for templates that are left out is no caption.
        """
        for index in range(len(options) - 1, -1, -1):
            option = options[index].strip()
            if option not in self._options and (not option or option.strip(_MARKS)):
                return index if option else -1
        return -1


def cut_at_bars(text: str) -> list[str]:
    """Return what stands between bars; those within links do not count, which may hold links and brackets."""
    if "[[" not in text and ANCHOR not in text:  # most texts
        return text.split("|")
    bars: list[int] = []
    bar_counts: list[int] = []  # before each pair of brackets that is not closed yet
    for mark in _BAR_OR_BRACKETS.finditer(text):
        if mark.lastindex == _BAR:
            bars.append(mark.start())
        elif mark.lastindex == _OPENING:
            bar_counts.append(len(bars))
        elif mark.lastindex == _CLOSING and bar_counts:
            del bars[bar_counts.pop() :]
    starts, ends = [0, *(bar + 1 for bar in bars)], [*bars, len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def caption_in_gallery(line: str, images: ImageOptions) -> str:
    """Return the caption in a line of a gallery, `File:A.jpg|options|caption`, which may hold links."""
    options = cut_at_bars(line)[1:]
    caption_index = images.last_caption(options)
    return options[caption_index].strip() if caption_index >= 0 else ""


class _OptionWords:
    def __init__(self, words: Collection[str]) -> None:
        self._exact_words = frozenset(word for word in words if "$1" not in word)
        patterns = (
            re.escape(word).replace(r"\$1", ".*" if "=" in word else _NUMBER)
            for word in sorted(set(words) - self._exact_words)
        )
        self._with_value = re.compile("|".join(patterns) or "(?!)", re.DOTALL)

    def __contains__(self, word: str) -> bool:
        return word in self._exact_words or self._with_value.fullmatch(word) is not None


# What is shown beside prose, and a count of what is not.


# Captions of files in the text, tables, captions in galleries.
Part = Literal["captions", "tables", "galleries"]


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a user wants to be shown of a page."""

    keep: frozenset[Part] = frozenset()  # each caption and each row of a table is a line of its own
    formula_word: str = ""  # stands for a formula that cannot be written in a line; "" shows nothing


@dataclass(slots=True)
class PageRendering:
    """How a page is rendered, how often what is no prose was shown or left out ("tables left out" and the like), and
    whether the page calls itself a disambiguation page."""

    rendering: Rendering = field(default_factory=Rendering)
    images: ImageOptions = field(default_factory=ImageOptions)
    counts: Counter[str] = field(default_factory=Counter)
    disambiguation: bool = False

    def keeps(self, part: Part) -> bool:
        """Count a part of the page; return whether it is shown."""
        is_kept = part in self.rendering.keep
        self.count(part, is_kept)
        return is_kept

    def count(self, part_name: str, is_rendered: bool) -> None:
        """Count what was shown or left out."""
        self.counts[f"{part_name} {'shown' if is_rendered else 'left out'}"] += 1
