"""ClueWeb09: small look-alikes of its WARC files with their malformed headers, and the filter of spam."""

import gzip
import os
import zlib
from pathlib import Path

import pytest

from irpretrain.corpora import web_pages
from irpretrain.corpora.formats import warc
from irpretrain.corpora.formats.warc import DOCUMENTS, WarcDocumentOptions, percentile_of, read_warc
from irpretrain.corpora.web_pages import unpack_content
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Malformed, Skipped

INFO = b"""WARC/0.18
WARC-Type: warcinfo
WARC-Date: 2009-03-65T08:43:19-0800
WARC-Record-ID: <urn:uuid:993d3969-9643-4934-b1c6-68d4dbe55b83>
Content-Type: application/warc-fields
Content-Length: 29

software: Nutch 1.0-dev
a: b

"""


def response(
    number: int, page: bytes, url: bytes = b"http://example.org/", end: bytes = b"\n\n", more: bytes = b""
) -> bytes:
    content = b"HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\n\n" + page
    return (
        b"WARC/0.18\nWARC-Type: response\nWARC-Target-URI: " + url + b"\n"
        b"WARC-TREC-ID: clueweb09-en0000-00-%05d\n"
        % number
        + more
        + b"Content-Type: application/http;msgtype=response\nContent-Length: %d\n\n" % len(content)
        + content
        + end
    )


SOUND = [
    INFO,
    response(0, b"<title>First</title><p>caf\xc3\xa9 WARC/0.18\nWARC/0.18\n"),
    response(
        1, b"<p>second", url=b"http://example.org/with a newline\n"
    ),  # so an empty line stands in the headers
    response(2, b"<p>third", end=b"\n"),
    response(3, b""),
]


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


PAGES = [
    Document(1, "clueweb09-en0000-00-00000", "First", "http://example.org/", "café WARC/0.18\nWARC/0.18"),
    Document(2, "clueweb09-en0000-00-00001", "", "http://example.org/with a newline", "second"),
    Document(3, "clueweb09-en0000-00-00002", "", "http://example.org/", "third"),
    Skipped(
        4,
        "empty document",
        location="document clueweb09-en0000-00-00003",
        document_id="clueweb09-en0000-00-00003",
    ),
]


def test_pages(read):
    content = b"".join(SOUND)
    for packed in (content, gzip.compress(content), b"".join(map(gzip.compress, SOUND))):
        assert read("documents", "warc", packed) == PAGES


def test_the_content_of_a_record_too_long_holds_no_records(tmp_path, monkeypatch):
    monkeypatch.setattr(warc, "max_record_bytes", lambda: 500)
    content = SOUND[1] + response(9, b"x" * 500 + SOUND[1] + SOUND[2]) + SOUND[3]
    path = write(tmp_path / "00.warc", content)
    first, fault, last = read_warc(path)
    assert (first.position, fault.reason, fault.position, fault.loses_more) == (
        0,
        "record too large",
        1,
        False,
    )
    assert (last.position, last.headers["warc-trec-id"]) == (2, "clueweb09-en0000-00-00002")
    path.write_bytes(content[: -len(SOUND[3]) - 9])
    *_, fault = read_warc(path)
    assert (fault.reason, fault.loses_more) == ("record too large", True)


