"""Plain words of YAML, read by YAML 1.2's core schema (section 10.3.2): `off` is a text, 0200 is 200.

PyYAML reads YAML 1.1, in which `no` is false, 0200 is 128, 3:20 is 200 and 1e5 is a text.
"""

import re
from typing import Any

import yaml

_NULL, _BOOL, _INT, _FLOAT = (f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float"))

# Tag → pattern of the whole word, and the characters that it begins with.
_CORE = {
    _NULL: (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    _BOOL: (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    _INT: (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    _FLOAT: (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    # Of YAML 1.1, but in wide use.
    "tag:yaml.org,2002:merge": ("<<", ["<"]),
}


def read_core_scalars(loader: Any) -> Any:
    """Let a loader class of PyYAML read plain words by the core schema; return the class."""
    loader.yaml_implicit_resolvers = {}
    add_core_scalars(loader)
    loader.add_constructor(_INT, _construct_int)
    return loader


def add_core_scalars(resolver: Any) -> None:
    for tag, (pattern, beginnings) in _CORE.items():
        resolver.add_implicit_resolver(tag, re.compile(rf"(?:{pattern})\Z"), beginnings)


def _construct_int(loader: Any, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


class _Dumper(yaml.SafeDumper):
    """Quotes texts that YAML 1.1 or the core schema would read as something else, such as the file name 08."""


add_core_scalars(_Dumper)


def dump_yaml(value: Any, width: int | None = None) -> str:
    """Return a value as YAML that readers of YAML 1.1 and 1.2 read alike."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=width)
    return text
