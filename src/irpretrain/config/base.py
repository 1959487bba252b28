"""What all sections share: unknown keys are refused, values cannot be changed after loading."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Section(BaseModel):
    """Base of every section of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _refuse_truth_values_as_numbers(cls, values: Any) -> Any:
        # pydantic takes true for 1.
        for key, value in values.items() if isinstance(values, dict) else ():
            if isinstance(value, bool) and key in cls.model_fields:
                annotation = cls.model_fields[key].annotation
                if set(get_args(annotation) or (annotation,)) <= {int, float, NoneType}:
                    raise ValueError(f"{key}: a number is needed, not {str(value).lower()}")
        return values


def option(
    default: Any = ..., description: str = "", *, unit: str = "", decides: bool = True, **others: Any
) -> Any:
    """Return a key of a section: pydantic's `Field`, with what the key means and the unit of its value.

    The default `...` makes the key required; `others` are limits of the value, and whatever else `Field` takes. A key
    that `decides` nothing changes no result: how fast a job is, how much it says, what a table calls it.
    """
    start = {} if "default_factory" in others else {"default": default}
    extra: Any = {"unit": unit} if unit else {}
    if not decides:
        extra["decides"] = False
    return Field(**start, description=description, json_schema_extra=extra or None, **others)


def deciding(section: BaseModel, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the values of a section without the keys that decide nothing, at any depth.

    Args:
        values: those of them that matter; all by default.
    """
    values = section.model_dump() if values is None else values
    chosen: dict[str, Any] = {}
    for key, value in values.items():
        extra = type(section).model_fields[key].json_schema_extra
        if not isinstance(extra, dict) or extra.get("decides", True):
            part = getattr(section, key)
            chosen[key] = deciding(part, value) if isinstance(part, BaseModel) else value
    return chosen


def changed_keys(section: Section, others: tuple[str, ...]) -> list[str]:
    """Return the keys of a section, but for `others`, that have another value than their default."""
    fields = ((key, field) for key, field in type(section).model_fields.items() if key not in others)
    return [k for k, field in fields if getattr(section, k) != field.get_default(call_default_factory=True)]


def leaves(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what is no mapping, with its path: `masking.unit`."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def deep_merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `over` laid over it: mappings are merged, anything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = deep_merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result
