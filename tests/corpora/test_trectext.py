"""TREC disks 4 and 5: small look-alikes of their four publishers, with what makes each hard to read."""

import pytest

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora import doc_blocks
from irpretrain.corpora.formats.trectext import BARE_TEXT
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Malformed, Skipped

FT = """<DOC>
<DOCNO>FT911-1</DOCNO>
<PROFILE>_AN-BENBQAD8FT</PROFILE>
<DATE>910514
</DATE>
<HEADLINE>
FT  14 MAY 91 / Prices at AT&T rise < 3%
</HEADLINE>
<TEXT>
The caf\xe9's price, 3 < 4 and 5 > 2, was \xa320.
</TEXT>
<PUB>The Financial Times
</PUB>
</DOC>
"""
FR = """<DOC>
<DOCNO> FR940104-0-00001 </DOCNO>
<PARENT> FR940104-0-00001 </PARENT>
<TEXT>

<!-- PJG FTAG 4700 -->
<DOCTITLE>Rules of Fish&hyph;ing </DOCTITLE>
<!-- PJG /ITAG -->
Section&blank;7 of title 50 &sect; 3 &amp; more &lt;sic&gt;
<TABLE>one<ROW>two
</TEXT>
</DOC>
"""
FBIS = """<DOC>
<DOCNO> FBIS3-1 </DOCNO>
<HT>  "cr00000011094001" </HT>
<HEADER>
<DATE1>  1 March 1994 </DATE1>
<F P=100>FYR Macedonia </F>
<H3> <TI>   Views on
  Sanctions </TI></H3>
</HEADER>
<TEXT>
Language: <F P=105>English </F>
Article Type:BFN
<TEXT> nested </TEXT> and after
</TEXT>
</DOC>
"""
LA = """<DOC>
<DOCNO> LA010189-0001 </DOCNO>
<HEADLINE>
<P>
FIRST PARAGRAPH
</P>
<P>
SECOND
</P>
<TEXT>
<P>
A headline that is never closed.
</P>
</DOC>
<DOC>
<DOCNO> LA010189-0002 </DOCNO>
<GRAPHIC><P>Photo</P></GRAPHIC>
</DOC>
"""


@pytest.fixture
def read_latin(read):
    """Return a function that reads a file in latin-1, as the disks have them."""

    def read_text(text, encoding="latin-1", **options):
        return read("documents", "trectext", text.encode("latin-1"), encoding=encoding, **options)

    return read_text


def test_financial_times(read_latin):
    [found] = read_latin(FT)
    assert found == Document(
        0,
        "FT911-1",
        "FT 14 MAY 91 / Prices at AT&T rise < 3%",
        "",
        "The café's price, 3 < 4 and 5 > 2, was £20.",
    )


def test_federal_register(read_latin):
    [found] = read_latin(FR)
    assert (found.document_id, found.title) == ("FR940104-0-00001", "Rules of Fish-ing")
    lines = [line.strip() for line in found.body.splitlines() if line.strip()]
    assert lines == ["Rules of Fish-ing", "Section 7 of title 50 § 3 & more <sic>", "one two"]


def test_fbis(read_latin):
    [found] = read_latin(FBIS)
    assert (found.document_id, found.title) == ("FBIS3-1", "Views on Sanctions")
    assert " ".join(found.body.split()) == "Language: English Article Type:BFN nested and after"


def test_los_angeles_times(read_latin):
    first, second = read_latin(LA)
    assert first.title == "FIRST PARAGRAPH SECOND", "it ends where the next part begins"
    assert first.body == "A headline that is never closed."
    assert isinstance(second, Skipped)
    assert (second.position, second.reason) == (1, "no text under title_tags and body_tags")


@pytest.mark.parametrize(
    ("text", "reason", "location"),
    [
        (FT.replace("</DOC>\n", ""), "document is not closed", "document 1, byte 0"),
        (FT + FT.replace("FT911-1", ""), "no identifier", f"document 2, byte {len(FT)}"),
        (FT.replace("FT911-1", "FT 911"), "bad identifier", "document 1, byte 0"),
        (FT.replace("<TEXT>", "<TEXT><![CDATA["), "damaged markup", "document 1, byte 0"),
        ("README\n" + FT, "text before the first <DOC>: 'README'", "byte 0"),
        (FT + "rest", "text behind </DOC>: 'rest'", "document 1, byte 0"),
        ("nothing of the kind", "text before the first <DOC>", "byte 0"),
        ("\n\n", "no documents: there is no <DOC> in it", "its beginning"),
        ("", "no documents", "its beginning"),
    ],
)
def test_faults_have_a_location(read_latin, text, reason, location):
    faults = [found for found in read_latin(text) if isinstance(found, Malformed)]
    assert str(faults[0]).startswith(reason)
    assert (faults[0].position, faults[0].location) == ("document 2" in location, location)


def test_encodings(read, read_latin):
    [found] = read_latin(FT, encoding="utf-8")
    assert str(found) == "not valid utf-8: byte 162"
    assert FT.encode("latin-1")[162:163] == b"\xe9"
    assert found.remedy == "Give the corpus its encoding in options, such as latin-1"
    assert found.of_file, "a remedy of all documents, not of one"
    [found] = read("documents", "trectext", FT)
    assert "café" in found.body


