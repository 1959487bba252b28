"""JSON files that a user gives: read whole, or refused with one message."""

import json
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError

NESTED = "it is nested too deeply"


def read_given_json(path: str | Path, remedy: str = "") -> Any:
    """Return the value of a JSON file.

    Raises:
        InputError: the file is missing, cannot be opened, is not UTF-8 or not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(path, "there is no such file", remedy=remedy) from None
    except OSError as error:
        raise InputError(
            path, f"the file cannot be opened: {error.strerror or error}", remedy=remedy
        ) from None
    except RecursionError:
        raise InputError(path, f"this is not JSON: {NESTED}", remedy=remedy) from None
    except ValueError as error:  # of JSON, of UTF-8, and of numbers with thousands of digits
        raise InputError(path, f"this is not JSON: {error}", getattr(error, "lineno", None), remedy) from None
