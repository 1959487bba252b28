"""Tables as spreadsheets write them: RFC 4180, its separators, and what is wrong with a table."""

import csv as standard
import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from irpretrain.corpora.formats import csv
from irpretrain.corpora.quoted_rows import CsvOptions, separator_of, split_beginning
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Judgement, Malformed, Query, Retrieved


def documents(path: Path, content: str | bytes, **options: Any) -> list[Any]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(csv.read_documents(path, csv.CsvDocumentOptions(**options)))


def bodies(path: Path, content: str | bytes, **options: Any) -> dict[str, tuple[str, str]]:
    return {d.document_id: (d.title, d.body) for d in documents(path, content, **options)}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_spreadsheet_s_table(tmp_path: Path, separator: str, end: str, mark: str) -> None:
    """Quoted separators, line breaks and marks; capitals in the header; empty rows and columns behind the table."""
    rows = [
        ["ID", "Title", "Text", ""],
        ["d1", f'"apple{separator} red"', f'"first{end}{end}second ""line"""', ""],
        ["d2", "", "pear", ""],
        ["", "", "", ""],
    ]
    content = mark + "".join(separator.join(row) + end for row in rows) + end
    assert bodies(tmp_path / "a.csv", content) == {
        "d1": (f"apple{separator} red" if separator != "\t" else "apple red", 'first\n\nsecond "line"'),
        "d2": ("", "pear"),
    }


def test_rows_are_those_of_python_s_own_reader(tmp_path: Path) -> None:
    draws = random.Random(2)
    table = [
        [draws.choice(["", "a", "a,b"]), f"d{n}", "x" + "".join(draws.choices('ab,;"\n ', k=n % 10)) + "x"]
        for n in range(500)
    ]
    with open(tmp_path / "a.csv", "w", newline="") as file:
        standard.writer(file).writerows([["title", "id", "text"], *table])
    found = documents(tmp_path / "b.csv", (tmp_path / "a.csv").read_bytes())
    assert [[d.title, d.document_id, d.body] for d in found] == table
    assert [d.position for d in found] == list(range(500))


