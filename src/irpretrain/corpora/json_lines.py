"""JSON objects, one a line: shared by documents and topics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.files import Line, read_lines
from irpretrain.corpora.records import Malformed, Wanted, everything


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One object and its place."""

    position: int
    line: int
    record: dict[str, Any]


def read_objects(path: Path, wanted: Wanted = everything) -> Iterator[JsonLine | Malformed]:
    """Yield the objects of the lines whose position (line number less 1) is wanted."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            if wanted(line.position):
                yield line
        elif wanted(line.number - 1):
            yield _parse(line)


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
