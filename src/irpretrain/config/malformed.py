"""How many records may be malformed."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from irpretrain.config.base import Section, option

WORDS = {"refuse": 0.0, "skip": 1.0}
"""Short for a share."""


class MalformedConfig(Section):
    """Limit of malformed records; `skip` is short for {skip: 1}, `refuse` for {skip: 0}."""

    skip: float = option(
        0.0,
        "Share of records that may be malformed; a larger share stops the run. Below 1, damaged archives stop it too.",
        ge=0,
        le=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, given: Any) -> Any:
        if isinstance(given, str):
            if given not in WORDS:
                raise ValueError(
                    f"{given!r} must be refuse, skip, or a share of the records such as {{skip: 0.001}}"
                )
            return {"skip": WORDS[given]}
        return given