PAGE = b"<title>Pie</title><p>of apples"
PACKED = gzip.compress(PAGE)
CHUNK_OF_PACKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PACKED), PACKED)
CHUNKS = b"7\r\n<title>\r\n17;a=b\r\nPie</title><p>of apples\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("headers", "content", "text"),
    [
        ("Content-Encoding: gzip", PACKED, "of apples"),
        ("content-encoding: x-gzip", PACKED, "of apples"),
        ("Content-Encoding: gzip", b"x", "x"),  # too short to tell
        ("Content-Encoding: deflate", zlib.compress(PAGE), "of apples"),
        ("Transfer-Encoding: chunked", CHUNKS, "of apples"),
        ("Transfer-Encoding: chunked", CHUNKS[:-4], "of apples"),
        ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip", CHUNK_OF_PACKED, "of apples"),
        ("Content-Encoding: gzip\r\nTransfer-Encoding: chunked", PAGE, "of apples"),  # the archive undid both
        ("Content-Encoding: utf-8", PAGE, "of apples"),
        ("Content-Encoding: deflate", zlib.compress(PAGE)[2:-4], "of apples"),  # raw, as old servers send it
        ("Content-Encoding: deflate", PAGE, "of apples"),
        ("Content-Encoding: deflate", b"Some of it", "Some of it"),
        ("Content-Encoding: deflate", b"Some\x1fof it", "Some\x1fof it".replace("\x1f", " ")),
        ("Content-Encoding: gzip", gzip.compress(PAGE[:9]) + gzip.compress(PAGE[9:]), "of apples"),
        ("Content-Encoding: identity, gzip", PACKED, "of apples"),
        ("Content-Encoding:\r\n gzip", PACKED, "of apples"),
        ("Content-Encoding: deflate, gzip", gzip.compress(zlib.compress(PAGE)), "of apples"),
        ("Content-Encoding: gzip\r\nContent-Encoding: utf-8", PACKED, "of apples"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", CHUNKS, "of apples"),
        ("Transfer-Encoding: gzip, chunked", CHUNK_OF_PACKED, "of apples"),
    ],
)
def test_encodings_of_a_response_are_undone(read, headers, content, text):
    [found] = read("documents", "warc", encoded(headers, content))
    assert (found.title, found.body) == ("Pie" if "apples" in text else "", text)


@pytest.mark.parametrize(
    "content",
    [
        CHUNKS.replace(b"17;", b"16;"),
        CHUNKS.replace(b"17;", b"18;"),
        CHUNKS.replace(b"7\r", b"8\r", 1),
        CHUNKS.replace(b"7\r", b"ffff\r", 1),
        CHUNKS.replace(b"17;", b"x;"),
        CHUNKS[:-10],
        CHUNKS[:-5],
    ],
    ids=["shorter", "longer", "first longer", "first beyond the end", "no size", "cut", "last missing"],
)
def test_chunks_that_are_not_whole_are_no_page(read, content):
    """Their sizes would be words of the text."""
    record = encoded("Transfer-Encoding: chunked", content)
    [found] = read("documents", "warc", record)
    assert found.reason == "damaged content", found


def test_raw_content_that_ends_early_is_no_page(read):
    [found] = read("documents", "warc", encoded("Content-Encoding: deflate", zlib.compress(PAGE)[2:-9]))
    assert found.reason == "damaged content"
    headers_alone = b"WARC/1.0\nWARC-Type: response\nWARC-TREC-ID: c\nContent-Length: 15\n\nHTTP/1.1 200 OK\n"
    [found] = read("documents", "warc", headers_alone)
    assert found.reason == "empty document"


def test_a_header_that_no_record_has_twice_begins_another_record(read):
    twice = SOUND[1].replace(b"WARC-Type: response", b"WARC-Type: response\nwarc-type: response")
    fault, *_ = read("documents", "warc", twice)
    assert str(fault) == "several records in one: 1 record, but 2 × warc-type"


