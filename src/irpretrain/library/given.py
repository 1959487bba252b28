"""What the library is given, checked once: several of something, texts that are texts, pairs of two."""

import reprlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from irpretrain.errors import ConfigError, InputError

Pair = tuple[str, str]
"""A query, and a text or the identifier of a document."""


def listed(things: Iterable[Any], name: str) -> list[Any]:
    """Return several things as a list, an iterator's too; ConfigError for a single text, or what holds nothing."""
    if isinstance(things, str | bytes) or not isinstance(things, Iterable):
        raise ConfigError(f"{name}: several are needed, not {reprlib.repr(things)}")
    return list(things)


def listed_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list; ConfigError where one is missing."""
    return [_text(text, f"text {number}: ") for number, text in enumerate(listed(texts, "texts"))]


def listed_pairs(pairs: Iterable[Pair], other: str) -> list[Pair]:
    """Return pairs of a query and something else as a list; ConfigError where a part is missing.

    Args:
        pairs: also an iterator, such as `zip(queries, texts)`.
        other: what stands beside the query, with its article.
    """
    result = []
    for number, pair in enumerate(listed(pairs, "pairs")):
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(parts := list(pair)) != 2:
            raise ConfigError(f"pair {number}: a query and {other} are needed, not {reprlib.repr(pair)}")
        query, text = (
            _text(part, f"pair {number}: ", f" in its place {place}") for place, part in enumerate(parts)
        )
        result.append((query, text))
    return result


def _text(value: Any, where: str, place: str = "") -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}a text is needed{place}, not {reprlib.repr(value)}")
    return value


@contextmanager
def naming(source: str, folder: str | Path) -> Iterator[None]:
    """Let faults of files in a temporary folder name what the user gave: `source`."""
    try:
        yield
    except InputError as error:
        if not error.path.is_relative_to(folder):
            raise
        raise type(error)(source, error.reason, error.line, error.remedy) from None
