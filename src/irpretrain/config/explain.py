"""The faults that pydantic finds in a section, in the words of the configuration."""

from __future__ import annotations

import re
import reprlib
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from irpretrain.errors import ConfigError
from irpretrain.near_names import did_you_mean, instead_of
from irpretrain.wording import worded

Model = TypeVar("Model", bound=BaseModel)
SHOWN = reprlib.Repr()
"""How a refused value is shown: with YAML's aliases a few lines can make one that has billions of parts."""
SHOWN.maxlevel, SHOWN.maxstring, SHOWN.maxother, SHOWN.maxlong = 3, 200, 200, 60
SHOWN.maxlist = SHOWN.maxtuple = SHOWN.maxset = SHOWN.maxdict = 8


def explain(model: type[Model], given: dict[str, Any], source: str, top: bool = False) -> Model:
    """Validate, and turn pydantic's errors into one ConfigError that names each key and how to mend it."""
    try:
        return model.model_validate(given)
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{source}: {error.object!a} contains half of a character; write the whole character"
        ) from None
    except ValidationError as error:
        if top:
            raise explained(model, error, source) from None
        raise ValueError(f"{source}: " + "; ".join(_faults(model, error))) from None


def explained(model: type[BaseModel], error: ValidationError, source: str) -> ConfigError:
    """Return pydantic's errors of a model as one ConfigError."""
    faults = _faults(model, error)
    where = worded("the configuration", "the options")
    heading = f"{source}: {len(faults)} fault{'s' if len(faults) > 1 else ''} in {where}"
    listed = (f"  - {fault}" for fault in faults)
    return ConfigError("\n".join([heading, *listed, "  docs/reference/config lists every key."]))


def _faults(model: type[BaseModel], error: ValidationError) -> list[str]:
    """Return a text for each fault; a line of a message that is indented goes on with the fault before it."""
    return [part for fault in error.errors() for part in re.split(r"\n(?! )", _fault(model, fault))]


def listed_faults(error: ValidationError) -> str:
    """Return pydantic's own words on what is wrong, each fault with its key."""
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())


def _fault(model: type[BaseModel], fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"])
    kind, value = fault["type"], fault.get("input")
    if kind == "extra_forbidden":
        keys = _keys_at(model, fault["loc"][:-1])
        return f"{where}: unknown key; {instead_of(str(fault['loc'][-1]), keys, 'known are')}"
    if kind == "missing":
        return f"{where}: is missing"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if kind == "value_error":
        return f"{where}: {message}" if where else message
    meant = did_you_mean(value, _allowed(fault)) if kind == "literal_error" and isinstance(value, str) else ""
    return "; ".join(filter(None, [f"{where}: {message}", f"given was {SHOWN.repr(value)}", meant]))


def _allowed(fault: Any) -> list[str]:
    """Return the texts that pydantic says a key allows."""
    return re.findall(r"'([^']*)'", fault["ctx"]["expected"])


def _keys_at(model: Any, location: tuple[Any, ...]) -> list[str]:
    """Field names of the section that a pydantic error location leads to."""
    for part in location:
        fields = getattr(model, "model_fields", {})
        annotation = fields[part].annotation if part in fields else model
        candidates = [annotation, *get_args(annotation)]
        sections = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        model = sections[0] if sections else model
    return list(getattr(model, "model_fields", {}))
