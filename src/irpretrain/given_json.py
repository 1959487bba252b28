"""JSON files that a user gives: read whole, or refused with one message."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError


def parse_json(text: str | bytes) -> Any:
    """Return the value of a user's JSON; ValueError if invalid, or if a key occurs twice."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    return _DECODER.decode(text.lstrip("\ufeff"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {twice[:40]!r} twice")
    return fields


def _whole(digits: str) -> int | float:
    # As a whole number -0 would be 0, and the identifier "0".
    return -0.0 if digits == "-0" else int(digits)


# Made once: json.loads makes one for every text where a hook is given, which takes twice as long.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_whole)


def read_given_json(path: str | Path, remedy: str = "") -> Any:
    """Return the value of a JSON file; InputError if it is missing, unreadable, not UTF-8 or not JSON."""
    try:
        return parse_json(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "there is no such file", remedy=remedy) from None
    except OSError as error:
        raise InputError(
            path, f"the file cannot be opened: {error.strerror or error}", remedy=remedy
        ) from None
    except RecursionError:
        raise InputError(path, "this is not JSON: it is nested too deeply", remedy=remedy) from None
    except ValueError as error:  # of JSON, of UTF-8, and of numbers with thousands of digits
        raise InputError(path, f"this is not JSON: {error}", getattr(error, "lineno", None), remedy) from None
