"""Paths as the user can take them: from the folder in which the command was given, which `--directory` may leave."""

import os
import re
from pathlib import Path

# A relative path of several parts in a text.
PATH = re.compile(r"""(?<![^\s'"`(])(?:\.{1,2}/|\w)[^\s'"`(),;:]*/[^\s'"`(),;:]*(?<!\.)""")


def as_user_path(path: str | Path) -> str:
    """Return a path for the user: relative if below the folder of the command, otherwise in full."""
    there, whole = _users_folder(), os.path.abspath(path)
    return os.path.relpath(whole, there) if Path(whole).is_relative_to(there) else whole


def with_user_paths(text: str) -> str:
    """Return a message with its existing paths, and those out of the run's folder, as user paths; others unchanged."""
    if Path(_users_folder()).resolve() == Path.cwd():
        return text

    def displayed(match: re.Match[str]) -> str:
        path = match[0]
        return as_user_path(path) if path.startswith("../") or os.path.exists(path) else path

    return PATH.sub(displayed, text)


def _users_folder() -> str:
    return os.environ.get("PWD", os.getcwd())
