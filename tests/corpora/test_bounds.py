"""A record over the bounds is malformed, and costs neither the memory nor the time that it asks for."""

import contextlib
import gzip
import json
import time
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cbor2 import dumps

from irpretrain.config.corpora import MalformedConfig
from irpretrain.corpora.formats import parquet
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.registry import format_of
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import TOO_LARGE, Document, Malformed, Query

MANY = 9_000
"""More parts than a record of 1 MB may have."""
LONG = 1_100_000
LARGE = {
    ("documents", "jsonl", "bytes"): b'{"id": "x", "text": "' + b"a" * LONG + b'"}\n{"id": "b", "text": "c"}',
    ("documents", "jsonl", "lists"): b'{"id": "x", "text": "a", "y": ['
    + b"[]," * MANY
    + b'[]]}\n{"id": "b", "text": "c"}',
    ("documents", "jsonl", "numbers"): b'{"id": "x", "text": "a", "y": ['
    + b"1," * (8 * MANY)
    + b'1]}\n{"id": "b", "text": "c"}',
    ("documents", "jsonl", "lines of a title"): b'{"id": "x", "text": "a", "title": "'
    + b"a\\n" * MANY
    + b'"}\n{"id": "b", "text": "c"}',
    ("documents", "tsv", "bytes"): b"id\ttext\nx\t" + b"a" * LONG + b"\nb\tc\n",
    ("documents", "tsv", "words of a title"): b"id\ttitle\ttext\nx\t" + b"a " * MANY + b"\tb\nb\tc\td\n",
    ("documents", "trectext", "tags"): b"<DOC>\n<DOCNO>x</DOCNO>\n"
    + b"<TEXT>" * MANY
    + b"a</TEXT>\n</DOC>\n<DOC>\n<DOCNO>b</DOCNO>\n<TEXT>c</TEXT>\n</DOC>\n",
    ("documents", "trectext", "bytes"): b"<DOC>\n<DOCNO>x</DOCNO>\n"
    + b"a" * (4 * LONG)
    + b"\n</DOC>\n<DOC>\n<DOCNO>b</DOCNO>\n<TEXT>c</TEXT>\n</DOC>\n",
    ("documents", "smart", "lines"): b".I 1\n.W\n" + b"a\n" * MANY + b".I 2\n.W\nc\n",
    ("documents", "warc", "bytes"): b"".join(
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
        % (len(page), page)
        for page in (b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * size for size in (LONG, 5))
    ),
    ("documents", "car-paragraphs", "lists"): dumps([0, b"a", [[0, "b"]] * MANY]),
    ("documents", "squad", "lists"): json.dumps({"data": [[]] * (4 * MANY)}).encode(),
    ("topics", "trec", "lines"): b"<top>\n<num>1\n<title>" + b"a\n" * MANY + b"</top>\n<top><num>2<title>c</top>\n",
    ("topics", "smart", "fields"): b".I 1\n.W\na\n" + b".A\n" * MANY + b".I 2\n.W\nc\n",
    ("topics", "smart", "bytes"): b".I 1\n.W\n" + b"a" * (LONG // 2) + b"\n" + b"a" * (LONG // 2) + b"\n.I 2\n.W\nc\n",
    ("topics", "colon", "words"): b"1:" + b"a " * MANY + b"\n2:c\n",
    ("topics", "jsonl", "lists"): b'{"id": "x", "text": "a", "y": ['
    + b"{}," * MANY
    + b'[]]}\n{"id": "b", "text": "c"}',
}  # fmt: skip
LINES = {"jsonl": 1, "tsv": 2, "smart": 1, "trec": 1, "colon": 1}
"""Where the record begins in formats that count lines."""
LOCATIONS = {
    "trectext": "document 1, byte 0",
    "warc": "record 1, byte 0",
    "car-paragraphs": "item 1, byte ",
}
ENDS = {"car-paragraphs", "squad"}
"""Formats in which nothing can be read behind such a record."""


@contextlib.contextmanager
def bounded(megabytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("irpretrain.foundation.records.RECORD_MB", megabytes)
        yield


@contextlib.contextmanager
def using_at_most(megabytes):
    """Refuse what allocates more memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 1_000_000
    finally:
        tracemalloc.stop()


def records(kind, name, path, megabytes):
    module = format_of(kind, name)
    with bounded(megabytes):
        return list(module.read(path, module.options()))


@pytest.mark.parametrize("case", LARGE, ids=" ".join)
def test_a_record_over_the_bounds_is_malformed_and_the_next_one_is_read(case, tmp_path):
    kind, name, _ = case
    (tmp_path / "a.gz").write_bytes(gzip.compress(LARGE[case]))
    read = records(kind, name, tmp_path / "a.gz", 1)
    [fault] = [record for record in read if isinstance(record, Malformed) and record.reason == TOO_LARGE]
    assert (fault.position, fault.line) == (LINES.get(name, 1) - 1, LINES.get(name))
    assert fault.location.startswith(LOCATIONS.get(name, ""))
    assert sum(isinstance(record, Document | Query) for record in read) == (name not in ENDS)
    within = records(kind, name, tmp_path / "a.gz", 8)
    assert not [record for record in within if isinstance(record, Malformed) and record.reason == TOO_LARGE]


def test_the_message_says_what_the_bound_is(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LARGE["documents", "jsonl", "lists"])
    tally = RecordTally(MalformedConfig(skip=0), "malformed")
    fault = r"more than 1,048,576 bytes, or than 8,192 tags.*\n.*Cut it into several"
    found = records("documents", "jsonl", tmp_path / "a.jsonl", 1)
    with bounded(1), pytest.raises(InputError, match=fault):
        list(tally.sound(tmp_path / "a.jsonl", found))


def test_equal_texts_of_parquet_are_held_once(tmp_path):
    """A thousand rows share one text: a few kB of file, 2 GB of text."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 1000), pa.array(["x" * 2_000_000]))
    table = pa.table({"id": [str(number) for number in range(1000)], "text": text})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd", store_schema=False)
    assert (tmp_path / "a.parquet").stat().st_size < 20_000
    allocated = pa.total_allocated_bytes()
    reader = parquet.DOCUMENTS.read(tmp_path / "a.parquet", parquet.DOCUMENTS.options())
    assert isinstance(next(reader), Document)
    assert pa.total_allocated_bytes() - allocated < 20_000_000
    with bounded(1):
        reader = parquet.DOCUMENTS.read(tmp_path / "a.parquet", parquet.DOCUMENTS.options())
        assert next(reader).reason == TOO_LARGE


def test_different_texts_of_a_large_row_group_of_parquet_are_not_held_together(tmp_path):
    table = pa.table(
        {"id": list(map(str, range(4000))), "text": [f"{number} " * 2000 for number in range(4000)]}
    )
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    del table
    allocated = pa.total_allocated_bytes()
    most = 0
    records = parquet.DOCUMENTS.read(tmp_path / "a.parquet", parquet.DOCUMENTS.options())
    with bounded(1):
        for number, record in enumerate(records):
            assert (record.document_id, record.body.partition(" ")[0]) == (str(number), str(number))
            most = max(most, pa.total_allocated_bytes() - allocated)
    assert number == 3999
    assert most < 40_000_000  # 120,000,000 where all are held


def test_lists_of_json_are_counted_before_they_are_made(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"id": "x", "text": "a", "y": [' + b"[]," * 1_000_000 + b"[]]}\n")
    with using_at_most(40):  # 80 with the lists
        records("documents", "jsonl", tmp_path / "a.jsonl", 64)


FIELDS = {
    ("judgements", "trec", "columns"): b"ab " * 2_000_000,
    ("runs", "trec", "columns"): b"ab " * 2_000_000,
    ("judgements", "letor", "features"): b"2 qid:1 " + b"1:1 " * 2_000_000 + b"#docid = d",
    ("documents", "tsv", "names"): b"ab\t" * 2_000_000,
    ("judgements", "tsv", "names"): b"ab\t" * 2_000_000,
    ("judgements", "tsv", "columns"): b"ab " * 2_000_000,
    ("documents", "csv", "names"): b"ab," * 2_000_000,
    ("documents", "csv", "cells"): b"id,text\n" + b"ab," * 2_000_000,
    ("runs", "tsv", "columns"): b"ab " * 2_000_000,
    ("documents", "tsv", "words of a title"): b"id\ttitle\ttext\nd\t" + b"ab " * 2_000_000 + b"\tc",
    ("topics", "colon", "words"): b"1:" + b"ab " * 2_000_000,
    ("documents", "cord19", "a cell without end"): b'cord_uid,title,abstract\na,b,"' + b"ab " * 3_000_000,
}


@pytest.mark.parametrize("case", FIELDS, ids=" ".join)
def test_a_line_of_short_fields_takes_little_more_memory_than_itself(case, tmp_path):
    kind, name, _ = case
    (tmp_path / "a").write_bytes(FIELDS[case] + b"\n")
    module = format_of(kind, name)
    options = module.options()
    with using_at_most(50), bounded(8), contextlib.suppress(InputError):  # 120 with all fields; of a header
        assert isinstance(next(module.read(tmp_path / "a", options)), Malformed)


SLOW = {
    "keys of JSON": (
        "documents",
        "jsonl",
        b"{%b}" % b",".join(b'"%d": 1' % (n % 99_999) for n in range(100_000)),
    ),
    "blanks in a header of WARC": (
        "documents",
        "warc",
        b"WARC/1.0\nA: a" + b" " * 60_000 + b"a\nWARC-Type: response\nContent-Length: 1\n\na\n\n",
    ),
    "a line of LETOR without a document": ("judgements", "letor", b"1 qid:" + b"a" * 1_000_000),
    "digits of a score": ("runs", "trec", b"q Q0 d 1 " + b"1" * 100_000 + b"x t\n"),
    "digits of a feature": ("judgements", "letor", b"1 qid:1 1:" + b"1" * 100_000 + b"x #docid = d\n"),
    "lines of a topic": (
        "topics",
        "trec",
        b"<top>\n<num> 1\n<title> a\n" + b"<a\n" * 1_000_000 + b"</top>\n",
    ),
    "columns of a header": ("documents", "tsv", "\t".join(["id", "text", *map(str, range(40_000))]).encode()),
    "lines of a record of SMART": ("topics", "smart", b".I 1\n.W\n" + b"a\n" * 1_000_000),
}


@pytest.mark.parametrize("case", SLOW)
def test_a_record_takes_time_that_grows_with_its_length_alone(case, tmp_path):
    kind, name, content = SLOW[case]
    (tmp_path / "a").write_bytes(content)
    start = time.process_time()
    assert not any(isinstance(record, Query) for record in records(kind, name, tmp_path / "a", 64))
    assert time.process_time() - start < 10  # minutes and hours before
