"""What all sections share: unknown keys are refused, values cannot be changed after loading."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of every section of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, protected_namespaces=())


def changed_keys(section: Section, others: tuple[str, ...]) -> list[str]:
    """Return the keys of a section, but for `others`, that have another value than their default."""
    fields = ((key, field) for key, field in type(section).model_fields.items() if key not in others)
    return [k for k, field in fields if getattr(section, k) != field.get_default(call_default_factory=True)]
