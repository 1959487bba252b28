"""What a message says of a name that does not exist: the nearest name that does."""

import difflib
from collections.abc import Iterable, Mapping

NAMES_SHOWN = 30
NO_NAMES: Mapping[str, str] = {}


def nearest(name: str, names: Iterable[str], least: float = 0.6) -> list[str]:
    """Return the names that are most like `name`, whatever the case of their letters: none, one, or several that are
    equally like it; `least` is the least likeness, of 1 at most."""
    by_lower_case = {candidate.lower(): candidate for candidate in reversed(list(names))}
    close = difflib.get_close_matches(name.lower(), by_lower_case, 3, least)
    likeness = [difflib.SequenceMatcher(None, other, name.lower()).ratio() for other in close]
    return [
        by_lower_case[other] for other, ratio in zip(close, likeness, strict=True) if ratio == likeness[0]
    ]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return "did you mean X?", or nothing where no name is like `name`.

    Paths are alike by their folders, so that they must be more so; patterns of paths are no names.
    """
    names = [other for other in names if "{" not in other]
    near = nearest(name, names, 0.8 if "/" in name else 0.6)
    return f"did you mean {' or '.join(near)}?" if near else ""


def instead_of(
    name: str, names: Iterable[str], listed: str = "there are", origins: Mapping[str, str] = NO_NAMES
) -> str:
    """Return "did you mean X?", or the names where none is like `name`.

    Args:
        name: what was given.
        names: what may be given.
        listed: what stands before the names.
        origins: further names that may be given, each with where it comes from; they are not listed.
    """
    names = [str(candidate) for candidate in names]
    near = nearest(name, [*names, *origins])
    if not near:
        others = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        return f"{listed} {', '.join(names[:NAMES_SHOWN]) or 'no entries'}{others}"
    meant = [other if other in names else f"{other}, from {origins[other]}" for other in near]
    return f"did you mean {' or '.join(meant)}?"
