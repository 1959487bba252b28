"""TREC CAR: paragraphs and outlines in CBOR, with and without header."""

import gzip
import lzma

import pytest
from cbor2 import dumps

from irpretrain.foundation import records
from irpretrain.foundation.records import Document, Malformed, Query, Skipped


def link(anchor: str, page: str = "Sea", section: str | None = None) -> list:
    return [1, [0, page, [] if section is None else [section], b"enwiki:Sea", anchor]]


PARAGRAPHS = [
    [0, b"0000000e7e72cafb61a9f356b7dceb25c5e028db", [[0, "The "], link("sea"), [0, " is deep – very."]]],
    [0, b"00000047dc43083f49b68399c6deeed5c0e81c1f", [link("Ocean", section="Deep")]],
    [0, b"000002e5a3aa90f5e3a9f6cd1a0f7cfca4cd4ee6", []],
]
OUTLINES = [
    [
        0, "Green sea turtle", b"enwiki:Green%20sea%20turtle",
        [
            [1, PARAGRAPHS[0]],
            [0, "Habitat", b"Habitat", [[0, "Nesting sites", b"Nesting%20sites", []], [2, "x.png", []]]],
            [0, "Diet", b"Diet", []],
        ],
        [0], [[[0], []]],
    ],
    [0, "Sea", b"enwiki:Sea", [[0, "Depth", b"Depth", []]]],
]  # fmt: skip


def file_of(kind: int | None, items: list, end: bytes = b"\xff") -> bytes:
    """A file of TREC CAR, with a header where a kind is given."""
    head = b"" if kind is None else dumps(["CAR", [kind], ["release", "2.0"]]) + b"\x9f"
    return head + b"".join(map(dumps, items)) + (b"" if kind is None else end)


@pytest.mark.parametrize("kind", [2, None])
def test_paragraphs(read, kind):
    content = file_of(kind, PARAGRAPHS)
    expected = [
        Document(0, "0000000e7e72cafb61a9f356b7dceb25c5e028db", "", "", "The sea is deep – very."),
        Document(1, "00000047dc43083f49b68399c6deeed5c0e81c1f", "", "", "Ocean"),
        Skipped(
            2,
            "empty document",
            location="document 000002e5a3aa90f5e3a9f6cd1a0f7cfca4cd4ee6",
            document_id="000002e5a3aa90f5e3a9f6cd1a0f7cfca4cd4ee6",
        ),
    ]
    assert read("documents", "car-paragraphs", content) == expected
    assert read("documents", "car-paragraphs", content, lambda n: n == 1) == expected[1:2]
    assert read("documents", "car-paragraphs", lzma.compress(content)) == expected


@pytest.mark.parametrize("kind", [1, None])
def test_outlines(read, kind):
    assert read("topics", "car-outlines", file_of(kind, OUTLINES)) == [
        Query(0, "enwiki:Green%20sea%20turtle/Habitat", "Green sea turtle Habitat"),
        Query(
            1, "enwiki:Green%20sea%20turtle/Habitat/Nesting%20sites", "Green sea turtle Habitat Nesting sites"
        ),
        Query(2, "enwiki:Green%20sea%20turtle/Diet", "Green sea turtle Diet"),
        Query(3, "enwiki:Sea/Depth", "Sea Depth"),
    ]