def test_what_xml_would_expand_stays_text(read_latin):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>\n'
    text = f"<DOC>\n{bomb}<DOCNO>X1</DOCNO>\n<TEXT>&b; &c; &unknown; &#0; end</TEXT>\n</DOC>\n"
    [found] = read_latin(text)
    assert found.body == "&b; &c; &unknown; \ufffd end"


def test_any_division_into_chunks_gives_the_same(read_latin, monkeypatch):
    text = FT + FR + "\n" + FBIS + LA
    expected = read_latin(text)
    assert [found.position for found in expected] == [0, 1, 2, 3, 4]
    for chunk in (1, 2, 7, 64, 1000):
        monkeypatch.setattr(doc_blocks, "CHUNK_BYTES", chunk)
        assert read_latin(text) == expected


@pytest.mark.deep
@pytest.mark.timeout(600)
def test_hostile_markup_takes_linear_time(read_latin):
    for piece in ("<TEXT>", "<!--", "<", "<A ", "&lt;", "</TEXT>", "<HEADLINE><TEXT>"):
        text = "<DOC><DOCNO>X1</DOCNO>" + piece * 200_000 + "</DOC>"
        assert len(read_latin(text)) == 1


BARE = """<DOC>
<DOCNO> B-1 </DOCNO>
<AUTHOR>Somebody</AUTHOR>
Slipstreams &amp; wings, <i>measured</i> at
low speed.<P>Second paragraph
</DOC>
<DOC>
<DOCNO> B-2 </DOCNO>
<ABSTRACT>Only here.</ABSTRACT>
</DOC>
<DOC>
<DOCNO> B-3 </DOCNO>
<TITLE>Titled</TITLE>
Bare below a title
</DOC>
<DOC><DOCNO>B-4</DOCNO>
</DOC>
"""


def test_text_directly_under_doc_is_the_body(read_latin):
    first, second, third, fourth = read_latin(BARE)
    assert " ".join(first.body.split()) == "Slipstreams & wings, measured at low speed. Second paragraph"
    assert (third.title, third.body) == ("Titled", "Bare below a title")
    assert second.reason == "no text under title_tags and body_tags"
    assert second.location == f"document 2, byte {BARE.index('<DOC>', 5)}, whose tags are ABSTRACT"
    assert fourth.reason == "empty document"
    [reported] = read_latin(BARE.split("</DOC>")[1] + "</DOC>", body_tags=["abstract"])
    assert reported.body == "Only here."


TITLED = "<DOC><DOCNO>1</DOCNO><TITLE>Pears</TITLE><ABSTRACT>{}</ABSTRACT></DOC>"


@pytest.mark.parametrize(
    ("text", "is_left_out"),
    [
        (FT.replace("<PUB>", "bare <PUB>"), True),
        (TITLED.format("bare"), True),
        (TITLED.format(""), False),
        (FT, False),
        (BARE.split("</DOC>")[0] + "</DOC>", False),
        ("<DOC><DOCNO>1</DOCNO><HL>a</HL>\n<TEXT>b\nc</DOC>", False),
    ],
)
def test_text_beside_body_and_title_is_left_out_and_counted(read_latin, text, is_left_out):
    [found] = read_latin(text)
    assert "bare" not in found.body
    assert found.parts == ({BARE_TEXT: 1} if is_left_out else {})


def test_a_corpus_whose_every_record_is_left_out_stops_with_the_reasons(tmp_path):
    lost = BARE.split("</DOC>")[1] + "</DOC>\n"
    path = tmp_path / "lost.txt"
    path.write_text(lost.replace("B-2", "B-5") + lost + "<DOC><DOCNO>B-4</DOCNO></DOC>")
    config = CorpusConfig(format="trectext", path=str(path))
    outputs = tmp_path / "documents.parquet", tmp_path / "redirects.parquet"
    with pytest.raises(InputError) as refused:
        write_shard(config, path, 0, *outputs)
    assert f"{path}: the corpus has no documents: all 3 records are left out (2 × no text under" in str(
        refused.value
    )
    assert "document 1, byte 1, whose tags are ABSTRACT" in str(refused.value)
    assert "1 × empty document, first" in str(refused.value)
    assert "in `options` of the corpus" in str(refused.value)
    assert not any(output.exists() for output in outputs)


def test_cdata_is_text(read_latin):
    (found,) = read_latin(
        "<DOC><DOCNO> <![CDATA[x]]> </DOCNO><TITLE><![CDATA[a &amp; b]]></TITLE>"
        "<TEXT><![CDATA[apples <P> & &blank; ]]>and &amp; <P>more</TEXT></DOC>\n"
    )
    assert (found.document_id, found.title) == ("x", "a &amp; b")
    assert found.body == "apples <P> & &blank; and & \nmore"


def test_a_title_tag_may_be_empty_before_one_that_has_text(read_latin):
    [found] = read_latin("<DOC><DOCNO>1</DOCNO><HEAD></HEAD>\n<HEAD>Pears</HEAD><TEXT>b</TEXT></DOC>")
    assert (found.title, found.body) == ("Pears", "b")


def test_wikiextractors_text_is_named(read):
    fault = read("documents", "trectext", '<doc id="12" url="u" title="Pear">\nPear\n</doc>\n')[0]
    assert fault.remedy == "This looks like WikiExtractor's text: run it with --json, and give format: jsonl"
