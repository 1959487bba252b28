"""TREC CAR (Dietz et al., 2017): paragraphs of Wikipedia as documents, its outlines as topics, both in CBOR.

A file is a header `["CAR", [type], provenance]` and a list of unknown length, or, in old releases, the items alone. A
paragraph is `[0, id, [body, ...]]`, a body a text `[0, text]` or a link `[1, [_, page, [section], target, anchor]]`. A
page of an outline is `[tag, name, id, [part, ...], ...]`, a section among its parts `[0, heading, id, [part, ...]]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.corpora.cbor import CborError, CborReader
from irpretrain.corpora.files import DAMAGE, open_bytes, refuse_if_disk_fault
from irpretrain.corpora.records import Malformed

GET_AGAIN = "Get the file again and compare its checksum"
KINDS = {0: "articles", 1: "outlines", 2: "paragraphs"}


def read_items(path: Path, kind: int) -> Iterator[tuple[int, Any] | Malformed]:
    """Yield the items of a file with their numbers, from 0; a fault ends it: nothing tells where the next item begins.

    Args:
        path: the file, perhaps compressed.
        kind: key of `KINDS`: what the file must hold by its header, if it has one.
    """
    number = 0
    with open_bytes(path) as stream:
        reader = CborReader(stream)
        try:
            for item in _items(reader, kind):
                if isinstance(item, Malformed):
                    yield item
                    return
                yield number, item
                number += 1
        except CborError as error:
            where = _place(number, error.byte)
            yield Malformed(number, "broken CBOR", error.reason, None, where, GET_AGAIN, loses_more=True)
        except DAMAGE as error:
            refuse_if_disk_fault(path, error)
            detail = " ".join(str(error).split()) or type(error).__name__
            where = _place(number, reader.byte)
            yield Malformed(number, "damaged archive", detail, None, where, GET_AGAIN, loses_more=True)


def _items(reader: CborReader, kind: int) -> Iterator[Any]:
    try:
        first = reader.item()
    except EOFError:
        yield Malformed(0, "no CAR file", "the file is empty", place="its beginning", remedy=GET_AGAIN)
        return
    if not (isinstance(first, list) and first[:1] == ["CAR"]):
        yield first
        yield from reader.items()
        return
    holds = first[1][0] if len(first) > 1 and isinstance(first[1], list) and first[1] else None
    if holds != kind:
        contents = KINDS.get(holds, "something else") if isinstance(holds, int) else "something else"
        remedy = f"Give the file of {KINDS[kind]}"
        yield Malformed(0, "another CAR file", f"it holds {contents}", place="its header", remedy=remedy)
        return
    if not reader.open_list():
        yield Malformed(0, "no CAR file", "no list follows the header", place="its header", remedy=GET_AGAIN)
        return
    yield from reader.items()


def _place(number: int, byte: int) -> str:
    return f"item {number + 1}, byte {byte:,}"


def identifier(value: Any) -> str | None:
    """Return an identifier, which is bytes or a text; None for anything else."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None
