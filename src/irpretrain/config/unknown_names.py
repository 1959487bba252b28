"""The fault of a name that leads nowhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator


def unknown_names(where: str, names: Iterable[str], known: Iterable[str], section: str) -> Iterator[str]:
    """Yield a fault, with the nearest name that there is, for each of `names` that a section does not have."""
    known = list(known)
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            yield f"{where}: {name!r} is not in {section}; {hint}{section} has {', '.join(known) or 'no entries'}"
