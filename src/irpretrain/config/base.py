"""What all sections share: unknown keys are refused, values cannot be changed after loading."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of every section of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, protected_namespaces=())
