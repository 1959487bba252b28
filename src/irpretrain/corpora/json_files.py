"""Files that are one JSON value, or one JSON object a line: shared by formats of all kinds."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.files import DAMAGE, Line, damage_text, open_bytes, read_lines
from irpretrain.corpora.records import Malformed, Share, everything

LARGEST = 256 << 20
"""Bytes. A larger file is malformed: it is held in memory as a whole."""


def read_json(path: Path) -> Any | Malformed:
    """Return the value of a file, or why it is none; then all records of the file are lost."""
    try:
        with open_bytes(path) as stream:
            content = stream.read(LARGEST + 1)
            if len(content) > LARGEST:
                return Malformed(0, "file too large", f"more than {LARGEST:,} bytes", loses_more=True)
            return json.loads(content)
    except DAMAGE as error:
        return Malformed(0, "damaged archive", damage_text(path, error), loses_more=True)
    except RecursionError:
        return Malformed(0, "not valid JSON", "nested too deeply", loses_more=True)
    except json.JSONDecodeError as error:
        return Malformed(0, "not valid JSON", error.msg, error.lineno, loses_more=True)
    except ValueError as error:
        return Malformed(0, "not valid JSON", str(error), loses_more=True)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One object and its place."""

    position: int
    line: int
    record: dict[str, Any]


def read_objects(path: Path, share: Share = everything) -> Iterator[JsonLine | Malformed]:
    """Yield the objects of a share's lines; a position is a line's number less 1."""
    for line in read_lines(path, share=share):
        yield line if isinstance(line, Malformed) else _parse(line)


def _parse(line: Line) -> JsonLine | Malformed:
    position = line.number - 1
    try:
        record = json.loads(line.text)
    except RecursionError:
        return Malformed(position, "not valid JSON", "nested too deeply", line.number)
    except ValueError as error:
        return Malformed(position, "not valid JSON", str(error), line.number)
    if not isinstance(record, dict):
        return Malformed(position, "not a JSON object", line.text[:40], line.number)
    return JsonLine(position, line.number, record)
