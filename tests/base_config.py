"""The configuration that tests change, tests/base.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from irpretrain.config import Config, parse_config
from irpretrain.foundation.errors import ConfigError


def base_config() -> dict[str, Any]:
    """The configuration as it is written."""
    written: dict[str, Any] = yaml.safe_load(
        Path(__file__).with_name("base.yaml").read_text(encoding="utf-8")
    )
    return written


def configuration(**sections: dict[str, Any]) -> Config:
    """The configuration with entries of sections added or replaced."""
    given = base_config()
    for section, entries in sections.items():
        given[section] = {**given.get(section, {}), **entries}
    return parse_config(given)


def message(given: dict[str, Any]) -> str:
    """What a user reads of a configuration that is refused."""
    with pytest.raises(ConfigError) as caught:
        parse_config(given)
    return str(caught.value)
