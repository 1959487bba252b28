"""Gov2: small look-alikes of its files, with their traps."""

import gzip

import pytest

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora import doc_blocks
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.records import Document, Skipped


def record(number: int, url: str, headers: str, content: bytes) -> bytes:
    head = (
        f"<DOC>\n<DOCNO>GX000-00-{number:07}</DOCNO>\n<DOCHDR>\n{url}\nHTTP/1.1 200 OK\n{headers}</DOCHDR>\n"
    )
    return head.encode() + content + b"</DOC>\n"


PAGES = [
    record(
        0,
        "http://sgra.jpl.nasa.gov",
        "Date: Tue, 09 Dec 2003 21:21:33 GMT\nContent-type: text/html; charset=iso-8859-1\n\n",
        b"<html><head><title>JPL's  page</title></head>\n<body>The caf\xe9 &amp; more<br>next\n",
    ),
    record(
        17,
        "http://example.gov/quote.html",
        "",
        b"<pre>\n&lt;DOC&gt; is written\n<DOC>\nor\n</DOC>\n</pre>\n",
    ),
    record(34, "http://example.gov/a.txt", "Content-Type: text/plain\n", b"plain <b>text</b> & more\n"),
    record(51, "http://example.gov/a.gif", "Content-Type: image/gif\n", b"GIF89a\x00\x01\n"),
    record(68, "http://example.gov/empty", "", b"").replace(b"\n", b"\r\n"),
]


EXPECTED = [
    Document(
        0, "GX000-00-0000000", "JPL's page", "http://sgra.jpl.nasa.gov", "The café & more\nnext"
    ),
    Document(
        1, "GX000-00-0000017", "", "http://example.gov/quote.html", "<DOC> is written\nor"
    ),
    Document(2, "GX000-00-0000034", "", "http://example.gov/a.txt", "plain <b>text</b> & more"),
    Skipped(3, "no text", "GX000-00-0000051: image/gif", document_id="GX000-00-0000051"),
    Skipped(4, "empty document", location="document GX000-00-0000068", document_id="GX000-00-0000068"),
]  # fmt: skip


def test_pages(read):
    assert read("documents", "trecweb", b"".join(PAGES)) == EXPECTED
    assert read("documents", "trecweb", gzip.compress(b"\n".join(PAGES))) == EXPECTED


def test_a_page_that_is_no_text_is_named_on_the_screen(tmp_path, capsys):
    (tmp_path / "pages").write_bytes(b"".join(PAGES))
    outputs = tmp_path / "web/documents.parquet", tmp_path / "web/redirects.parquet"
    write_shard(CorpusConfig(format="trecweb", path="x"), tmp_path / "pages", 0, *outputs)
    said = f"[read web] NOTE: left out: {tmp_path / 'pages'}: no text: GX000-00-0000051: image/gif\n"
    assert said in capsys.readouterr().err


def test_any_division_into_chunks_gives_the_same(read, monkeypatch):
    for chunk in (1, 3, 50, 127, 128, 129):
        monkeypatch.setattr(doc_blocks, "CHUNK_BYTES", chunk)
        assert read("documents", "trecweb", b"".join(PAGES)) == EXPECTED


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (PAGES[0].replace(b"<DOCHDR>", b""), "no headers: page GX000-00-0000000 has no <DOCHDR>"),
        (PAGES[0].replace(b"</DOCHDR>", b""), "no headers"),
        (PAGES[0].replace(b"0000</DOCNO>", b"0</DOC"), "no identifier"),
        (PAGES[0].replace(b"GX000-00-0000000", b" "), "bad identifier"),
        (PAGES[0].replace(b"</DOC>", b""), "document is not closed"),
        (b"<html>", "text before the first <DOC>"),
        (b"<DOC>\nstray\n", "text before the first <DOC>: '<DOC>"),
    ],
)
def test_faults(read, content, reason):
    first, *others = read("documents", "trecweb", content + PAGES[2])
    assert str(first).startswith(reason)
    assert "byte 0" in first.location
    assert others[-1].document_id == "GX000-00-0000034"
