"""The file of a calibrated temperature, as far as those who draw at it need it."""

from __future__ import annotations

import json
from pathlib import Path

from irpretrain.errors import IntegrityError


def read_temperature(path: str | Path) -> float:
    """Return the temperature in a file that `irpretrain.axioms.calibration` wrote.

    Raises:
        IntegrityError: the file holds no temperature above 0.
    """
    try:
        temperature = float(json.loads(Path(path).read_text(encoding="utf-8"))["temperature"])
        if not temperature > 0:
            raise ValueError(f"{temperature} is not above 0")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            path,
            f"this is not a calibrated temperature: {type(error).__name__}: {error}",
            remedy="Delete it and run the workflow again.",
        ) from None
    return temperature
