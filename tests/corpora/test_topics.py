"""Topics in TREC's formats, TSV and JSONL."""

from pathlib import Path

import pytest

from irpretrain.corpora.formats import colon, json_files, trec, tsv
from irpretrain.foundation.records import Malformed, Query

CLASSIC = """
<top>

<num> Number: 301
<title> International Organized
Crime

<desc> Description:
Identify organizations &amp; groups.

<narr> Narrative:
A relevant document must &lt;name&gt; one.
</top>
<top>
<num> Number: 302 </num>
<title> Topic: Polio </title>
<desc> Description: Is it controlled? </desc>
</top>
"""

XML = """<?xml version="1.0"?>
<topics task="x">
  <topic number="1"> <query>coronavirus origin</query>
    <question>what is the origin</question><narrative>n</narrative>
  </topic><topic number='2' type="faceted"><query>obama</query><description>family tree</description></topic>
</topics>
"""


def read(tmp_path, text, **options):
    (tmp_path / "topics").write_text(text)
    return list(trec.TOPICS.read(tmp_path / "topics", trec.TOPICS.options(**options)))


def test_classic_titles(tmp_path):
    assert read(tmp_path, CLASSIC) == [
        Query(0, "301", "International Organized Crime", 2),
        Query(1, "302", "Polio", 14),
    ]


TIPSTER = """<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies

<desc> Description:

Document mentions government assistance.

<smry> Summary:

Government assistance to Airbus.

<narr> Narrative:

A relevant document will cite it.

<con> Concept(s):
1. Airbus Industrie
<fac> Factor(s):
<nat> Nationality: U.S.
<time> Time: Current
</fac>
<def> Definition(s):
Airbus: a maker of aeroplanes
</top>
"""


def test_topics_of_trec_1_to_3(tmp_path):
    found = read(tmp_path, TIPSTER, fields=["title", "description", "narrative"])
    text = "Airbus Subsidies Document mentions government assistance. A relevant document will cite it."
    assert found == [Query(0, "051", text, 1)]


def test_several_parts(tmp_path):
    found = read(tmp_path, CLASSIC, fields=["description", "title"])
    assert found[0].text == "Identify organizations & groups. International Organized Crime"
    first, second = read(tmp_path, CLASSIC, fields=["narrative"])
    assert first.text == "A relevant document must <name> one."
    assert (second.reason, second.detail) == ("topic lacks a part", "topic 302 has no narrative")


def test_xml_topics(tmp_path):
    assert [(q.query_id, q.text) for q in read(tmp_path, XML)] == [
        ("1", "coronavirus origin"),
        ("2", "obama"),
    ]
    descriptions = read(tmp_path, XML, fields=["description"])
    assert [q.text for q in descriptions] == ["what is the origin", "family tree"]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("<top>\n<num> 1\n<title> a\n", "topic is not closed", 1),
        ("\n<top>\n<num> 1\n<top>\n<num> 2 <title> a\n</top>", "topic is not closed", 2),
        ("<top>\n<title> a\n</top>", "topic without a number", 1),
        ("<top>\n<num> 1 <title>  \n</top>", "empty query", 1),
        ("<top>\n<num> 1 2 <title> a\n</top>", "bad identifier", 1),
        ("301\tpolio\n", "text outside a topic", 1),
        (
            "<topic number='1'><query lang='e'>a</query><query lang='e'>b</query></topic>",
            "several records in one",
            1,
        ),
        ("<top><num>1</num><EN-title>a</EN-title><FR-title>b</FR-title></top>", "several records in one", 1),
        (
            "<topic number='1'><query>a</query><question>b</question><desc>c</desc></topic>",
            "several records in one",
            1,
        ),
        ("<topic number='1'><query>a</query><narrative>b<narrative>c</topic>", "several records in one", 1),
        ("<top><num> 1 <docno> 2 <title> a</top>", "several records in one", 1),
        ("<topic number='1'><query><![CDATA[a b</query></topic>", "damaged markup", 1),
    ],
)
def test_malformed_topics(tmp_path, text, reason, line):
    found = [record for record in read(tmp_path, text) if isinstance(record, Malformed)]
    assert [(record.reason, record.line) for record in found] == [(reason, line)]


def test_cdata_is_text(tmp_path):
    text = (
        "<topic number='1'><query><![CDATA[a <title> & b &amp; c]]></query></topic>\n"
        "<TOPIC><NUM><![ cdata[2]]></NUM><TITLE>x <![CDATA[two\nlines]]> y &amp; z</TITLE></TOPIC>\n"
    )
    assert [(q.query_id, q.text) for q in read(tmp_path, text)] == [
        ("1", "a <title> & b &amp; c"),
        ("2", "x two lines y & z"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<topics>\n<topic lang="en">\n<identifier>41</identifier>\n<title>apples</title>\n</topic>\n</topics>\n',
        "<top lang='EN'>\n<num> 41 </num>\n<EN-title> apples </EN-title>\n<EN-desc> Find. </EN-desc>\n</top>\n",
        '<topics><topic id="41"><title>apples</title></topic></topics>\n',
    ],
)
def test_topics_of_clef(tmp_path, text):
    assert [(q.query_id, q.text) for q in read(tmp_path, text)] == [("41", "apples")]


