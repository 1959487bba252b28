"""When the display is on, and how the Snakefile talks to it; the plugin and `internals` both ask."""

from typing import Any

NAME = "irpretrain"
# Attribute of log records by which the Snakefile talks to the display: a mapping with `closing` or `output`.
ATTRIBUTE = "irpretrain"


def has_display(settings: Any) -> bool:
    """Whether Snakemake's output settings ask for the display, rather than for all that Snakemake says itself."""
    requested = NAME in getattr(settings, "log_handler_settings", {NAME: None})
    return requested and not (settings.dryrun or settings.verbose or settings.debug_dag)
