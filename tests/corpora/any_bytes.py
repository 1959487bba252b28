"""Fuzz tests of readers: records, or one refusal that names the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError


def records_or_refusal(records: Iterable[Any], path: Path) -> Iterator[Any]:
    """Yield what a reader finds; a refusal ends it, as when random bytes begin like a compressed file."""
    try:
        yield from records
    except InputError as error:
        if error.path != path:
            raise