def test_topics_of_clinical_trials(tmp_path):
    text = """<topics task="2021 TREC Clinical Trials">
<topic number="1">
A 45-year-old &amp; BP &lt; 90 <!-- x -->
with <![CDATA[a<b]]>
</topic><topic number="2&amp;3">two</topic></topics>
"""
    queries = [(q.query_id, q.text) for q in read(tmp_path, text)]
    assert queries == [("1", "A 45-year-old & BP < 90 with a<b"), ("2&3", "two")]
    (fault,) = read(tmp_path, "<topic number='1'><type>a</type> b</topic>")
    assert fault.reason == "topic lacks a part"


def test_a_topic_without_a_number_names_its_tags(tmp_path):
    (fault,) = read(tmp_path, "<topic><ident>41</ident><title>apples</title></topic>\n")
    assert "<identifier>, or an attribute number or id is needed; its tags are <ident>, <title>" in str(fault)


def test_tsv(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\twhat is  this\nq2\t \nq3\nq4\ta\tb\n")
    found = list(tsv.TOPICS.read(tmp_path / "q.tsv", tsv.TOPICS.options()))
    assert found[0] == Query(0, "q1", "what is this", 1)
    assert [f.reason for f in found[1:]] == ["empty query", *["wrong number of columns"] * 2]
    assert len(list(tsv.TOPICS.read(tmp_path / "q.tsv", tsv.TOPICS.options(header=True)))) == 3


def test_jsonl(tmp_path):
    lines = [
        '{"_id": 1, "text": "a"}',
        '{"qid": "q", "query": "b"}',
        '{"id": "x"}',
        '{"id": null, "text": "a"}',
        "{",
    ]
    (tmp_path / "q.jsonl").write_text("\n".join([*lines, '{"id": "x", "text": 1}']))
    found = list(json_files.TOPICS.read(tmp_path / "q.jsonl", json_files.TOPICS.options()))
    assert found[:2] == [Query(0, "1", "a", 1), Query(1, "q", "b", 2)]
    assert [(f.reason, f.line) for f in found[2:]] == [
        ("field missing", 3),
        ("field is not text", 4),
        ("not valid JSON", 5),
        ("field is not text", 6),
    ]
    options = json_files.TOPICS.options(id_field="_id", text_field="text")
    assert sum(isinstance(f, Query) for f in json_files.TOPICS.read(tmp_path / "q.jsonl", options)) == 1


def test_what_xml_would_expand_stays_text(tmp_path):
    """No parser of XML reads topics: nothing is defined, fetched or multiplied."""
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>\n'
    text = bomb + '<topics><topic number="1"><query>&b; &c; &lt;x&gt;</query></topic></topics>\n'
    fault, found = read(tmp_path, text)
    assert (fault.reason, fault.line) == ("text outside a topic", 1)
    assert found.text == "&b; &c; <x>"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "piece", ["<!--", "<top", "<title>", "<xml", "<?xml", "number=' ", "<topic number", "&lt;"]
)
def test_hostile_markup_takes_linear_time(tmp_path, piece):
    for text in (f"<top><num>1<title>a {piece * 50_000}</top>", piece * 50_000):
        assert len(read(tmp_path, text)) <= 50_001


def test_topics_in_the_form_of_documents(tmp_path):
    text = """<DOC>
<DOCNO>1</DOCNO>
what is the
effect &amp; cause?
</DOC>
<DOC><DOCNO> 2 </DOCNO><TEXT>second</TEXT></DOC>
<DOC><DOCNO>3</DOCNO><TITLE>third</TITLE>
bare text beside a title
</DOC>
"""
    assert [(q.query_id, q.text) for q in read(tmp_path, text)] == [
        ("1", "what is the effect & cause?"),
        ("2", "second"),
        ("3", "third"),
    ]


def test_cdata_and_identifiers_of_other_campaigns(tmp_path):
    """NTCIR's and CLEF's topics."""
    ntcir = "<TOPIC>\n<NUM>T1</NUM>\n<TITLE><![CDATA[apples & <b>pears</b>]]></TITLE>\n</TOPIC>\n"
    clef = '<topics><topic lang="en"><identifier>10.2452/451-AH</identifier><title>apples</title></topic></topics>\n'
    (tmp_path / "t").write_text(ntcir + clef)
    assert [(q.query_id, q.text) for q in trec.TOPICS.read(tmp_path / "t", trec.TOPICS.options())] == [
        ("T1", "apples & <b>pears</b>"),
        ("10.2452/451-AH", "apples"),
    ]


