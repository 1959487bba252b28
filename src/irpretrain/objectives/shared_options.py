"""Options that several objectives share."""

from typing import Any, get_args

from pydantic import model_validator

from irpretrain.config.base import Section, option
from irpretrain.config.papers import fill_objective


class PresetOptions(Section):
    """Options of an objective of one type whose keys a preset fills, so that `Options(preset="paper")` is whole."""

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: Any) -> Any:
        if not (isinstance(values, dict) and isinstance(values.get("preset"), str)):
            return values
        (kind,) = get_args(cls.model_fields["type"].annotation)
        return fill_objective(kind, values["preset"], {"type": kind, **values})


class AnchorOptions(Section):
    """What HARP's four objectives share."""

    groups_per_document: int | None = option(4, "Maximum groups per article; null: all.", unit="groups", ge=1)