@pytest.mark.parametrize(
    ("beginning", "rows"),
    [
        ("a,b\nc,d\ne", [["a", "b"], ["c", "d"]]),
        ("a,b\n\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        ('a,b\nc,d\ne,"f\ng', [["a", "b"], ["c", "d"]]),
        ("a,b", [["a", "b"]]),
        ("", []),
    ],
)
def test_a_last_row_that_may_be_cut_off_is_left_out_of_a_beginning(beginning: str, rows: Any) -> None:
    assert split_beginning(beginning, ",") == rows


@pytest.mark.parametrize(
    ("first", "separator"),
    [("a;b,c;d", ";"), ('"a,b,c";d', ";"), ("a\tb", "\t"), ("a", ","), ('"a;b;c",d', ",")],
)
def test_the_separator_is_what_the_first_row_has_most_of(first: str, separator: str) -> None:
    assert separator_of(first) == separator


@pytest.mark.parametrize(
    ("content", "reason", "position", "line"),
    [
        ("id,text\n1,a\n2,a,b\n", "wrong number of columns", 1, 3),
        ('id,text\n1,"a\n\nb"\n2\n', "wrong number of columns", 1, 5),
        ('id,text\n1,a\n2,"b\n3,c\n', "quotation mark is not closed", 1, 3),
        ('id,text\n1,"b\n2,"c"\n3,d\n', "text behind a closing quotation mark", 0, 2),
        (b"id,text\n1,caf\xe9\n", "not valid UTF-8", 0, 2),
        (gzip.compress(b"id,text\n1,a\n")[:-8], "damaged archive", 1, 3),
        ("id,text\n1,a\nid,text\n", "header within the table", 1, 3),
        ("id,text\n,a\n", "bad identifier", 0, 2),
        ("id,text\n 1,a\n", "bad identifier", 0, 2),
    ],
)
def test_faults_have_a_position_and_a_line(
    tmp_path: Path, content: str | bytes, reason: str, position: int, line: int
) -> None:
    found = [record for record in documents(tmp_path / "a.csv", content) if isinstance(record, Malformed)]
    assert [(fault.reason, fault.position, fault.line) for fault in found] == [(reason, position, line)]


@pytest.mark.parametrize("line", ["sep={}", "SEP={}", '"sep={}"', "\ufeffsep={}"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_that_excel_s_first_line_names(tmp_path: Path, line: str, separator: str) -> None:
    rows = [["id", "text,,;;\t\t||"], ["d1", "apple"]]
    table = "\r\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
    content = f"{line.format(separator)}\r\n{table}\r\n"
    [document] = documents(tmp_path / "a.csv", content, body_fields=["text,,;;\t\t||"])
    assert (document.document_id, document.body, document.position) == ("d1", "apple", 0)
    [document] = documents(
        tmp_path / "a.csv", f"{line.format(separator)}\nd2{separator}a", columns=["id", "text"]
    )
    assert (document.document_id, document.body) == ("d2", "a")


def test_the_separator_behind_a_header_s_line_break(tmp_path: Path) -> None:
    content = '"Text";"id\n(ours, not\ntheirs)"\n"a\n\n;b";1\n'
    assert bodies(tmp_path / "a.csv", content, id_field="id\n(ours, not\ntheirs)") == {"1": ("", "a\n\n;b")}


@pytest.mark.parametrize("end", ["\r", "\r\r"])
def test_a_table_of_old_macs_is_refused(tmp_path: Path, end: str) -> None:
    """Excel's CSV (Macintosh): the whole file would be its header."""
    for read in (
        documents,
        lambda path, content: [path.write_text(content), *csv.read_runs(path, CsvOptions())],
    ):
        with pytest.raises(InputError, match=r"csv:1: several lines in one.*\n.*Excel: CSV UTF-8") as refused:
            read(tmp_path / "a.csv", end.join(["id,text", '1,"red\rpear"', "2,apple", ""]))
        assert r"tr '\r' '\n'" in str(refused.value)
    assert bodies(
        tmp_path / "a.csv", 'id,"text\rof it"\r\n1,"red\rpear"\r\n', body_fields=["text\rof it"]
    ) == {"1": ("", "red\npear")}


@pytest.mark.parametrize("table", ["qid;docno;{};\nq1;d1;{}\n", 'qid,docno,{}\nq1,d1,"{}"\n'])
@pytest.mark.parametrize(
    ("read", "column", "cell", "remedy"),
    [
        (csv.read_runs, "score", "3,5", "Write decimals with a point (3.5, not 3,5)"),
        (csv.read_judgements, "rel", "1,0", "Write whole numbers (2, not 2,0)"),
    ],
)
def test_decimal_commas_are_refused_with_what_to_write(
    tmp_path: Path, table: str, read: Any, column: str, cell: str, remedy: str
) -> None:
    (tmp_path / "a.csv").write_text(table.format(column, cell))
    [fault] = read(tmp_path / "a.csv", CsvOptions())
    assert (fault.line, fault.remedy) == (2, remedy)
    assert repr(cell) in fault.detail


def test_excel_s_old_encoding_is_an_option(tmp_path: Path) -> None:
    [fault] = documents(tmp_path / "a.csv", b"id;text\n1;caf\xe9\n")
    assert "encoding: windows-1252" in fault.remedy
    assert bodies(tmp_path / "a.csv", b"id;text\n1;caf\xe9\n", encoding="windows-1252") == {"1": ("", "café")}


def test_text_behind_a_quoted_cell_of_one_line_belongs_to_it(tmp_path: Path) -> None:
    content = 'id,text\n1,"a" pipe\n2,"b\nc" \n'
    assert bodies(tmp_path / "a.csv", content) == {"1": ("", "a pipe"), "2": ("", "b\nc ")}


def test_a_quotation_mark_within_a_cell_is_text(tmp_path: Path) -> None:
    assert bodies(tmp_path / "a.csv", 'id,text\n1,a 5" pipe\n2,b\n') == {
        "1": ("", 'a 5" pipe'),
        "2": ("", "b"),
    }


def test_a_header_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the header names a column twice: text"):
        documents(tmp_path / "a.csv", "id,text,text\n1,a,b\n")


def test_topics_judgements_and_runs(read: Any) -> None:
    assert read("topics", "csv", 'Query ID;Question\nq1;"red; pear"\n') == [Query(0, "q1", "red; pear", 2)]
    with pytest.raises(InputError, match=r"the columns query_id, .* is needed; the file has user, iteration"):
        read("judgements", "csv", "user,iteration,docno,relevance\nq1,0,d1,2\n")
    judged = read("judgements", "csv", "qid,iteration,docno,relevance\nq1,0,d1,2\n")
    assert judged == [Judgement(0, "q1", "d1", 2, 2)]
    columns = ["query_id", "document_id", "relevance"]
    assert read("judgements", "csv", "q1,d1,2\n", columns=columns) == [Judgement(0, "q1", "d1", 2, 1)]
    run = read("runs", "csv", "qid,docno,rank,score\nq1,d1,1,2.5\n")
    assert run == [Retrieved(0, "q1", "d1", 1, 2.5, 2)]
    with pytest.raises(InputError, match="one of the columns rank, score"):
        read("runs", "csv", "qid,docno\nq1,d1\n")


@pytest.mark.parametrize("kind", ["documents", "topics", "judgements", "runs"])
def test_an_empty_file_has_no_record(read: Any, kind: str) -> None:
    assert read(kind, "csv", "\n\n") == []


def test_columns_that_are_named_leave_no_note(tmp_path: Path) -> None:
    [document] = documents(tmp_path / "a.csv", "1,x,pear\n", columns=["id", "source", "text"])
    assert isinstance(document, Document)
    assert document.unread == ()
    [document] = documents(tmp_path / "a.csv", "id,source,text\n1,x,pear\n")
    assert document.unread == ("source",)
