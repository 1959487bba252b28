"""Messages that docs/troubleshooting.md quotes are those of the program."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^\*\*`([^`]+)`\*\*(.*)$", PAGE, re.MULTILINE)


@cache
def messages() -> str:
    """Every text in the program, one a line, with … for what is filled in."""
    texts = []
    for path in [*(ROOT / "src").rglob("*.py"), ROOT / "envs/install.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
                texts.append("".join(map(str, parts)))
    return "\n".join(text.replace("\n", " ") for text in texts)


@pytest.mark.parametrize(("message", "remark"), QUOTED, ids=[message for message, _ in QUOTED])
def test_a_quoted_message_is_in_the_code(message: str, remark: str) -> None:
    if remark == " (Snakemake's)":
        return
    text = re.escape(message.strip("… ;:")).replace("…", ".*")
    assert re.search(text, messages()), message


def test_the_likely_messages_are_there() -> None:
    assert len(QUOTED) >= 15
