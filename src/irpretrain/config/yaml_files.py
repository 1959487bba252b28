"""One YAML file of the configuration as a mapping; a fault in it is one message with file and line."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from irpretrain.foundation.errors import ConfigError, one_line
from irpretrain.foundation.yaml_scalars import read_core_scalars

# The largest configuration here, with everything written out, has 0.3 MB.
MAX_BYTES = 4 << 20

_MERGE = "tag:yaml.org,2002:merge"


class _LostKeys(yaml.MarkedYAMLError):
    """YAML would drop keys without a word: of a key that stands twice, or of a mapping that replaces a merged one."""


class StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2; raises `yaml.YAMLError` where YAML would drop a key."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.deep_construct = True  # so that a mapping within itself is an error

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: yaml.Mark) -> list[str]:
        try:
            characters: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
        except (OverflowError, ValueError):  # of chr
            raise yaml.scanner.ScannerError(
                None, None, "an escape names no character", self.get_mark()
            ) from None
        return characters

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return a value; YAMLError with the line where a tag does not suit it, for which PyYAML has no message."""
        try:
            return super().construct_object(node, deep)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            reason = f": {error}" if isinstance(error, ValueError) else ""
            raise yaml.constructor.ConstructorError(
                None, None, f"this is no {tag}{reason}", node.start_mark
            ) from None

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        line_of_key = dict[Any, int]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                value = key.value if key.tag == _MERGE else self.construct_object(key)
                for spelling in (value, str(value)):  # 1, 0x1 and "1" name one entry
                    if spelling in line_of_key:
                        raise _LostKeys(
                            problem=f"{key.value} is already in line {line_of_key[spelling]}; join the two",
                            problem_mark=key.start_mark,
                        )
                line_of_key[value] = line_of_key[str(value)] = key.start_mark.line + 1
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put merged pairs before a mapping's own, as PyYAML does, and keep only the last pair of each key."""
        own_keys = [key for key, _ in node.value]
        super().flatten_mapping(node)
        last_pairs = {str(key.value): (key, value) for key, value in node.value}
        for key, value in node.value:
            last_key, last_value = last_pairs[str(key.value)]
            if lost_keys := list(self._lost_keys(last_value, value)):
                mark = (last_key if last_key in own_keys else node).start_mark
                raise _LostKeys(problem=_lost_text(key.value, lost_keys), problem_mark=mark)
        node.value = list(last_pairs.values())

    def _lost_keys(self, kept_node: yaml.Node, replaced_node: yaml.Node) -> Iterator[str]:
        """Yield the keys of a replaced mapping, dotted where they are inner ones, that the retained one lacks."""
        if kept_node is replaced_node:
            return
        if not (isinstance(kept_node, yaml.MappingNode) and isinstance(replaced_node, yaml.MappingNode)):
            return
        self.flatten_mapping(kept_node)
        self.flatten_mapping(replaced_node)
        kept_values = {str(key.value): value for key, value in kept_node.value}
        for key, value in replaced_node.value:
            if (kept_value := kept_values.get(str(key.value))) is None:
                yield str(key.value)
            else:
                yield from (f"{key.value}.{inner_key}" for inner_key in self._lost_keys(kept_value, value))


read_core_scalars(StrictLoader)
# The core schema has none of these types. A set has another order in each process.
for _tag in ("binary", "omap", "pairs", "set", "timestamp"):
    del StrictLoader.yaml_constructors[f"tag:yaml.org,2002:{_tag}"]


def _lost_text(name: str, lost_keys: list[str]) -> str:
    """A merge (`<<`) joins the outer level only: a mapping that replaces a merged one may lack keys of it."""
    return (
        f"{name} replaces the {name} that << brings, so {', '.join(lost_keys)} would be lost; "
        f"repeat {'it' if len(lost_keys) == 1 else 'them'}, or name the replaced mapping with an anchor (&name) and "
        "begin with <<: *name here too"
    )


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the content of a file.

    Raises:
        ConfigError: the file is missing or invalid YAML, a key occurs twice or a merge would lose it, or it holds no
            mapping.
    """
    text = _read_text(path)
    try:
        content = StrictLoader(text).get_single_data()
    except RecursionError:
        raise ConfigError(f"{path}: this is not valid YAML: it is nested too deeply") from None
    except _LostKeys as error:
        raise ConfigError(f"{_location(path, error)}: {error.problem}") from None
    except yaml.MarkedYAMLError as error:
        message = one_line(ValueError(f"{error.context or ''} {error.problem or ''}"))
        raise ConfigError(f"{_location(path, error)}: this is not valid YAML: {message}") from None
    except yaml.reader.ReaderError as error:  # which has no line
        line = text.count("\n", 0, error.position) + 1
        fault = f"the character U+{error.character:04X} is not allowed"
        raise ConfigError(f"{path}:{line}: this is not valid YAML: {fault}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: the file must hold a mapping from keys to values")
    return content


def _read_text(path: Path) -> str:
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe waits, and a device never ends
        path_kind = "a folder" if os.path.isdir(path) else "a pipe or a device"
        raise ConfigError(f"{path}: this is {path_kind}, not a configuration file; name a YAML file")
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such configuration file") from None
    except OSError as error:
        raise ConfigError(f"{path}: the file cannot be opened: {error.strerror or error}") from None
    if len(content) > MAX_BYTES:
        raise ConfigError(
            f"{path}: the file is larger than {MAX_BYTES >> 20} MB, so it is no configuration; check the path"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: this is not UTF-8: {one_line(error)}; save the file as UTF-8"
        ) from None


def _location(path: Path, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{path}:{mark.line + 1}" if mark else str(path)
