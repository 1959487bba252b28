"""One YAML file of the configuration as a mapping; a fault in it is one message with file and line."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from irpretrain.errors import ConfigError, one_line


class _Repeated(yaml.MarkedYAMLError):
    """A key stands twice in a mapping, of which YAML would keep the second alone."""


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        lines = dict[str, int]()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            line = key.start_mark.line + 1
            if (first := lines.setdefault(key.value, line)) != line:
                raise _Repeated(
                    problem=f"{key.value} is already in line {first}", problem_mark=key.start_mark
                )
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the content of a file.

    Raises:
        ConfigError: there is no such file, it is no valid YAML, a key stands twice, or it holds no mapping.
    """
    try:
        content = _Loader(_text(path)).get_single_data()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such configuration file") from None
    except OSError as error:
        raise ConfigError(f"{path}: the file cannot be opened: {error.strerror or error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: this is not valid YAML: it is nested too deeply") from None
    except _Repeated as error:
        raise ConfigError(f"{_place(path, error)}: {error.problem}; join the two") from None
    except yaml.MarkedYAMLError as error:
        told = one_line(ValueError(f"{error.context or ''} {error.problem or ''}"))
        raise ConfigError(f"{_place(path, error)}: this is not valid YAML: {told}") from None
    except (
        yaml.YAMLError,
        ValueError,
    ) as error:  # ValueError: of dates, numbers with thousands of digits
        raise ConfigError(f"{path}: this is not valid YAML: {one_line(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: the file must hold a mapping from keys to values")
    return content


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: this is not UTF-8: {one_line(error)}; save the file as UTF-8"
        ) from None


def _place(path: Path, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{path}:{mark.line + 1}" if mark else str(path)
