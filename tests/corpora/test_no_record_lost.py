"""No record vanishes in silence: whatever byte is damaged, fewer records come with a fault that says so."""

import random
import re
from itertools import accumulate
from pathlib import Path

import pytest
from packings import PACKINGS
from sound_files import RECORDS, SOUND

from irpretrain.corpora.registry import format_of
from irpretrain.foundation import records
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import Document, Malformed, Query, Share, Skipped
from irpretrain.wikipedia.dump import read_site
from irpretrain.wikipedia.pages import Fault, Page, read_pages


def packed_streams(packing: str, data: bytes) -> list[bytes]:
    """Data packed in three streams, as parallel packers and `cat` make them."""
    step = len(data) // 3 + 1
    return [PACKINGS[packing](data[at : at + step]) for at in range(0, len(data), step)]


UNPACKED = {"parquet"}
"""Formats whose files are not packed."""


def read(kind: str, name: str, path: Path, share: Share | None = None) -> tuple[int, int]:
    """Return how many records and how many faults a file has; text that is left out and counted is a fault."""
    try:
        if name == "wikipedia-dump":  # its pages: the parser of wikitext is another process
            read_site(piece.text for piece in read_pieces(path, Share()) if hasattr(piece, "text"))
            entries = list(read_pages(read_pieces(path, share or Share()), 1000))
            return sum(isinstance(e, Page) for e in entries), sum(isinstance(e, Fault) for e in entries)
        module = format_of(kind, name)
        arguments = () if share is None else (share,)
        entries = list(module.read(path, module.options(), *arguments))
    except InputError:
        return 0, 1
    except Exception as error:
        if type(error).__module__ == "irpretrain.wikipedia.dump":  # refused by the caller
            return 0, 1
        raise
    sound = sum(isinstance(entry, Document | Query) for entry in entries)
    return sound, sum(isinstance(entry, Malformed | Skipped) for entry in entries)


def mutated(data: bytes, tokens: list[bytes], draw: random.Random) -> bytes:
    """Change, delete or repeat a few bytes, or put a token of the format in their place."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        location = draw.randrange(len(changed))
        kind = draw.randrange(5)
        if kind == 0:
            changed[location] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del changed[location : location + draw.randint(1, 6)]
        elif kind == 2:
            changed[location:location] = changed[location : location + draw.randint(1, 12)]
        elif kind == 3:
            changed[location : location + draw.randint(0, 4)] = draw.choice(tokens)
        else:
            changed[location] = draw.randrange(256)
    return bytes(changed)


def marks(name: str, data: bytes) -> int:
    """Return how many records can be there, counted without a parser."""
    if name in ("tsv", "jsonl", "colon"):  # a line whose end is gone leaves no trace but its columns
        return sum(bool(line.strip()) for line in data.split(b"\n"))
    if name == "smart":
        records = re.split(rb"^\.I\b", data, flags=re.MULTILINE)
        # A field that is repeated word for word is one field.
        texts = [{t.strip() for t in re.split(rb"^\.W\s*$", r, flags=re.MULTILINE)[1:]} for r in records]
        return max(len(records) - 1, sum(map(len, texts)))
    if name == "cord19":
        return len(re.findall(rb"^[0-9a-z]{8},", data, re.MULTILINE))
    return RECORDS


def damaged(
    name: str, data: bytes, packing: str, tokens: list[bytes], draw: random.Random
) -> tuple[bytes, int]:
    """Data that are damaged before or after they are packed, or cut off; and how many records they have."""
    if packing == "plain" or draw.random() < 0.5:
        changed = mutated(data, tokens, draw)
        packed = b"".join(packed_streams(packing, changed))
        return packed, min(RECORDS, marks(name, changed) - data.startswith(b"id\t"))
    streams = packed_streams(packing, data)
    packed = b"".join(streams)
    ends = set(accumulate(map(len, streams)))
    location = draw.choice([location for location in range(12, len(packed)) if location not in ends])
    if packing == "zstandard" or draw.random() < 0.3:  # Arrow writes Zstandard without checksums
        return packed[:location], RECORDS
    # The first bytes tell how the file is packed.
    return packed[:location] + bytes([packed[location] ^ 1 << draw.randrange(8)]) + packed[
        location + 1 :
    ], RECORDS


CASES = [
    (kind, name, packing)
    for kind, name in SOUND
    for packing in PACKINGS
    if kind in ("documents", "topics") and name != "csv"  # a wrong quotation mark may join its rows
    if packing == "plain" or name not in UNPACKED
]


def check(kind: str, name: str, packing: str, inputs: int, path: Path) -> list[bytes]:
    """Return the inputs that lose a record without a word."""
    sound = SOUND[kind, name]
    path.write_bytes(b"".join(packed_streams(packing, sound)))
    assert read(kind, name, path) == (RECORDS, 0)
    tokens = sorted(set(re.findall(rb"[<{.\[/A-Za-z-]+[>:\s]?|\n", sound)))
    draw = random.Random(f"{kind} {name} {packing}")
    lost = []
    for _ in range(inputs):
        data, expected = damaged(name, sound, packing, tokens, draw)
        path.write_bytes(data)
        found, faults = read(kind, name, path)
        if found < expected and not faults:
            lost.append(data)
        if kind == "documents":
            parts = [read(kind, name, path, Share(number, 3)) for number in range(3)]
            assert sum(part[0] for part in parts) == found, data
    return lost


@pytest.mark.parametrize("inputs", [5, pytest.param(20_000 // len(CASES) + 1, marks=pytest.mark.deep)])
@pytest.mark.parametrize(("kind", "name", "packing"), CASES)
def test_damage_loses_no_record_in_silence(kind, name, packing, inputs, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "BLOCK_RECORDS", 2)
    assert check(kind, name, packing, inputs, tmp_path / "input") == []


TWO_RECORDS = {
    "a border is damaged and tags are small": (
        "documents",
        "trectext",
        "<DOC>\n<docno>a</docno>\none\n</DOC>\n<DO>\n<docno>b</docno>\ntwo\n</DOC>\n",
    ),
    "a line end is lost": (
        "judgements",
        "letor",
        "1 qid:1 1:0.5 #docid = a inc = 1 prob = 0.5" * 2 + "\n",
    ),
}


@pytest.mark.parametrize("case", TWO_RECORDS)
def test_two_records_in_one_are_a_fault(case, tmp_path):
    kind, name, content = TWO_RECORDS[case]
    (tmp_path / "a").write_bytes(content.encode())
    module = format_of(kind, name)
    assert [r for r in module.read(tmp_path / "a", module.options()) if isinstance(r, Malformed)]


def test_records_of_warc_with_content_that_is_no_response_are_counted(tmp_path):
    (tmp_path / "a").write_bytes(b"WARC/1.0\nWARC-Type: conversion\nContent-Length: 3\n\none\n\n")
    module = format_of("documents", "warc")
    [skipped] = module.read(tmp_path / "a", module.options())
    assert skipped.reason == "conversion record, which is no response"
