"""The configuration: one family of pydantic models, checked while Snakemake plans.

`load_config`, `parse_config`, `lay_overlays` and `Config` are imported when they are asked for: every section's module
passes through this one, so loading them here would be a circle.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irpretrain.config.load import lay_overlays, load_config, parse_config
    from irpretrain.config.root import Config

__all__ = ["Config", "lay_overlays", "load_config", "parse_config"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{'root' if name == 'Config' else 'load'}"), name)
