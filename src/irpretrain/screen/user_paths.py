"""Paths as the user can take them: from the folder in which the command was given, which `--directory` may leave."""

import os
import re
from pathlib import Path

PATH = re.compile(r"""(?<![^\s'"`(])(?:\.{1,2}/|\w)[^\s'"`(),;:]*/[^\s'"`(),;:]*(?<!\.)""")
"""A relative path of several parts in a text."""


def as_user_stands(path: str | Path) -> str:
    """Return a path as the user can take it: relative where it lies below the folder in which the command was given,
    otherwise in full."""
    there, whole = _where_the_user_stands(), os.path.abspath(path)
    return os.path.relpath(whole, there) if Path(whole).is_relative_to(there) else whole


def with_user_paths(text: str) -> str:
    """Return a message with its paths as the user can take them: those that lead to something, or out of the folder of
    the run. What the configuration names in vain stays as it stands there."""
    if Path(_where_the_user_stands()).resolve() == Path.cwd():
        return text

    def shown(match: re.Match[str]) -> str:
        path = match[0]
        return as_user_stands(path) if path.startswith("../") or os.path.exists(path) else path

    return PATH.sub(shown, text)


def _where_the_user_stands() -> str:
    return os.environ.get("PWD", os.getcwd())
