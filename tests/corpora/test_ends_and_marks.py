"""Only a line feed ends a line, only blanks and tabs separate columns, and marks of joined files are no text."""

import contextlib
from typing import Any

import pytest
from sound_files import RECORDS, SOUND

from irpretrain.evaluation.runs import read_qrels, read_run
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Judgement, Malformed, Query, Retrieved

OTHER_ENDS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"]
MARK = b"\xef\xbb\xbf"
LINES = [
    *(("topics", name) for name in ("colon", "tsv", "jsonl", "smart", "trec")),
    *(("judgements", name) for name in ("trec", "letor")),
    *(("runs", name) for name in ("trec", "tsv")),
    *(("documents", name) for name in ("jsonl", "smart", "wikipedia-dump", "trectext")),
]
"""Formats of lines, and their kinds."""
READ = (Document, Judgement, Query, Retrieved)


def sound(records: list[Any]) -> list[Any]:
    return [record for record in records if isinstance(record, READ)]


@pytest.mark.parametrize("end", OTHER_ENDS, ids=ascii)
@pytest.mark.parametrize("case", LINES, ids=" ".join)
def test_another_line_end_loses_no_record_in_silence(case: tuple[str, str], end: str, read) -> None:
    with contextlib.suppress(InputError):  # XML holds no control characters
        records = read(*case, SOUND[case].decode().replace("\n", end))
        assert len(sound(records)) == RECORDS or any(isinstance(record, Malformed) for record in records)


@pytest.mark.parametrize("end", OTHER_ENDS, ids=ascii)
def test_a_record_of_smart_within_a_text_is_a_fault(end: str, read) -> None:
    text = f".I 1\n.W\nred pear{end}.I 2{end}.W{end}green\n.I 3\n.W\napple\n"
    assert any(isinstance(record, Malformed) for record in read("topics", "smart", text))


@pytest.mark.parametrize("case", LINES, ids=" ".join)
def test_marks_before_any_line_are_no_text(case: tuple[str, str], read) -> None:
    content, is_xml = SOUND[case], case[1] == "wikipedia-dump"  # XML has one beginning
    plain = read(*case, content if is_xml else content * 2)
    assert sound(plain) == plain
    marked = read(*case, MARK * 2 + (content if is_xml else content + MARK + content))
    assert [type(record) for record in marked] == [type(record) for record in plain]
    assert is_xml or marked == plain  # a position of XML is a byte


@pytest.mark.parametrize("blank", ["\xa0", "\u3000", "\x85", "\x1f", "\u200b"], ids=ascii)
@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("judgements", "q1 0 a{}1 1\nq1 0 b{}1 1\n"),
        ("judgements", "q{}1 0 a 1\nq{}1 0 b 1\n"),
        ("runs", "q1 Q0 a{}1 1 2.5 x\n"),
    ],
)
def test_other_white_space_in_an_identifier_shifts_no_column(kind: str, lines: str, blank: str, read) -> None:
    records = read(kind, "trec", lines.replace("{}", blank))
    assert {getattr(record, "reason", "") for record in records} == {"bad identifier"}


def test_a_document_of_letor_is_not_cut_at_other_white_space(read) -> None:
    (record,) = read("judgements", "letor", "1 qid:1 1:0.5 #docid = a\xa01 inc = 1\n")
    assert isinstance(record, Malformed)
    assert record.reason == "bad identifier"


def test_our_own_files_split_at_blanks_and_tabs_alone(tmp_path) -> None:
    (tmp_path / "run").write_text("q1 Q0 a\xa01 1\t2.5 x\n\ufeffq2 Q0 b 1 2.5 x\n", encoding="utf-8")
    assert read_run(tmp_path / "run") == {"q1": [("a\xa01", 2.5)], "q2": [("b", 2.5)]}
    (tmp_path / "qrels").write_text("q1 0 a 1\x0bq2 0 b 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="this line has 7"):
        read_qrels(tmp_path / "qrels")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("documents", "id\ttext\na\tred\n{}id\ttext\nb\tgreen\n"),
        ("judgements", "query-id\tcorpus-id\tscore\n1\ta\t1\n{}query-id\tcorpus-id\tscore\n2\tb\t1\n"),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_header_of_a_second_table_is_no_record(kind: str, text: str, mark: str, read) -> None:
    records = read(kind, "tsv", text.replace("{}", mark))
    assert [getattr(record, "reason", "") for record in records] == ["", "header within the table", ""]


@pytest.mark.parametrize("again", ["id\ttext ", "ID\tTEXT", " Id \tText", '"id"\t"text"'])
def test_the_header_of_a_second_table_may_be_spelled_otherwise(again: str, read) -> None:
    records = read("documents", "tsv", f"id\ttext\na\tred\n{again}\nb\tid\nid\tgreen\n")
    assert [getattr(record, "reason", "") for record in records] == ["", "header within the table", "", ""]


@pytest.mark.parametrize(
    ("kind", "format_name", "text"),
    [
        ("judgements", "trec", "1 0 a 1\r2 0 b 1\r"),
        ("runs", "trec", "1 Q0 a 1 2.5 x\r2 Q0 b 1 2.5 x\r"),
        ("topics", "tsv", "1\tred\r2\tgreen\r"),
        ("runs", "tsv", "1\ta\t1\r2\tb\t1\r"),
    ],
)
def test_lines_that_end_in_a_carriage_return_are_named(kind: str, format_name: str, text: str, read) -> None:
    (fault,) = read(kind, format_name, text)
    assert fault.reason == "several lines in one"


def test_a_table_of_carriage_returns_has_no_header(read) -> None:
    with pytest.raises(InputError, match="the header cannot be read: several lines in one"):
        read("documents", "tsv", "id\ttext\ra\tred\r")


def test_a_header_is_no_record_where_the_columns_are_named(read) -> None:
    fault, document = read("documents", "tsv", "id\ttext\na\tred\n", columns=["id", "text"])
    assert (fault.reason, document.document_id) == ("header within the table", "a")
