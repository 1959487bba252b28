"""Pages of the documentation that are made from the code: written, or compared with it, so that they cannot drift."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from irpretrain.foundation.atomic import write_text


def write_or_check(arguments: Sequence[str], pages: Mapping[str, str]) -> int:
    """Write `pages` (text by file name) into the folder in `arguments`; with `--check` return 1 on a difference."""
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
    """Escape asterisks and angle brackets for Markdown, outside code in backticks."""
    # Not by a backslash before `<`: hosts of repositories read it, the generator of the site does not.
    parts = re.split("(`[^`]*`)", text)
    parts[::2] = [re.sub(r"<(?=\S)", "&lt;", part).replace("*", r"\*") for part in parts[::2]]
    return "".join(parts)


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text
