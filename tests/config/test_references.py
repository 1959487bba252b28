"""Every key that names an entry of a section is refused where the name leads nowhere."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from irpretrain.config import lay_overlays, parse_config
from irpretrain.config.references import REFERENCES, Reference
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
OVERLAYS = ("showcase", "deepct-paper", "ares-paper", "baselines", "downstream", "paper")


FILES: dict[str, Any] = {"files": "a.txt", "runs": {"path": "a.run"}}  # keys whose names have files


def renamed(value: Any, keys: list[str], name: Any) -> Any:
    """The value with `name` under its key, in the first item of a list; None where it has no such place."""
    if isinstance(value, list) and value and keys:
        return [renamed(value[0], keys, name), *value[1:]]
    if not keys:
        return [name] if isinstance(value, list) else name
    inner = value.get(keys[0]) if isinstance(value, dict) else None
    return {**value, keys[0]: renamed(inner, keys[1:], name)} if isinstance(value, dict) else None


def has_key(value: Any, keys: list[str]) -> bool:
    return not keys or isinstance(value, list) or (bool(value) and has_key(value.get(keys[0]), keys[1:]))


@cache
def shipped(overlay: str) -> dict[str, Any]:
    return lay_overlays(ROOT / "config.yaml", [ROOT / f"configs/{overlay}.yaml"])


def with_a_name_that_leads_nowhere(
    given: dict[str, Any], reference: Reference, has_name: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The key, and the configuration with its name replaced, for each entry that has one, or that may have one."""
    section, key = given.get(reference.section) or {}, reference.key
    name: Any = {"nowhere": FILES[key]} if key in FILES else "nowhere"
    keys = key.split(".") if key else []
    if key == "files":
        if has_name:
            yield f"{reference.section}.files", {**given, reference.section: renamed(section, keys, name)}
        return
    for entry, described in section.items():
        if has_key(described, keys) is not has_name:
            continue
        changed = {**section, entry: renamed(described, keys, name)}
        yield ".".join([reference.section, entry, *keys]), {**given, reference.section: changed}


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda r: f"{r.section} {r.key} {r.target}")
def test_a_name_that_leads_nowhere_is_refused_with_its_key(reference: Reference) -> None:
    for has_name, overlay in product((True, False), OVERLAYS):
        for key, changed in with_a_name_that_leads_nowhere(shipped(overlay), reference, has_name):
            try:
                parse_config(changed)
            except ConfigError as error:
                if f"- {key}: 'nowhere' is not in {reference.target}; " in str(error):
                    return
    pytest.fail("no entry with such a name is refused")
