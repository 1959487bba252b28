"""What the library is given, checked once: several of something, texts that are texts, pairs of two."""

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any

from irpretrain.corpora.fields import BODIES
from irpretrain.foundation.characters import clean_text, identifier_fault
from irpretrain.foundation.errors import (
    ConfigError,
    InputError,
    IntegrityError,
    IRPretrainError,
    reporting_disk_errors,
)
from irpretrain.library.frames import frame_pairs, frame_queries, is_frame

# A query, and a text or the identifier of a document.
Pair = tuple[str, str] | tuple[str, int]
IDENTIFIER = "an identifier"


def listed(items: Iterable[Any], name: str, columns: Sequence[Sequence[str]] = ()) -> list[Any]:
    """Return several things as a list, an iterator's too; ConfigError for a single text, or what holds nothing.

    Args:
        columns: for each value of an item, the names that a frame's column of such values has; the usual one first.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise ConfigError(f"{name}: give a list, not {reprlib.repr(items)}")
    if is_frame(items):  # it would give the names of its columns one by one
        frame: Any = items
        columns_text = ", ".join(
            f"frame[{next((column for column in names if column in frame.columns), names[0])!r}]"
            for names in columns
        )
        conversion = f"list(zip({columns_text}))" if columns_text else FRAME_CONVERSIONS.get(name, "a list")
        raise ConfigError(f"{name}: this is a table; give {conversion}")
    return list(items)


# What is given → how a frame makes it.
FRAME_CONVERSIONS = {"texts": "frame['text'].tolist()", "groups": "frame.to_dict('records')"}


def by_label(series: Any, name: str) -> Any:
    """Return a series of pandas as a mapping of its labels to its values, anything else as it is."""
    if isinstance(series, Mapping) or not (hasattr(series, "index") and hasattr(series, "items")):
        return series
    mapping = dict(series.items())
    if len(mapping) < len(series):
        raise ConfigError(f"{name}: a label of the series occurs twice")
    return mapping


def listed_pairs(pairs: Iterable[Pair], second_kind: str) -> list[tuple[str, str]]:
    """Return pairs of a query and something else as a list, cleaned; ConfigError where a part is missing.

    Args:
        pairs: also an iterator, such as `zip(queries, texts)`, and a frame, if identifiers stand beside the queries.
        second_kind: what stands beside the query, with its article.
    """
    checked_pairs = []
    if second_kind == IDENTIFIER and is_frame(pairs):
        pairs = frame_pairs(pairs)
    for pair_number, pair in enumerate(listed(pairs, "pairs", (["query"], BODIES))):
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(values := list(pair)) != 2:
            raise ConfigError(
                f"pair {pair_number}: a query and {second_kind} are needed, not {reprlib.repr(pair)}"
            )
        query, text = (
            checked_text(
                str(value) if position and second_kind == IDENTIFIER and is_whole_number(value) else value,
                f"pair {pair_number}: ",
                f" in its position {position}",
            )
            for position, value in enumerate(values)
        )
        checked_pairs.append((query, text))
    return checked_pairs


def named_queries(queries: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Return queries by identifier, cleaned; texts without one are named by their places. ConfigError for others."""
    items = queries if is_frame(queries) else by_label(queries, "queries")
    if is_frame(items):
        named_items = frame_queries(items)
    elif isinstance(items, Mapping):
        named_items = iter(items.items())
    else:
        named_items = enumerate(listed(items, "queries"))
    texts: dict[str, str] = {}
    for key, text in named_items:
        name = checked_identifier(key, f"query {reprlib.repr(key)}")
        if name in texts:  # the number 1 and the text 1 are one identifier
            raise ConfigError(f"queries: an identifier occurs twice: {name!r}")
        texts[name] = checked_text(text, f"query {key!r}: ")
    return texts


def checked_identifier(value: Any, location: str) -> str:
    """Return an identifier, which may be a whole number, as a text; ConfigError where it is none."""
    if is_whole_number(value):
        return str(value)
    fault = identifier_fault(value) if isinstance(value, str) else "an identifier is a text or a whole number"
    if fault:
        raise ConfigError(f"{location}: {fault}")
    return value


def is_whole_number(value: Any) -> bool:
    """Whether an identifier is a number, as those of most collections are."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def checked_text(value: Any, location: str, position_text: str = "") -> str:
    """Return a text, cleaned as documents are; ConfigError where it is missing."""
    if not isinstance(value, str):
        raise ConfigError(f"{location}a text is needed{position_text}, not {reprlib.repr(value)}")
    return clean_text(value)


@contextmanager
def naming(names: Mapping[Path, str]) -> Iterator[None]:
    """Let messages name what the user gave in place of temporary files.

    Args:
        names: temporary folder → what the user gave; a folder inside another one comes first.
    """
    try:
        with reporting_disk_errors(names):
            yield
    except IRPretrainError as error:
        readable = renamed(error, names)
        if str(readable) == str(error):
            raise
        raise readable from None


def renamed(error: IRPretrainError, names: Mapping[Path, str]) -> IRPretrainError:
    """Return an error that has the names in place of the temporary files."""
    if not isinstance(error, InputError):
        return type(error)(_rename(str(error), names))
    path, reason, remedy = (_rename(str(text), names) for text in (error.path, error.reason, error.remedy))
    if isinstance(error, IntegrityError) and path != str(error.path):
        remedy = "A temporary file is missing or damaged: start again."  # never "delete" what the user gave
    return type(error)(path, reason, error.line, remedy)


def _rename(text: str, names: Mapping[Path, str]) -> str:
    for folder, name in names.items():
        literal = name.replace("\\", r"\\")
        text = re.sub(rf"{re.escape(str(folder))}(/[\w.-]+)*", literal, text)
    return text
