"""Pages of the documentation that are made from the code, so that they cannot drift from it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from irpretrain.atomic import write_text


def write_or_check(arguments: Sequence[str], pages: Mapping[str, str]) -> int:
    """Write `pages` (text by file name) into a folder, or with `--check` compare what lies there with them.

    Args:
        arguments: the folder, and perhaps `--check`.
        pages: what should lie there.

    Returns:
        Exit status: 1 where a page differs, else 0.
    """
    folder = Path(next(argument for argument in arguments if not argument.startswith("--")))
    if "--check" not in arguments:
        for name, text in pages.items():
            write_text(folder / name, text)
        return 0
    stale = [name for name, text in pages.items() if not _holds(folder / name, text)]
    if stale:
        print(f"{', '.join(stale)} in {folder} differ from the code; run: make docs")
    return 1 if stale else 0


def literal(text: str) -> str:
    """Return a text whose asterisks and angle brackets Markdown shows as they are; code in backticks is left alone.

    Not by a backslash before `<`: hosts of repositories take it, the generator of the site does not.
    """
    parts = re.split("(`[^`]*`)", text)
    parts[::2] = [re.sub(r"<(?=\S)", "&lt;", part).replace("*", r"\*") for part in parts[::2]]
    return "".join(parts)


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text
