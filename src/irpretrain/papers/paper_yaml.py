"""A paper's YAML files in the resources: read, checked, and called after the paper."""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from irpretrain.config.explain import listed_faults
from irpretrain.errors import InputError
from irpretrain.resources import parse_yaml

Content = TypeVar("Content", bound=BaseModel)


def load_paper_yaml(path: str | Path, shape: type[Content], what: str) -> Content:
    """Read and check a file, whose content is called `what`; raise InputError with every fault."""
    try:
        content: Any = parse_yaml(Path(path).read_text(encoding="utf-8"))
        return shape.model_validate(content)
    except (OSError, yaml.YAMLError) as error:
        raise InputError(path, f"cannot be read: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise InputError(path, f"these {what} cannot be used: {listed_faults(error)}") from None


def check_paper(path: Path, paper: str) -> None:
    """Raise InputError where a file is called after another paper than its content names."""
    if paper != path.stem:
        raise InputError(
            path,
            f"`paper` is {paper!r}, but the file's name says {path.stem!r}",
            remedy="Give both the same name.",
        )
