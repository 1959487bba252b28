"""Whatever bytes a file holds, every reader yields records or InputError, and records that tables can hold."""

import gzip
import json
from pathlib import Path

import pytest
from cbor2 import dumps
from hypothesis import given
from packings import zstandard
from sound_files import SOUND

from damage import PACKINGS, damaged
from irpretrain.config.corpora import MalformedConfig
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.registry import FORMATS, format_of
from irpretrain.foundation.characters import identifier_fault
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import (
    Answers,
    Document,
    Judgement,
    Malformed,
    Query,
    Redirect,
    Retrieved,
    Skipped,
    SpanQuestion,
)

RECORDS = (Document, Query, Judgement, Answers, Retrieved, SpanQuestion)
XML = (
    b'<mediawiki><siteinfo><dbname>w</dbname><namespaces><namespace key="6">File</namespace></namespaces></siteinfo>'
    b"<page><title>A</title><ns>0</ns><id>1</id><revision><text>''a'' [[b|c]] {{d}} &lt;ref&gt;e&lt;/ref&gt;</text>"
    b'</revision></page><page><title>B</title><ns>0</ns><id>2</id><redirect title="A"/></page></mediawiki>'
)


CONTENTS = {
    **SOUND,
    ("documents", "wikipedia-dump"): XML,
    ("questions", "squad"): SOUND["topics", "squad"],
    ("documents", "lecard"): '{"ajName": "一案", "qw": "湖北省"}'.encode(),
    ("runs", "lecard"): b"",
    ("topics", "trec"): b"<top>\n<num> Number: 1\n<title> one\n</top>\n"
    b"<topic number='2'><query>b</query></topic>",
    ("topics", "csv"): b"id;text\nq1;one\n",
    ("judgements", "csv"): b"qid,docno,rel\nq1,d1,1\n",
    ("runs", "csv"): b"qid,docno,score\nq1,d1,1.5\n",
    ("topics", "car-outlines"): dumps([0, "A", b"enwiki:A", [[0, "B", b"B", [[0, "C", b"C", []]]]]]),
    ("topics", "entity-questions"): b'[{"question": "What?", "answers": ["x"]}]',
    ("judgements", "entity-questions"): b'[{"question": "What?", "answers": ["x", "y z"]}]',
    ("judgements", "squad"): SOUND["topics", "squad"],
    ("judgements", "json"): b'{"q1": {"d1": 1, "d2": 0}}',
    ("runs", "json"): b'{"q1": {"d1": 1.5, "d2": 0}}',
    ("runs", "letor"): SOUND["judgements", "letor"],
    (
        "questions",
        "mrqa",
    ): b'{"header": {}}\n{"context": "one two", "qas": [{"qid": "q1", "question": "What?", '
    b'"answers": ["two"], "detected_answers": [{"char_spans": [[4, 6]]}]}]}\n',
}
OPTIONS = {"trectext": [{}, {"encoding": "latin-1"}]}
"""Options with which a format is read; those of the others are the default alone."""
ALL = [(kind, name) for kind, names in FORMATS.items() for name in names if name != "ir_datasets"]
"""All formats of files; ir_datasets reads its own."""
SINGLE_RECORDS = {"lecard"}
"""Formats whose files hold one record each: a damaged file loses no other record."""


TOKENS = [
    *(b"\n", b"\t", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(b"{", b'"', b"null", b"1e999", b"-1", b"\\ud800"),
    *(b"<", b"</page>", b"<page>", b"<text>", b"&lt;!--", b"<!DOCTYPE a>", b"&#0;", b"[[", b"{{", b"{|"),
    *(b"<top>", b"</top>", b"<num>", b"<!--", b"-->"),
    *(b"<DOC>", b"</DOC>", b"<DOCNO>", b"<DOCHDR>", b"<TEXT>"),
    *(b"WARC/0.18\n", b"\n\n", b"Content-Length: 9\n", b"\n.I ", b"qid:", b"NULL", b",", b"\r", b"../"),
]


@pytest.mark.hypothesis
@pytest.mark.parametrize(("kind", "name"), ALL)
def test_any_bytes(kind, name, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "folder/input"
    path.parent.mkdir()
    reader = format_of(kind, name)
    sound = CONTENTS[kind, name]

    @given(damaged(sound, TOKENS, [*PACKINGS, zstandard]))
    def check(data):
        path.write_bytes(data)
        for options in all_options:
            _read_all(reader, path, options)

    all_options = [reader.options(**options) for options in OPTIONS.get(name, [{}])]
    path.write_bytes(sound)
    assert any(isinstance(record, RECORDS) for record in reader.read(path, all_options[0]))
    check()


@pytest.mark.parametrize(("kind", "name"), [entry for entry in ALL if entry[1] not in SINGLE_RECORDS])
def test_an_archive_that_breaks_off_stops_a_run_that_skips_few_records(kind, name, tmp_path):
    reader = format_of(kind, name)
    path = tmp_path / "input.gz"
    path.write_bytes(gzip.compress(CONTENTS[kind, name])[:-20])
    tally = RecordTally(MalformedConfig(skip=0.9), "malformed")
    with pytest.raises(
        InputError, match=r"damaged archive: .*Compressed file ended before|must not be packed"
    ):
        list(tally.sound(path, reader.read(path, reader.options(**OPTIONS.get(name, [{}])[0]))))


def _read_all(reader, path: Path, options) -> None:
    tally = RecordTally(MalformedConfig(skip=1), "malformed")
    try:
        for record in tally.sound(path, _checked(reader.read(path, options))):
            _check_record(record)
    except InputError as error:
        if error.path != path:
            raise
        str(error).encode()
    json.dumps(tally.counts()).encode()
    "\n".join(tally.examples).encode()


def _checked(records):
    for record in records:
        assert isinstance(record, (*RECORDS, Redirect, Skipped, Malformed))
        assert record.position >= 0
        yield record


def _check_record(record) -> None:
    identifiers = [getattr(record, name) for name in ("document_id", "query_id") if hasattr(record, name)]
    assert not any(identifier_fault(identifier) for identifier in identifiers)
    texts = [getattr(record, name, "") for name in ("title", "url", "body", "text", "target", "fragment")]
    for text in texts:
        assert isinstance(text, str)
        text.encode("utf-8")
        assert not any(ord(c) < 32 and c not in "\t\n" for c in text)
    if isinstance(record, Query):
        assert record.text
        assert "\n" not in record.text
