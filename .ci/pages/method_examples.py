"""Examples on the methods' pages: what the default's run wrote for its report, kept in docs/examples, as text."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"(<!-- example of ([\w/-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# Most characters of a line, and of a text in it.
WIDTH, MOST = 130, 260
# Sequences that are shown; the others of a group are like the last.
SEQUENCES = 2


def method_pages(docs: Path) -> dict[str, str]:
    """Return the pages with an example, each example made anew."""

    def example(block: re.Match[str]) -> str:
        begin, name, end = block.groups()
        content = json.loads((docs / "examples" / f"{name}.json").read_text(encoding="utf-8"))
        lines = _weighting(content) if "words" in content else _group(content)
        return "\n".join([begin, "```text", *lines, "```", "", end])

    pages = {path.name: path.read_text(encoding="utf-8") for path in sorted((docs / "methods").glob("*.md"))}
    return {f"methods/{name}": BLOCK.sub(example, page) for name, page in pages.items() if BLOCK.search(page)}


def _group(content: Mapping[str, Any]) -> Iterator[str]:
    sequences = content["sequences"][:SEQUENCES]
    sides = {side: [_text(sequence[side]) for sequence in sequences] for side in ("document", "query")}
    # Without anchors, which only some sequences of a group have.
    shared = [
        side for side, texts in sides.items() if len({re.sub(r"[\[\]\s]", "", text) for text in texts}) == 1
    ]
    for side in shared:
        yield from _line(side, sides[side][0])
    for place, sequence in enumerate(sequences):
        for side in (side for side in ("query", "document") if side not in shared):
            name = f"{'other' if place else 'preferred'} {side}"
            yield from _line(name, sides[side][place], f" ({sequence['score']:g})")
    if content["path"]:
        yield from _line(
            "drawn path", " > ".join(title for _, title, is_on_path in content["path"] if is_on_path)
        )
    preferred = {
        value: [axiom for axiom, v in content.get("axioms", {}).items() if v == value] for value in (1, -1)
    }
    for value, name in ((1, "axioms for the first"), (-1, "axioms for the second")):
        if preferred[value]:
            yield from _line(name, ", ".join(preferred[value]))


def _weighting(content: Mapping[str, Any]) -> Iterator[str]:
    words = (
        f"{before}{word}{f'[{target:g}]' if target else ''}" for before, word, target in content["words"]
    )
    yield from _line("passage", "".join(words) + content["rest"])


def _text(parts: Sequence[tuple[str, bool]]) -> str:
    return " ".join(f"[{text}]" if is_anchor else text for text, is_anchor in parts)


def _line(name: str, text: str, after: str = "") -> list[str]:
    shortened = textwrap.shorten(text, MOST, placeholder=" …") + after
    return textwrap.wrap(f"{name}: {shortened}", WIDTH, subsequent_indent="    ")
