"""The figures as the report's page shows them: pictures inside the page, with their captions."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError
from irpretrain.papers.published import Published

WIDE = 2.2
"""Ratio of width to height from which a figure takes the page's whole width."""


def figure_views(paper: Published, directory: Path) -> list[dict[str, Any]]:
    """Return what the template needs of each figure of a paper."""
    views = []
    for name in paper.drawings():
        if name in paper.figures:
            figure = paper.figures[name]
            title = f"{paper.name}, figure {figure.number}: {figure.title}"
            caption = (
                f"{figure.published} ({paper.place(figure.page, figure.section)}. The paper's curves are printed as "
                "pictures only, so none is copied here.)"
            )
        else:
            title = caption = paper.own_figures[name].caption
        key = f"{paper.paper}_{name}"
        path = directory / f"{key}.svg"
        picture = {"image": svg_uri(path), "wide": _is_wide(path)}
        views.append({"name": key, "title": title, "caption": caption, **picture})
    return views


def _is_wide(path: Path) -> bool:
    """Whether a picture is so much wider than high (several panels) that half the page is too little for it."""
    size = re.search(r'<svg[^>]*\sviewBox="\S+ \S+ (\S+) (\S+)"', path.read_text(encoding="utf-8"))
    return size is not None and float(size[1]) > WIDE * float(size[2])


def svg_uri(path: Path) -> str:
    """An SVG as a data URI: shown as an image, so nothing inside it can run or reach the network."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            path, f"cannot be read: {error.strerror}", remedy="Run the workflow again."
        ) from None
    if b"<svg" not in content:
        raise InputError(path, "this is not an SVG picture", remedy="Delete it and run the workflow again.")
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()
