"""Topics in TREC's formats, TSV and JSONL."""

import pytest

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
TIPSTER = """<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies

<desc> Description:

Document mentions government assistance.

<smry> Summary: Government assistance to Airbus.
<narr> Narrative: A relevant document will cite it.

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
XML = """<?xml version="1.0"?>
<topics task="x">
  <topic number="1"> <query>coronavirus origin</query>
    <question>what is the origin</question><narrative>n</narrative>
  </topic><topic number='2' type="faceted"><query>obama</query><description>family tree</description></topic>
</topics>
"""
CLINICAL_TRIALS = """<topics task="2021 TREC Clinical Trials">
<topic number="1">
A 45-year-old &amp; BP &lt; 90 <!-- x -->
with <![CDATA[a<b]]>
</topic><topic number="2&amp;3">two</topic></topics>
"""
MISINFORMATION = """<topics>
<topic>
<number>101</number>
<query>ankle brace</query>
<description>
Will it help?
</description>
<stance>unhelpful</stance>
</topic>
</topics>
"""
HARD = """<topics>
<topic>
<number>
HARD-401
</number>
<title>
Corporate mergers
</title>
<topic-narrative>
of firms
</topic-narrative>
<title-source>x</title-source>
</topic>
</topics>
"""
DOCUMENTS = """<DOC>
<DOCNO>1</DOCNO>
what is the
effect &amp; cause?
</DOC>
<DOC><DOCNO> 2 </DOCNO><TEXT>second</TEXT></DOC>
<DOC><DOCNO>3</DOCNO><TITLE>third</TITLE>
bare text beside a title
</DOC>
"""
CDATA = (
    "<topic number='1'><query><![CDATA[a <title> & b &amp; c]]></query></topic>\n"
    "<TOPIC><NUM><![ cdata[2]]></NUM><TITLE>x <![CDATA[two\nlines]]> y &amp; z</TITLE></TOPIC>\n"
)


BY_CAMPAIGN = {
    "TREC": (CLASSIC, ["title"], {"301": "International Organized Crime", "302": "Polio"}),
    "TREC, two parts": (
        CLASSIC,
        ["description", "title"],
        {
            "301": "Identify organizations & groups. International Organized Crime",
            "302": "Is it controlled? Polio",
        },
    ),
    "HARD": (HARD, ["title"], {"HARD-401": "Corporate mergers"}),
    "TREC 1 to 3": (
        TIPSTER,
        ["title", "description", "narrative"],
        {
            "051": "Airbus Subsidies Document mentions government assistance. A relevant document will cite it."
        },
    ),
    "XML": (XML, ["title"], {"1": "coronavirus origin", "2": "obama"}),
    "XML, another part": (XML, ["description"], {"1": "what is the origin", "2": "family tree"}),
    "Clinical Trials": (
        CLINICAL_TRIALS,
        ["title"],
        {"1": "A 45-year-old & BP < 90 with a<b", "2&3": "two"},
    ),
    "Health Misinformation": (
        MISINFORMATION,
        ["title", "description"],
        {"101": "ankle brace Will it help?"},
    ),
    "documents": (DOCUMENTS, ["title"], {"1": "what is the effect & cause?", "2": "second", "3": "third"}),
    "CDATA": (CDATA, ["title"], {"1": "a <title> & b &amp; c", "2": "x two lines y & z"}),
    "CLEF": (
        '<topics>\n<topic lang="en">\n<identifier>10.2452/41-AH</identifier>\n<title>pie</title>\n</topic></topics>',
        ["title"],
        {"10.2452/41-AH": "pie"},
    ),
    "CLEF, language in the tags": (
        "<top lang='EN'>\n<num> 41 </num>\n<EN-title> pie </EN-title>\n<EN-desc> Find. </EN-desc>\n</top>\n",
        ["title"],
        {"41": "pie"},
    ),
    "CLEF, attribute": (
        '<topics><topic id="41"><title>pie</title></topic></topics>\n',
        ["title"],
        {"41": "pie"},
    ),
    "comments and markup": (
        "<!-- 2003 -->\n<top><!-- <num>7 --><num>1<title>cats <!-- no <title> dogs --> a <i>big</i> one, 2 < 3</top>",
        ["title"],
        {"1": "cats a big one, 2 < 3"},
    ),
}


@pytest.mark.parametrize(("text", "fields", "queries"), BY_CAMPAIGN.values(), ids=BY_CAMPAIGN)
def test_topics(read, text, fields, queries):
    topics = read("topics", "trec", text, fields=fields)
    assert {topic.query_id: topic.text for topic in topics} == queries
    assert [topic.position for topic in topics] == list(range(len(queries)))


def test_topics_have_a_line(read):
    assert [topic.line for topic in read("topics", "trec", CLASSIC)] == [2, 14]


@pytest.mark.parametrize("other", ["<concepts> a\nb", "<URL>http://a.b", "  <time-frame> 1990"])
def test_a_part_that_is_not_closed_ends_at_any_tag_that_begins_a_line(read, other):
    text = f"<top>\n<num> Number: 1\n<title>\n<b>sour</b>\n<br>fruit <x> of\n{other}\n<desc> Description:\nd\n</top>"
    [topic] = read("topics", "trec", text)
    assert topic.text == "sour fruit of"


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("<top>\n<num> 1\n<title> a\n", "topic is not closed", 1),
        ("\n<top>\n<num> 1\n<top>\n<num> 2 <title> a\n</top>", "topic is not closed", 2),
        ("<top>\n<title> a\n</top>", "topic without a number", 1),
        ("<top>\n<num> 1 <title>  \n</top>", "empty query", 1),
        ("<top>\n<num> 1 2 <title> a\n</top>", "bad identifier", 1),
        ("301\tpolio\n", "text outside a topic", 1),
        ("\n</top>\n", "text outside a topic", 2),
        ("<topic number='1'><query lang='e'>a</query><query>b</query></topic>", "several records in one", 1),
        ("<top><num>1</num><EN-title>a</EN-title><FR-title>b</FR-title></top>", "several records in one", 1),
        (
            "<topic number='1'><query>a</query><question>b</question><desc>c</desc></topic>",
            "several records in one",
            1,
        ),
        ("<topic number='1'><query>a</query><narrative>b<narrative>c</topic>", "several records in one", 1),
        ("<top><num> 1 <docno> 2 <title> a</top>", "several records in one", 1),
        ("<topic number='1'><query><![CDATA[a b</query></topic>", "damaged markup", 1),
        ("<topic number='1'><type>a</type> b</topic>", "topic lacks a part", 1),
    ],
)
def test_malformed_topics(read, text, reason, line):
    faults = [record for record in read("topics", "trec", text) if isinstance(record, Malformed)]
    assert [(fault.reason, fault.line) for fault in faults] == [(reason, line)]


def test_a_fault_says_what_the_topic_has(read):
    [fault] = read("topics", "trec", "<topic><ident>41</ident><title>apples</title></topic>\n")
    assert "<identifier>, or an attribute number or id is needed; its tags are <ident>, <title>" in str(fault)
    [fault] = read("topics", "trec", "<top><num>1<desc>apple<narr>pie</top>")
    assert fault.detail == "topic 1 has no title"
    assert fault.remedy == (
        "To make queries of its description or narrative, set options: {fields: [description]}"
    )


def test_what_xml_would_expand_stays_text(read):
    """No parser of XML reads topics: nothing is defined, fetched or multiplied."""
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>\n'
    text = bomb + '<topics><topic number="1"><query>&b; &c; &lt;x&gt;</query></topic></topics>\n'
    fault, topic = read("topics", "trec", text)
    assert (fault.reason, fault.line) == ("text outside a topic", 1)
    assert topic.text == "&b; &c; <x>"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "piece", ["<!--", "<top", "<title>", "<xml", "<?xml", "number=' ", "<topic number", "&lt;"]
)
def test_hostile_markup_takes_linear_time(read, piece):
    for text in (f"<top><num>1<title>a {piece * 50_000}</top>", piece * 50_000):
        assert len(read("topics", "trec", text)) <= 50_001


def test_tsv(read):
    text = "q1\twhat is  this\nq2\t \nq3\nq4\ta\tb\n"
    first, *faults = read("topics", "tsv", text)
    assert first == Query(0, "q1", "what is this", 1)
    assert [fault.reason for fault in faults] == ["empty query", *["wrong number of columns"] * 2]
    assert len(read("topics", "tsv", text, header=True)) == 3
    assert read("topics", "tsv", "q1\tquestion\n") == [Query(0, "q1", "question", 1)], "one name is no header"


@pytest.mark.parametrize("heading", ["qid\tquery", "Query-ID\tText", '"_id"\t"text"'])
def test_a_header_is_no_query(read, heading):
    for options in ({}, {"header": True}):
        assert read("topics", "tsv", f"{heading}\n1\tpear\n", **options) == [Query(1, "1", "pear", 2)]
    plum, fault, pear = read("topics", "tsv", f"0\tplum\n{heading}\n1\tpear\n")
    assert (fault.reason, fault.line) == ("header within the table", 2)
    assert (plum.text, pear.text) == ("plum", "pear")


def test_blanks_separate_no_columns_of_topics(read):
    fault, query = read("topics", "tsv", "qid query\n1\tpear\n")
    assert (fault.reason, query.text) == ("wrong number of columns", "pear")


def test_a_header_says_where_identifier_and_text_stand(read):
    [query] = read("topics", "tsv", "type\tText\tID\nnews\tred pear\tq7\n")
    assert (query.query_id, query.text, query.unread) == ("q7", "red pear", ("type",))


@pytest.mark.parametrize(
    ("line", "query_or_fault"),
    [
        ('{"_id": 1, "text": "a"}', Query(0, "1", "a", 1)),
        ('{"qid": "q", "query": "b"}', Query(0, "q", "b", 1)),
        ('{"topic_id": 7, "title": "c"}', Query(0, "7", "c", 1)),
        ('{"number": 7, "title": "c"}', "field missing: none of the fields id, _id, qid, query_id"),
        ('{"id": "x"}', "field missing"),
        ('{"id": null, "text": "a"}', "field is not text"),
        ("{", "not valid JSON"),
        ('{"id": "x", "text": 1}', "field is not text"),
        ('{"id": "1", "qid": "2", "text": "a"}', "two fields for one: 'id' and 'qid' mean the same"),
        ('{"id": "1", "query": "a", "title": "b"}', "two fields for one: 'query' and 'title' mean the same"),
    ],
)
def test_jsonl(read, line, query_or_fault):
    [record] = read("topics", "jsonl", line)
    if isinstance(query_or_fault, Query):
        assert record == query_or_fault
    else:
        assert str(record).startswith(query_or_fault)
        assert record.line == 1


@pytest.mark.parametrize(("line", "lacks_identifier"), [('{"text": "a"}', True), ('{"id": "x"}', False)])
def test_only_a_topic_without_an_identifier_is_told_how_to_name_one(read, line, lacks_identifier):
    [fault] = read("topics", "jsonl", line)
    assert ("with the option id_field" in fault.remedy) == lacks_identifier


def test_jsonl_with_named_fields(read):
    names = {"id_field": "id", "text_field": "text"}
    assert read("topics", "jsonl", '{"id": "1", "qid": "2", "text": "a"}', **names) == [Query(0, "1", "a", 1)]
    [fault] = read("topics", "jsonl", '{"qid": "q", "text": "b"}', **names)
    assert fault.reason == "field missing"


def test_priorities_of_the_million_query_track_are_no_words(read, capsys):
    *topics, fault = read("topics", "colon", "20001:1:obama family tree\n20002:4:at 8:30 am\n20003:pie\n")
    assert str(fault) == "no priority: '20003:pie'"
    assert [(topic.query_id, topic.text) for topic in topics] == [
        ("20001", "obama family tree"),
        ("20002", "at 8:30 am"),
    ]
    assert "the digit behind each identifier is left out" in capsys.readouterr().err
    first, *_ = read("topics", "colon", "1:2:30 am\n2:red pear\n3:pie\n")
    assert (first.query_id, first.text) == ("1", "2:30 am")


@pytest.mark.parametrize("line_end", ["\n", ""])
def test_a_topic_of_other_parts_names_them(line_end, read):
    parts = ["<disease>a <i>rare</i> one</disease>", "<gene id='2'>CDK4</gene>", "</topic>"]
    text = line_end.join(["<topic number='1'>", *parts])
    (fault,) = read("topics", "trec", text)
    assert fault.remedy.startswith(
        "Its parts disease, gene are not read; write lines of number, tab and query"
    )


@pytest.mark.parametrize(
    "text",
    [
        "<topic><id>7</id><title>red pear</title></topic>",
        "<top>\n<qid> 7\n<title> red pear\n</top>",
        "<topic><query_id>7</query_id><query>red pear</query></topic>",
        "<topic topic-id='7'><title>red pear</title></topic>",
        "<topic><num>7</num><id>8</id><title>red pear</title></topic>",
    ],
)
def test_a_topic_has_its_number_by_another_name(text, read):
    (topic,) = read("topics", "trec", text)
    assert (topic.query_id, topic.text) == ("7", "red pear")
