"""The figures as the report's page shows them: pictures inside the page, with their captions."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError
from irpretrain.report.figures import FIGURES
from irpretrain.report.published import Published

WIDE = 2.2
"""Ratio of width to height from which a figure takes the page's whole width."""
OWN_FIGURES = {
    "set_sizes": "How many words the sampled sets hold (PROP, section 3.1), against the Poisson without zero.",
    "diagnosis": "Which axioms each re-ranker follows: the share of pairs of pseudo-queries on which its score prefers "
    "the one that the axiom prefers. No paper has this figure.",
    "words_outside": "The smoothed document model gives every word of the vocabulary some probability, so some sampled "
    "words do not occur in the document; random sampling draws from the vocabulary alike.",
}


def figure_views(paper: Published, directory: Path) -> list[dict[str, Any]]:
    """Return what the template needs of each figure of a paper."""
    views = []
    for name in FIGURES[paper.paper]:
        known = paper.figures.get(name)
        caption = OWN_FIGURES.get(name, "")
        if known:
            caption = (
                f"{known.published} ({paper.place(known.page, known.section)}. The paper's curves are printed as "
                "pictures only, so none is copied here.)"
            )
        title = f"{paper.name}, figure {known.number}: {known.title}" if known else caption
        key = f"{paper.paper}_{name}"
        path = directory / f"{key}.svg"
        view = {
            "name": key,
            "image": svg_uri(path),
            "title": title,
            "caption": caption,
            "wide": _is_wide(path),
        }
        views.append(view)
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
