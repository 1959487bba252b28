"""Sections of encyclopaedia articles that are no text about their subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

BOILERPLATE = (
    "See also",
    "References",
    "Notes",
    "Footnotes",
    "Citations",
    "Sources",
    "Bibliography",
    "Further reading",
    "External links",
)
"""English headings (Wikipedia's manual of style, standard appendices); other languages give theirs."""


def boilerplate_field(default: Sequence[str]) -> Any:
    """Return the field of an objective's options that names sections to leave out."""
    return Field(
        list(default),
        description="Headings of sections that are left out of the tree, with the sections below them; case and a "
        "colon at the end do not matter.",
    )
