"""One YAML file of the configuration as a mapping; a fault in it is one message with file and line."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from irpretrain.foundation.errors import ConfigError, one_line
from irpretrain.foundation.yaml_scalars import read_core_scalars

# The largest configuration here, with everything written out, has 0.3 MB. Some files of /proc have no end.
MAX_BYTES = 4 << 20

_MERGE = "tag:yaml.org,2002:merge"


class _LostKeys(yaml.MarkedYAMLError):
    """YAML would drop keys without a word: of a key that stands twice, or of a mapping that replaces a merged one."""


class StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2; raises `yaml.YAMLError` where YAML would drop a key."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._lost: dict[tuple[int, int], list[str]] = {}

    def check_printable(self, data: str) -> None:
        """Raise an error that has a line, unlike PyYAML's, for a character that YAML does not allow."""
        try:
            super().check_printable(data)
        except yaml.reader.ReaderError as error:
            mark = yaml.Mark("", error.position, data.count("\n", 0, error.position), 0, None, 0)
            raise yaml.MarkedYAMLError(
                problem=f"the character U+{error.character:04X} is not allowed", problem_mark=mark
            ) from None

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

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping with its merged keys, which come first."""
        # PyYAML's own writes shared merges many times, and from 6.0.4 on the last of several mappings wins.
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError(
                None, None, f"a mapping is needed, not a {node.id}", node.start_mark
            )
        self._refuse_repeated(node)
        direct_pairs = [(key, value) for key, value in node.value if key.tag != _MERGE]
        direct_node = yaml.MappingNode(node.tag, direct_pairs, node.start_mark, node.end_mark)
        direct_values = yaml.constructor.BaseConstructor.construct_mapping(self, direct_node, deep=True)
        pairs, merges = dict(direct_values), list(self._merges(node))
        for mapping, merge in merges:
            for name, value in mapping.items():
                kept_value = pairs.setdefault(name, value)  # the first that has a key counts
                if lost_keys := self._lost_keys(kept_value, value):
                    marks = [key.start_mark for key, _ in direct_pairs if self.construct_object(key) == name]
                    mark = (marks or [merge.start_mark])[0]
                    raise _LostKeys(problem=_lost_text(str(name), lost_keys), problem_mark=mark)
        names = [name for mapping, _ in reversed(merges) for name in mapping]
        return {name: pairs[name] for name in dict.fromkeys([*names, *direct_values])}

    def _refuse_repeated(self, node: yaml.MappingNode) -> None:
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

    def _merges(self, node: yaml.MappingNode) -> Iterator[tuple[dict[Any, Any], yaml.Node]]:
        for key, value in node.value:
            if key.tag == _MERGE:
                for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if not isinstance(mapping, yaml.MappingNode):
                        raise yaml.constructor.ConstructorError(
                            None, None, "<< needs a mapping, or a list of mappings", mapping.start_mark
                        )
                    yield self.construct_object(mapping, deep=True), key

    def _lost_keys(self, kept_value: Any, replaced_value: Any) -> list[str]:
        """Return the keys of a replaced mapping, dotted where they are inner ones, that the retained one lacks."""
        if kept_value is replaced_value or not (
            isinstance(kept_value, dict) and isinstance(replaced_value, dict)
        ):
            return []
        pair_key = id(kept_value), id(replaced_value)
        if pair_key not in self._lost:  # what many merges share is looked at once
            lost_keys = list[str]()
            for name, value in replaced_value.items():
                if name not in kept_value:
                    lost_keys.append(str(name))
                else:
                    lost_keys += (
                        f"{name}.{inner_key}" for inner_key in self._lost_keys(kept_value[name], value)
                    )
            self._lost[pair_key] = lost_keys
        return self._lost[pair_key]


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
    try:
        content = StrictLoader(_read_text(path)).get_single_data()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such configuration file") from None
    except OSError as error:
        raise ConfigError(f"{path}: the file cannot be opened: {error.strerror or error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: this is not valid YAML: it is nested too deeply") from None
    except _LostKeys as error:
        raise ConfigError(f"{_location(path, error)}: {error.problem}") from None
    except yaml.MarkedYAMLError as error:
        message = one_line(ValueError(f"{error.context or ''} {error.problem or ''}"))
        raise ConfigError(f"{_location(path, error)}: this is not valid YAML: {message}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: this is not valid YAML: {one_line(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: the file must hold a mapping from keys to values")
    return content


def _open_at_once(path: str, flags: int) -> int:
    """Open a file whose reading never waits, as that of some files of /proc would."""
    return os.open(path, flags | os.O_NONBLOCK)


def _read_text(path: Path) -> str:
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe waits, and a device never ends
        path_kind = "a folder" if os.path.isdir(path) else "a pipe or a device"
        raise ConfigError(f"{path}: this is {path_kind}, not a configuration file; name a YAML file")
    with open(path, "rb", opener=_open_at_once) as file:
        content = file.read(MAX_BYTES + 1)
    if content is None:  # there would be something to read later
        raise ConfigError(f"{path}: this file has no end, so it is no configuration; check the path")
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
