"""The pages of the report and beside it: their templates, which lie beside this file, and what is put into them."""

import base64
import json
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


def number_text(value: float) -> str:
    """Return a number as tables show it: 12,345; 12,345.6; 0.836."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:z.3f}"


def svg_uri(svg: str) -> str:
    """An SVG as a data URI: shown as an image, so nothing inside it can run or reach the network."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
