"""The templates of the pages beside this file, with all that they put into themselves: styles and scripts."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def environment() -> Environment:
    """Return the environment in which every value is escaped and an unknown one is an error; `asset` puts a style or a
    script into a page."""
    loader = PackageLoader("irpretrain.report", package_path="")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals["asset"] = lambda name: Markup(loader.get_source(made, name)[0])
    return made
