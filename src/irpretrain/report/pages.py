"""The pages of the report and beside it: their templates, which lie beside this file, and what is put into them."""

import base64
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from irpretrain.foundation.atomic import write_text

LOADER = PackageLoader("irpretrain.report", package_path="")


def templates(**options: Any) -> Environment:
    """Return the templates; an unknown value in one is an error."""
    return Environment(
        loader=LOADER, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **options
    )


def write_page(template: str, output: str | Path, **values: Any) -> int:
    """Fill a template and write the page; return its size in bytes.

    Every value is escaped, and an unknown one is an error; `asset` puts a style or a script into a page.
    """
    pages = templates(autoescape=True)
    pages.globals["number"] = number_text
    pages.globals["asset"] = lambda name: Markup(LOADER.get_source(pages, name)[0])
    page = pages.get_template(template).render(**values)
    write_text(output, page)
    return len(page.encode())


def script_json(value: Any) -> Markup:
    """Return JSON that cannot end the script element it stands in, whatever strings it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def write_json(output: str | Path, content: Any) -> None:
    """Write what a page reads, as JSON in one line."""
    write_text(output, json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")


def number_text(value: float) -> str:
    """Return a number as tables show it: 12,345; 12,345.6; 0.836."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:z.3f}"


def cut_words(text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[tuple[str, str]], str]:
    """Return the words at some spans, each after the characters before it, and the characters after the last; of
    overlapping ones each ends where the next one starts."""
    words, previous_end = list[tuple[str, str]](), 0
    for (start, end), (next_start, _) in pairwise([*spans, (len(text), 0)]):
        words.append((text[previous_end:start], text[start : min(end, next_start)]))
        previous_end = min(end, next_start)
    return words, text[previous_end:]


def svg_uri(svg: str) -> str:
    """An SVG as a data URI: shown as an image, so nothing inside it can run or reach the network."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
