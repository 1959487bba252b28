"""Faults of lists of names: one that leads nowhere, one that stands there twice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence


def unknown_names(where: str, names: Iterable[str], known: Iterable[str], section: str) -> Iterator[str]:
    """Yield a fault, with the nearest name that there is, for each of `names` that a section does not have."""
    known = list(known)
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            yield f"{where}: {name!r} is not in {section}; {hint}{section} has {', '.join(known) or 'no entries'}"


def listed_twice(where: str, names: Sequence[str]) -> Iterator[str]:
    """Yield a fault for the first of `names` that is listed twice."""
    if twice := [name for name in names if names.count(name) > 1]:
        yield f"{where}: {twice[0]} is listed twice; list each once"
