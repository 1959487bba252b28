"""Small sound files of the formats, seven records each, for the tests that damage, cut or divide them."""

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from cbor2 import dumps

RECORDS = 7


def _each(template: str) -> bytes:
    return "".join(template.replace("%", str(number)) for number in range(RECORDS)).encode()


def _warc() -> bytes:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n<title>t</title><p>one two"
    headers = "WARC/1.0\r\nWARC-TREC-ID: a-{}\r\nWARC-Type: response\r\nContent-Length: {}\r\n\r\n"
    return b"".join(
        headers.format(number, len(page)).encode() + page + b"\r\n\r\n" for number in range(RECORDS)
    )


def parquet_file(identifiers: Sequence[str | None]) -> bytes:
    """Documents of these identifiers, in row groups of three."""
    sink = pa.BufferOutputStream()
    table = pa.table({"id": identifiers, "text": [f"one {n}" for n in range(len(identifiers))]})
    pq.write_table(table, sink, row_group_size=3)
    return sink.getvalue().to_pybytes()


def _dump() -> bytes:
    page = "<page>\n<title>T%</title>\n<ns>0</ns>\n<id>1%</id>\n<revision>\n<text>a</text>\n</revision>\n</page>\n"
    return b"<mediawiki>\n<siteinfo><dbname>w</dbname></siteinfo>\n" + _each(page) + b"</mediawiki>\n"


SQUAD = {
    "data": [
        {
            "title": f"T{n}",
            "paragraphs": [
                {
                    "context": f"one {n}",
                    "qas": [
                        {"id": f"q{n}", "question": "Why?", "answers": [{"text": "one", "answer_start": 0}]}
                    ],
                }
            ],
        }
        for n in range(RECORDS)
    ]
}
SOUND = {
    ("documents", "jsonl"): _each('{"id": "d%", "title": "t", "text": "one %"}\n'),
    ("documents", "tsv"): b"id\ttitle\ttext\n" + _each("d%\tt\tone\n"),
    ("documents", "csv"): b"id;text\n" + _each('d%;"one; ""two""\nthree"\n'),
    ("documents", "trectext"): _each("<DOC>\n<DOCNO> A% </DOCNO>\n<TEXT>\none <P>two\n</TEXT>\n</DOC>\n"),
    ("documents", "trecweb"): _each(
        "<DOC>\n<DOCNO>A%</DOCNO>\n<DOCHDR>\nhttp://a\nX: y\n</DOCHDR>\n<title>t</title><p>one\n</DOC>\n"
    ),
    ("documents", "smart"): _each(".I %\n.T\ntitle %\n.A\nauthor\n.W\none %\n"),
    ("documents", "warc"): _warc(),
    ("documents", "car-paragraphs"): dumps(["CAR", [2], []])
    + b"\x9f"
    + b"".join(dumps([0, f"{n:040}".encode(), [[0, "one"], [0, "two"]]]) for n in range(RECORDS))
    + b"\xff",
    ("documents", "cord19"): b"cord_uid,title,abstract\n" + _each('abcdefg%,"t, ""u""",one\n'),
    ("documents", "squad"): json.dumps(SQUAD).encode(),
    ("documents", "parquet"): parquet_file([f"d{n}" for n in range(RECORDS)]),
    ("documents", "wikipedia-dump"): _dump(),
    ("topics", "trec"): _each("<top>\n<num> Number: %\n<title> one\n<desc> Description:\ntwo\n</top>\n"),
    ("topics", "smart"): _each(".I %\n.W\none %\n"),
    ("topics", "jsonl"): _each('{"_id": "q%", "text": "one"}\n'),
    ("topics", "tsv"): _each("q%\tone\n"),
    ("topics", "colon"): _each("%:one two\n"),
    ("topics", "squad"): json.dumps(SQUAD).encode(),
    ("judgements", "trec"): _each("q% 0 d% 1\n"),
    ("judgements", "tsv"): b"query-id\tcorpus-id\tscore\n" + _each("q%\td%\t1\n"),
    ("judgements", "letor"): _each("2 qid:1% 25:0.5 #docid = GX% inc = 1\n"),
    ("runs", "trec"): _each("q% Q0 d% 1 2.5 x\n"),
    ("runs", "tsv"): _each("q%\td%\t1\n"),
}
