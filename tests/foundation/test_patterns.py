"""No pattern repeats a group possessively: before 3.11.5 Python then keeps what a failed last round has read.

https://github.com/python/cpython/issues/106052. An atomic group says the same: `(?>(?:...)*)` for `(?:...)*+`.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of the package `regex`, and one pattern whose rounds read nothing when they fail.
EXEMPT = {"text/words.py": 2, "corpora/web_pages.py": 1}


def test_no_group_is_repeated_possessively() -> None:
    found = {}
    for path in sorted((ROOT / "src/irpretrain").rglob("*.py")):
        # A group's end, the repeat, and the sign that makes it possessive; not within a set or behind a backslash.
        count = len(re.findall(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+", path.read_text(encoding="utf-8")))
        if count:
            found[path.relative_to(ROOT / "src/irpretrain").as_posix()] = count
    assert found == EXEMPT