@pytest.mark.parametrize(
    ("content", "fault", "location"),
    [
        (b"", "no CAR file: the file is empty", "its beginning"),
        (dumps(["CAR", [0], []]) + b"\x9f\xff", "another CAR file: it holds articles", "its header"),
        (dumps(["CAR"]), "another CAR file: it holds something else", "its header"),
        (dumps(["CAR", [2], []]) + b"\x01", "no CAR file: no list follows the header", "its header"),
        (dumps(PARAGRAPHS[0]) + b"\x1c", "broken CBOR: error decoding", "item 2, byte "),
        (dumps(PARAGRAPHS[0]) + dumps(PARAGRAPHS[1])[:-3], "broken CBOR: the file breaks off", "item 2, "),
        (b"\x65abc", "broken CBOR: the file breaks off", "item 1, byte 4"),
        (b"\x7b\x00\xff\xff\xff\xff\xff\xff\xffa", "broken CBOR: the file breaks off", "item 1, byte 10"),
        (b"\x1c", "broken CBOR: error decoding unsigned integer", "item 1, byte 1"),
        (b"\x82\x01\xff", "broken CBOR: break code encountered", "item 1, byte 3"),
        (b"\x62\xc3\x28", "broken CBOR: error decoding text string", "item 1, byte 3"),
        (b"\x81" * 200, "broken CBOR: maximum container nesting depth (100)", "item 1, byte 101"),
        (dumps([1, b"x", []]), "no paragraph: [1, b'x', []]", ""),
        (dumps("text"), "no paragraph: 'text'", ""),
        (dumps([0, b"x", [[2, "a"]]]), "no paragraph", ""),
        (dumps([0, b"x", [[0, 5]]]), "no paragraph", ""),
        (dumps([0, b"x", 5]), "no paragraph", ""),
        (dumps([0, b"a b", [[0, "x"]]]), "bad identifier", ""),
        (lzma.compress(dumps(PARAGRAPHS[0]))[:-5], "damaged archive", "item "),
        (lzma.compress(dumps(PARAGRAPHS[0]))[:13], "damaged archive", "item 1, byte 0"),
        (gzip.compress(dumps([0, b"x" * 40, []]), 0)[:-20], "damaged archive", "item 1, byte "),
    ],
)
def test_faults(read, content, fault, location):
    *_, found = read("documents", "car-paragraphs", content)
    assert isinstance(found, Malformed)
    assert str(found).startswith(fault)
    assert found.location.startswith(location)


@pytest.mark.parametrize(
    ("end", "fault"),
    [(b"", "the file breaks off"), (b"\xff" + dumps(PARAGRAPHS[0]), "there is more behind its end")],
)
def test_a_list_behind_a_header_must_end_with_the_file(read, end, fault):
    *paragraphs, found = read("documents", "car-paragraphs", file_of(2, PARAGRAPHS, end))
    assert len(paragraphs) == 3
    assert (str(found), found.position, found.loses_more) == (f"broken CBOR: {fault}", 3, True)


def test_pages_that_are_none(read):
    fault, found = read("topics", "car-outlines", file_of(1, [["x"], OUTLINES[1]]))
    assert (fault.position, fault.reason, fault.location) == (0, "no outline", "page 1")
    assert (found.position, found.query_id) == (1, "enwiki:Sea/Depth")


@pytest.mark.parametrize(
    "part", [[0, 7, b"B", []], [0, "B", b"B", "x"], [0, "B"], [], "stray", [4, "x"], [True, 1]]
)
def test_parts_that_no_page_has(read, part):
    page = [0, "T", b"enwiki:T", [[0, "A", b"A", []], part, [0, "C", b"C", []]]]
    first, fault, last = read("topics", "car-outlines", file_of(1, [page]))
    assert (first.query_id, last.query_id) == ("enwiki:T/A", "enwiki:T/C")
    assert (fault.position, last.position) == (1, 2)
    assert (fault.reason, fault.location) == ("no section", "page 1")


@pytest.mark.parametrize(
    "item",
    [
        dumps([0, b"d2", [[0, "x"]] * 9]),
        dumps([1] * 11),
        dumps("x" * 11),
        dumps(b"x" * 11),
        b"\x9b\x00\x00\x00\xff\xff\xff\xff\xff" + b"\x01" * 100,
    ],
    ids=["lists", "a list", "a text", "bytes", "a list that says it is longer"],
)
def test_an_item_that_is_too_large_ends_the_file_and_is_located(read, monkeypatch, item):
    monkeypatch.setattr(records, "max_record_bytes", lambda: 10)
    content = dumps([0, b"d1", []])
    *_, fault = read("documents", "car-paragraphs", content + item)
    assert (fault.reason, fault.position, fault.loses_more) == ("record too large", 1, True)
    assert fault.location.startswith("item 2, byte ")
    *_, fault = read("documents", "car-paragraphs", content + dumps([1] * 9))
    assert (fault.reason, fault.position) == ("no paragraph", 1)
