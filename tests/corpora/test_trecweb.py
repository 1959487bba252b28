"""Gov2: small look-alikes of its files, with their traps."""

from __future__ import annotations

import gzip

import pytest

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora import doc_blocks
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.records import Document, Skipped

PAGES = [
    b"""<DOC>
<DOCNO>GX000-00-0000000</DOCNO>
<DOCHDR>
http://sgra.jpl.nasa.gov
HTTP/1.1 200 OK
Date: Tue, 09 Dec 2003 21:21:33 GMT
Content-type: text/html; charset=iso-8859-1

</DOCHDR>
<html><head><title>JPL's  page</title></head>
<body>The caf\xe9 &amp; more<br>next
</DOC>
""",
    b"""<DOC>
<DOCNO>GX000-00-0000017</DOCNO>
<DOCHDR>
http://example.gov/quote.html
HTTP/1.1 200 OK
</DOCHDR>
<pre>
&lt;DOC&gt; is written
<DOC>
or
</DOC>
</pre>
</DOC>
""",
    b"""<DOC>
<DOCNO>GX000-00-0000034</DOCNO>
<DOCHDR>
http://example.gov/a.txt
HTTP/1.1 200 OK
Content-Type: text/plain
</DOCHDR>
plain <b>text</b> & more
</DOC>
""",
    b"""<DOC>
<DOCNO>GX000-00-0000051</DOCNO>
<DOCHDR>
http://example.gov/a.gif
HTTP/1.1 200 OK
Content-Type: image/gif
</DOCHDR>
GIF89a\x00\x01
</DOC>
""",
    b"""<DOC>\r
<DOCNO>GX000-00-0000068</DOCNO>\r
<DOCHDR>\r
http://example.gov/empty\r
HTTP/1.1 404 Not Found\r
</DOCHDR>\r
</DOC>\r
""",
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
