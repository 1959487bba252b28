"""How messages name an option: for users of the configuration and of Python, or of the command."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_FOR_COMMAND: ContextVar[bool] = ContextVar("for_command", default=False)


@contextmanager
def cli_messages(for_command: bool = True) -> Iterator[None]:
    """Let messages inside name the options of the command `irpretrain`, or those of the configuration."""
    token = _FOR_COMMAND.set(for_command)
    try:
        yield
    finally:
        _FOR_COMMAND.reset(token)


def cli_or_api(text: str, for_command: str) -> str:
    """Return `text`, or what users of the command read in its place."""
    return for_command if _FOR_COMMAND.get() else text


# The text of a message on an unknown name: the nearest known name.


NAMES_DISPLAYED = 30
NO_NAMES: Mapping[str, str] = {}


def nearest(name: str, names: Iterable[str], least: float = 0.6) -> list[str]:
    """Return the names most like `name` in any case: none, one, or several ties; `least` is the least likeness."""
    by_lower_case = {candidate.lower(): candidate for candidate in reversed(list(names))}
    close = difflib.get_close_matches(name.lower(), by_lower_case, 3, least)
    likeness = [difflib.SequenceMatcher(None, other, name.lower()).ratio() for other in close]
    return [
        by_lower_case[other] for other, ratio in zip(close, likeness, strict=True) if ratio == likeness[0]
    ]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return "did you mean X?", or nothing if no name is like `name`."""
    names = [other for other in names if "{" not in other]
    # Paths are alike by their folders, so they must be more alike; patterns of paths are no names.
    near = nearest(name, names, 0.8 if "/" in name else 0.6)
    return f"did you mean {' or '.join(near)}?" if near else ""


def instead_of(
    name: str, names: Iterable[str], listed: str = "there are", origins: Mapping[str, str] = NO_NAMES
) -> str:
    """Return "did you mean X?", or the allowed names after `listed`; `origins` are allowed but not listed."""
    names = [str(candidate) for candidate in names]
    near = nearest(name, [*names, *origins])
    if not near:
        others = f" and {len(names) - NAMES_DISPLAYED} more" if len(names) > NAMES_DISPLAYED else ""
        return f"{listed} {', '.join(names[:NAMES_DISPLAYED]) or 'no entries'}{others}"
    meant = [other if other in names else f"{other}, from {origins[other]}" for other in near]
    return f"did you mean {' or '.join(meant)}?"
