"""The configuration: a strict pydantic model, one small file a section.

`load_config` reads YAML overlays and returns a `Config` or raises one `ConfigError` that lists every fault.
"""

from irpretrain.config.load import lay_overlays, load_config, parse_config
from irpretrain.config.root import Config

__all__ = ["Config", "lay_overlays", "load_config", "parse_config"]