def test_an_archive_that_cuts_pages_says_so(read):
    record = encoded("Transfer-Encoding: chunked", CHUNKS[:-10])
    record = record.replace(b"WARC-Type", b"WARC-Truncated: length\r\nWARC-Type", 1)
    [found] = read("documents", "warc", record)
    assert found.body == "of app"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_damaged_packed_content_of_a_page_is_no_page(read, pack):
    whole = pack(b"<title>Pie</title>" + bytes(range(32, 127)) * 3000)
    for content in (whole[:-1], whole[: len(whole) // 2], whole[:200] + b"\xff" * 40 + whole[240:]):
        [found] = read("documents", "warc", encoded("Content-Encoding: gzip", content))
        assert found.reason == "damaged content", found


def test_encodings_that_stay(read, monkeypatch):
    """No chunk is left as text, a bomb is not unpacked, and what cannot be undone is counted."""
    bomb = gzip.compress(b"apple " * 1_000_000)
    with monkeypatch.context() as patch:
        patch.setattr(web_pages, "LONGEST_PAGE", 12)
        [found] = read("documents", "warc", encoded("Content-Encoding: gzip", bomb))
        for coding, packed in (
            ("gzip", gzip.compress(b"pie ") * 9),
            ("deflate", zlib.compress(b"pie " * 9)[2:-4]),
        ):
            assert unpack_content(f"Content-Encoding: {coding}".encode(), packed) == b"pie pie pie p"
    assert found.body == "apple apple"
    empty = encoded("Transfer-Encoding: chunked", b"0\r\n\r\n")
    assert [found.reason for found in read("documents", "warc", empty)] == ["empty document"]
    [found] = read("documents", "warc", encoded("Content-Encoding: br", b"\x0b\x02"))
    assert (found.reason, found.detail) == ("content encoding is not read", "c-0: br")


def encoded(headers: str, content: bytes) -> bytes:
    response = f"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n{headers}\r\n\r\n".encode() + content
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: c-0\r\nContent-Length: %d\r\n\r\n"
    return head % len(response) + response + b"\r\n\r\n"


@pytest.mark.parametrize(
    ("content", "fault", "byte"),
    [
        (b"", "no WARC: the file is empty", 0),
        (b"<html>", "no WARC: '<html>' stands where WARC/<version> should", 0),
        (SOUND[1] + SOUND[2][:-30], "file breaks off: ", len(SOUND[1])),
        (SOUND[1] + b"WARC/0.18\nWARC-Type: resp", "file breaks off: in the headers", len(SOUND[1])),
    ],
)
def test_files_that_are_no_warc_or_break_off(read, content, fault, byte):
    *pages, found = read("documents", "warc", content)
    assert str(found).startswith(fault)
    assert found.location == f"record {len(pages) + 1}, byte {byte}"


@pytest.mark.parametrize(
    ("header", "damaged", "fault"),
    [
        (b"Content-Length: ", b"Content-Length: x", "no length"),
        (b"Content-Length: ", b"Content-Length: 99999999", "record too large"),
        (b"00-00000", b" x", "bad identifier: the identifier 'clueweb09-en0000- x'"),
        (b"WARC-TREC-ID", b"WARC-ID", "bad identifier: the identifier is empty"),
    ],
)
def test_faults_of_a_header_have_a_location(read, header, damaged, fault):
    found, *_ = read("documents", "warc", SOUND[1].replace(header, damaged) + SOUND[2])
    assert str(found).startswith(fault)
    assert found.location == "record 1, byte 0"


def test_headers_without_end_cost_little(tmp_path):
    content = b"WARC/0.18\n" + b"a: b\n" * 100_000
    fault = next(iter(read_warc(write(tmp_path / "00.warc", content))))
    assert isinstance(fault, Malformed)
    assert fault.reason == "no length"


RANKINGS = "".join(f"{percentile} clueweb09-en0000-00-0000{n}\n" for n, percentile in enumerate((60, 59, 99)))


def test_only_what_is_no_spam(read, tmp_path):
    spam = str(write(tmp_path / "fusion", RANKINGS.encode()))
    assert DOCUMENTS.option_files(WarcDocumentOptions(spam=spam)) == [spam]
    assert DOCUMENTS.option_files(WarcDocumentOptions()) == []
    content = b"".join(SOUND[:4])
    assert read("documents", "warc", content, spam=spam) == [PAGES[0], Skipped(2, "spam"), PAGES[2]]
    assert read("documents", "warc", content, spam=spam, spam_percentile=99) == [
        Skipped(1, "spam"),
        Skipped(2, "spam"),
        PAGES[2],
    ]
    *_, fault = read("documents", "warc", b"".join(SOUND), spam=spam)
    assert str(fault) == f"no spam ranking: clueweb09-en0000-00-00003 is not in {spam}"


def test_rankings_in_any_order_and_packed(tmp_path):
    lines = [f"{(7 * n + f) % 100} clueweb09-en000{f}-01-{n:05d}\n" for f in (3, 1) for n in range(300)]
    ordered = write(tmp_path / "ordered", "".join(lines).encode())
    mixed = write(tmp_path / "mixed.gz", gzip.compress("".join(lines[::2] + lines[1::2]).encode()))
    for path in (ordered, mixed):
        assert percentile_of("clueweb09-en0003-01-00002", path) == 17
        assert percentile_of("clueweb09-en0001-01-00299", path) == (7 * 299 + 1) % 100
        assert percentile_of("clueweb09-en0001-01-00300", path) is None
        assert percentile_of("clueweb09-en0002-01-00000", path) is None
        assert percentile_of("clueweb12-0000tw-00-00000", path) is None
        assert percentile_of("", path) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "60 clueweb09-en0000-00-00000\n100 clueweb09-en0000-00-00001\n",
            ":2: '100 clueweb09-en0000-00-00001'",
        ),
        ("60 clueweb09-en0000-00-0000\n", ":1: '60 clueweb09-en0000-00-0000' is no"),
        ("60 x\n", ":1: '60 x' is not <percentile> <document of ClueWeb09>"),
        ("x clueweb09-en0000-00-00000\n", "line 1 or later cannot be read"),
        ("60\n", "line 1 or later cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_rankings_that_are_none(tmp_path, text, message):
    path = write(tmp_path / "fusion", text.encode())
    with pytest.raises(InputError) as caught:
        percentile_of("clueweb09-en0000-00-00000", path)
    assert message in str(caught.value)


def test_a_fault_far_down_in_rankings_is_told_with_its_line(tmp_path):
    path = write(tmp_path / "fusion", RANKINGS.encode() * 20_000 + b"60 x\n")
    with pytest.raises(InputError, match=r"fusion:60001: '60 x' is no"):
        percentile_of("", path)


def test_changed_rankings_are_read_again(tmp_path):
    path = write(tmp_path / "fusion", RANKINGS.encode())
    assert percentile_of("clueweb09-en0000-00-00000", path) == 60
    path.write_text(RANKINGS.replace("60 ", "61 "))
    os.utime(path, ns=(1, 1))
    assert percentile_of("clueweb09-en0000-00-00000", path) == 61


def test_a_record_without_a_length_leaves_the_next_one_whole(read):
    without = b"WARC/1.0\nWARC-Type: response\nWARC-TREC-ID: a\n"
    for rest in (b"\n", b"\n\nHTTP/1.1 200 OK\nContent-Length: 4\n\n<p>lost</p>\n"):
        records = read("documents", "warc", without + rest + response(1, b"<p>kept</p>"))
        assert next(r.reason for r in records if isinstance(r, Malformed)) == "no length"
        assert [r.document_id for r in records if isinstance(r, Document)] == ["clueweb09-en0000-00-00001"]


def archive(*contents: str, lengths: tuple[int, ...] = ()) -> bytes:
    """Records of CRLF lines, as ISO 28500 has them; a length may be another than the content's."""
    records = []
    for number, content in enumerate(contents):
        body = f"HTTP/1.1 200 OK\r\n\r\n{content}".encode()
        length = lengths[number] if lengths else len(body)
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <r{number}>\r\nContent-Length: {length}\r\n\r\n"
        records.append(head.encode() + body + b"\r\n\r\n")
    return b"".join(records)


INNER = "apple\nWARC/1.0\nWARC-Type: response\nlast"


@pytest.mark.parametrize(
    "inner", [INNER, INNER.replace("\n", "\r\n"), f"{INNER}\n{INNER}", archive("a").decode()]
)
def test_a_record_within_a_content_length_is_text(read, inner):
    """ISO 28500: a block is as many octets as Content-Length says."""
    documents = read("documents", "warc", archive(inner, "pear"), id_header="WARC-Record-ID")
    assert [document.document_id for document in documents] == ["<r0>", "<r1>"]
    assert "WARC/1.0" in documents[0].body
    assert documents[1].body == "pear"


def test_a_wrong_length_that_takes_a_part_of_the_next_record_is_a_fault(read):
    content = archive("apple", "pear", "plum", lengths=(80, 23, 23))
    found = read("documents", "warc", content, id_header="WARC-Record-ID")
    assert [record.reason for record in found if isinstance(record, Malformed)] == [
        "several records in one",
        "text between records",
    ]
    assert [record.document_id for record in found if isinstance(record, Document)] == ["<r2>"]


def test_a_refusal_names_the_header_that_every_record_has(read):
    [fault] = read("documents", "warc", archive("apple"))
    assert "id_header: WARC-Record-ID" in fault.remedy


def test_a_header_that_is_there_is_to_be_mended_not_replaced(read):
    [fault] = read("documents", "warc", archive("apple").replace(b"<r0>", b"r 0"), id_header="WARC-Record-ID")
    assert (fault.reason, fault.remedy) == ("bad identifier", "Mend the record")
