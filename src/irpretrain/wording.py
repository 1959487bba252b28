"""Whom a message tells how to set an option: users of the configuration and of Python, or of the command."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FOR_COMMAND: ContextVar[bool] = ContextVar("for_command", default=False)


@contextmanager
def telling_the_command() -> Iterator[None]:
    """Let messages inside name the options of the command `irpretrain`."""
    token = _FOR_COMMAND.set(True)
    try:
        yield
    finally:
        _FOR_COMMAND.reset(token)


def worded(text: str, for_command: str) -> str:
    """Return `text`, or what users of the command read in its place."""
    return for_command if _FOR_COMMAND.get() else text