def test_comments_and_markup_are_no_words_of_a_query(tmp_path):
    text = "<top><num>1<title>cats <!-- no <title> dogs --> a <i>big</i> one, 2 < 3</top>"
    [query] = read(tmp_path, text)
    assert query.text == "cats a big one, 2 < 3"


def colon_queries(path):
    return [(q.query_id, q.text) for q in colon.TOPICS.read(path, colon.TOPICS.options())]


def test_priorities_of_the_million_query_track_are_no_words(tmp_path, capsys):
    (tmp_path / "q").write_text("20001:1:obama family tree\n20002:4:at 8:30 am\n")
    assert colon_queries(tmp_path / "q") == [("20001", "obama family tree"), ("20002", "at 8:30 am")]
    assert "the digit behind each identifier is left out" in capsys.readouterr().err
    (tmp_path / "q").write_text("1:2:30 am\n2:red pear\n3:pie\n")
    assert colon_queries(tmp_path / "q")[0] == ("1", "2:30 am")


@pytest.mark.parametrize("heading", ["qid\tquery", "Query-ID\tText", '"_id"\t"text"'])
def test_a_header_is_no_query(tmp_path, heading):
    (tmp_path / "q").write_text(f"{heading}\n1\tpear\n")
    for options in (tsv.TOPICS.options(), tsv.TOPICS.options(header=True)):
        assert list(tsv.TOPICS.read(tmp_path / "q", options)) == [Query(1, "1", "pear", 2)]
    (tmp_path / "q").write_text(f"0\tplum\n{heading}\n1\tpear\n")
    plum, fault, pear = tsv.TOPICS.read(tmp_path / "q", tsv.TOPICS.options())
    assert (fault.reason, fault.line) == ("header within the table", 2)
    assert (plum.text, pear.text) == ("plum", "pear")


def test_a_header_says_where_identifier_and_text_stand(tmp_path):
    (tmp_path / "q").write_text("type\tText\tID\nnews\tred pear\tq7\n")
    [query] = tsv.TOPICS.read(tmp_path / "q", tsv.TOPICS.options())
    assert (query.query_id, query.text, query.unread) == ("q7", "red pear", ("type",))


def test_fields_of_one_meaning(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "1", "qid": "2", "text": "a"}\n{"id": "1", "query": "a", "title": "b"}\n')
    found = list(json_files.TOPICS.read(path, json_files.TOPICS.options()))
    assert [(fault.reason, fault.detail) for fault in found] == [
        ("two fields for one", "'id' and 'qid' mean the same"),
        ("two fields for one", "'query' and 'title' mean the same"),
    ]
    options = json_files.TOPICS.options(id_field="id", text_field="text")
    assert next(iter(json_files.TOPICS.read(path, options))) == Query(0, "1", "a", 1)


@pytest.mark.parametrize("other", ["<concepts> a\nb", "<URL>http://a.b", "  <time-frame> 1990"])
def test_a_part_that_is_not_closed_ends_at_any_tag_that_begins_a_line(tmp_path, other):
    text = f"<top>\n<num> Number: 1\n<title>\n<b>sour</b>\n<br>fruit <x> of\n{other}\n<desc> Description:\nd\n</top>"
    (tmp_path / "topics.txt").write_text(text)
    [found] = trec.read_topics(tmp_path / "topics.txt", trec.TrecTopicOptions())
    assert found.text == "sour fruit of"


def test_the_number_may_be_an_element(tmp_path: Path) -> None:
    """TREC Health Misinformation's topics: query, description, and parts that make no query."""
    (tmp_path / "topics.xml").write_text(
        "<topics>\n<topic>\n<number>101</number>\n<query>ankle brace</query>\n<description>\nWill it help?\n"
        "</description>\n<stance>unhelpful</stance>\n</topic>\n</topics>\n"
    )
    for fields, text in ((["title"], "ankle brace"), (["title", "description"], "ankle brace Will it help?")):
        [topic] = trec.read_topics(tmp_path / "topics.xml", trec.TrecTopicOptions(fields=fields))
        assert (topic.query_id, topic.text) == ("101", text)


def test_a_topic_without_a_title_names_the_option_for_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("<top><num>1<desc>apple<narr>pie</top>")
    [fault] = trec.read_topics(tmp_path / "topics", trec.TrecTopicOptions())
    assert fault.remedy == (
        "To make queries of its description or narrative, set options: {fields: [description]}"
    )
