"""Files that are one JSON value: shared by formats of judgements, topics and single documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from irpretrain.corpora.files import DAMAGE, open_bytes, refuse_if_disk_fault
from irpretrain.corpora.records import Malformed

LARGEST = 256 << 20
"""Bytes. A larger file is malformed: it is held in memory as a whole."""


def read_json(path: Path) -> Any | Malformed:
    """Return the value of a file, or why it is none."""
    try:
        with open_bytes(path) as stream:
            content = stream.read(LARGEST + 1)
            if len(content) > LARGEST:
                return Malformed(0, "file too large", f"more than {LARGEST:,} bytes")
            return json.loads(content)
    except DAMAGE as error:
        refuse_if_disk_fault(path, error)
        return Malformed(0, "damaged archive", " ".join(str(error).split()))
    except RecursionError:
        return Malformed(0, "not valid JSON", "nested too deeply")
    except json.JSONDecodeError as error:
        return Malformed(0, "not valid JSON", error.msg, error.lineno)
    except ValueError as error:
        return Malformed(0, "not valid JSON", str(error))
