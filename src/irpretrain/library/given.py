"""What the library is given, checked once: several of something, texts that are texts, pairs of two."""

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from irpretrain.corpora.characters import clean_text, identifier_fault
from irpretrain.errors import ConfigError, InputError, IntegrityError, IRPretrainError

Pair = tuple[str, str]
"""A query, and a text or the identifier of a document."""


def listed(things: Iterable[Any], name: str) -> list[Any]:
    """Return several things as a list, an iterator's too; ConfigError for a single text, or what holds nothing."""
    if isinstance(things, str | bytes) or not isinstance(things, Iterable):
        raise ConfigError(f"{name}: several are needed, not {reprlib.repr(things)}")
    return list(things)


def listed_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list, cleaned as documents are; ConfigError where one is missing."""
    return [given_text(text, f"text {number}: ") for number, text in enumerate(listed(texts, "texts"))]


def listed_pairs(pairs: Iterable[Pair], other: str) -> list[Pair]:
    """Return pairs of a query and something else as a list, cleaned; ConfigError where a part is missing.

    Args:
        pairs: also an iterator, such as `zip(queries, texts)`.
        other: what stands beside the query, with its article.
    """
    result = []
    for number, pair in enumerate(listed(pairs, "pairs")):
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(parts := list(pair)) != 2:
            raise ConfigError(f"pair {number}: a query and {other} are needed, not {reprlib.repr(pair)}")
        query, text = (
            given_text(part, f"pair {number}: ", f" in its place {place}") for place, part in enumerate(parts)
        )
        result.append((query, text))
    return result


def named_queries(queries: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Return queries by identifier, cleaned; texts without one are named by their places. ConfigError for others."""
    if not isinstance(queries, Mapping):
        texts = listed(queries, "queries")
        return {str(number): given_text(text, f"query {number}: ") for number, text in enumerate(texts)}
    for name in queries:
        fault = identifier_fault(name) if isinstance(name, str) else "an identifier is a text"
        if fault:
            raise ConfigError(f"query {reprlib.repr(name)}: {fault}")
    return {name: given_text(text, f"query {name!r}: ") for name, text in queries.items()}


def given_text(value: Any, where: str, place: str = "") -> str:
    """Return a text, cleaned as documents are; ConfigError where it is missing."""
    if not isinstance(value, str):
        raise ConfigError(f"{where}a text is needed{place}, not {reprlib.repr(value)}")
    return clean_text(value)


@contextmanager
def naming(names: Mapping[Path, str]) -> Iterator[None]:
    """Let messages name what the user gave in place of temporary files.

    Args:
        names: temporary folder → what the user gave; a folder inside another one comes first.
    """
    try:
        yield
    except IRPretrainError as error:
        renamed = _renamed(error, names)
        if str(renamed) == str(error):
            raise
        raise renamed from None


def _renamed(error: IRPretrainError, names: Mapping[Path, str]) -> IRPretrainError:
    if not isinstance(error, InputError):
        return type(error)(_rename(str(error), names))
    path, reason, remedy = (_rename(str(part), names) for part in (error.path, error.reason, error.remedy))
    if isinstance(error, IntegrityError) and path != str(error.path):
        remedy = "A temporary file is missing or damaged: start again."  # never "delete" what the user gave
    return type(error)(path, reason, error.line, remedy)


def _rename(text: str, names: Mapping[Path, str]) -> str:
    for folder, name in names.items():
        literal = name.replace("\\", r"\\")
        text = re.sub(rf"{re.escape(str(folder))}(/[\w.-]+)*", literal, text)
    return text
