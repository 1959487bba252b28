"""Files that are one JSON value, or one JSON object a line: shared by formats of all kinds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.corpora.checked import converted
from irpretrain.corpora.files import DAMAGE, FieldLine, Line, damage_text, open_bytes, read_lines
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


def read_objects(path: Path, share: Share = everything) -> Iterator[FieldLine | Malformed]:
    """Yield the objects of a share's lines; a position is a line's number less 1."""
    return converted(read_lines(path, share=share), _parse)


def _parse(line: Line) -> FieldLine | Malformed:
    try:
        fields = json.loads(line.text)
    except RecursionError:
        return line.malformed("not valid JSON", "nested too deeply")
    except ValueError as error:
        return line.malformed("not valid JSON", str(error))
    if not isinstance(fields, dict):
        return line.malformed("not a JSON object", line.text[:40])
    return FieldLine(line.position, line.number, fields)
