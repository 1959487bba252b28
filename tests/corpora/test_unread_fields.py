"""Fields of a record that are not read are named once, with what they may have been meant for."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irpretrain import Collection, read_documents
from irpretrain.command import main
from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.sources import write_shard
from irpretrain.library.formats import read_topics


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


RECORDS = [
    {"id": "d1", "titel": "Apfelkuchen", "text": "Ein Rezept.", "year": 1},
    {"id": "d2", "titel": "Birne", "text": "Noch ein Text."},
]
NOTE = "fields that are not read: titel (did you mean title?), year; "
# Tables of topics have no option that names fields.
COLUMNS_OF_TOPICS = "not read: remark; the text is that of the column text, query, title or question\n"


def test_a_search_names_the_field_once(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    documents = write_lines(tmp_path / "documents.jsonl", RECORDS)
    (tmp_path / "topics.tsv").write_text("q1\tApfelkuchen\n")
    search = ["search", str(documents), str(tmp_path / "topics.tsv")]
    assert main(search) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count(NOTE) == 1
    assert "name others by --option title_field=NAME" in printed.err
    assert main([*search, "--option", "title_field=titel"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split()[2] == "d1"
    assert "fields that are not read: year; " in printed.err


def test_every_reader_names_them(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    documents = write_lines(tmp_path / "documents.jsonl", RECORDS)
    assert len(list(read_documents(documents))) == 2
    assert capsys.readouterr().err.count(NOTE) == 1
    Collection.read(documents)
    assert capsys.readouterr().err.count(NOTE) == 1
    config = CorpusConfig(format="jsonl", path=str(documents), shards=2)
    for shard in range(2):
        output = tmp_path / f"shard-{shard}"
        counts = write_shard(config, documents, shard, output / "documents", output / "redirects")
    assert capsys.readouterr().err.count(NOTE) == 1
    assert counts.get("unread_fields", {}) == {}


@pytest.mark.parametrize(
    ("name", "content", "body", "note"),
    [
        ("a.tsv", "id\ttitel\tyear\ttext\nd1\tApfel\t1\tpie\n", "pie", NOTE),
        ("a.csv", ",id,text\n0,d1,pie\n", "pie", ""),  # a column without a name counts rows
        ("a.tsv", "ID\tTitle\tText\nd1\tApple\tpie\n", "pie", ""),
        ("a.jsonl", '{"Id": "d1", "TEXT": "pie", "text": "tart"}\n', "tart", "TEXT (did you mean text?)"),
        (
            "a.sgml",
            "<DOC><DOCNO>d1</DOCNO>red<TEXT>pie</TEXT></DOC>\n",
            "pie",
            "1 of 1 (100.0 %) documents have text outside body_tags",
        ),
    ],
    ids=["a table", "no name", "capitals", "two of one name", "text outside the tags of a body"],
)
def test_what_is_not_read_of_a_document(
    tmp_path: Path, capsys: pytest.CaptureFixture, name: str, content: str, body: str, note: str
) -> None:
    (tmp_path / name).write_text(content)
    assert [document.body for document in read_documents(tmp_path / name)] == [body]
    displayed = capsys.readouterr().err
    assert displayed.count(note) == 1 if note else displayed == ""


def test_columns_of_parquet_are_fields(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pq.write_table(pa.Table.from_pylist(RECORDS[:1]), tmp_path / "a.parquet")
    assert [document.body for document in read_documents(tmp_path / "a.parquet")] == ["Ein Rezept."]
    assert capsys.readouterr().err.count(NOTE) == 1


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        (
            "topics.jsonl",
            '{"id": "q", "text": "pie", "querry": "apple"}\n',
            "fields that are not read: querry (did you mean query?); name others",
        ),
        ("topics.csv", "id,text,remark\nq,pie,new\n", COLUMNS_OF_TOPICS),
        ("topics.tsv", "id\ttext\tremark\nq\tpie\tnew\n", COLUMNS_OF_TOPICS),
    ],
)
def test_what_is_not_read_of_topics(
    tmp_path: Path, capsys: pytest.CaptureFixture, name: str, content: str, note: str
) -> None:
    (tmp_path / name).write_text(content)
    assert read_topics(str(tmp_path / name)) == {"q": "pie"}
    assert note in capsys.readouterr().err


def test_many_fields_are_counted_and_ten_are_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    records = [{"id": f"d{i}", "text": "pie", **{f"{i}-{n}x": 1 for n in range(300)}} for i in range(9)]
    list(read_documents(write_lines(tmp_path / "documents.jsonl", records)))
    [note] = [line for line in capsys.readouterr().err.splitlines() if "not read" in line]
    assert note.count("x,") == 9
    assert " and 1,190 more" in note
