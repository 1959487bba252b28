"""The templates of the pages beside this file, with all that they put into themselves: style and script."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def environment() -> Environment:
    """Return the environment in which every value is escaped and an unknown one is an error."""
    loader = PackageLoader("irpretrain.report", package_path="")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals["style"] = Markup(loader.get_source(made, "report.css")[0])
    made.globals["script"] = Markup(loader.get_source(made, "report.js")[0])
    return made
