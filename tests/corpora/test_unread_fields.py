"""Fields of a record that are not read are named once, with what they may have been meant for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def test_columns_of_tables_are_fields(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    import pandas as pd

    (tmp_path / "a.tsv").write_text("id\ttitel\tyear\ttext\nd1\tApfel\t1\tEin Rezept.\n")
    pd.DataFrame([{"id": "d1", "titel": "Apfel", "year": 1, "text": "Ein Rezept."}]).to_parquet(
        tmp_path / "a.parquet"
    )
    for name in ("a.tsv", "a.parquet"):
        list(read_documents(tmp_path / name))
        assert capsys.readouterr().err.count(NOTE) == 1


def test_topics_have_fields_too(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    topics = write_lines(tmp_path / "topics.jsonl", [{"id": "q", "text": "pie", "querry": "apple"}])
    assert read_topics(str(topics)) == {"q": "pie"}
    assert "fields that are not read: querry (did you mean query?); name others" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "separator"), [("topics.csv", ","), ("topics.tsv", "\t")])
def test_tables_of_topics_have_no_option_that_names_fields(
    name: str, separator: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / name).write_text("id,text,remark\nq,pie,new\n".replace(",", separator))
    assert read_topics(str(tmp_path / name)) == {"q": "pie"}
    assert (
        "not read: remark; the text is that of the column text, query, title or question\n"
        in capsys.readouterr().err
    )


def test_a_column_without_a_name_needs_no_note(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "a.csv").write_text(",id,text\n0,d1,pie\n")
    assert [document.body for document in read_documents(tmp_path / "a.csv")] == ["pie"]
    assert capsys.readouterr().err == ""


def test_text_outside_the_tags_of_a_body_is_not_read_either(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a").write_text("<DOC><DOCNO>d1</DOCNO>red<TEXT>pie</TEXT></DOC>\n")
    assert [document.body for document in read_documents(tmp_path / "a", "trectext")] == ["pie"]
    assert "1 of 1 (100.0 %) documents have text outside body_tags" in capsys.readouterr().err


def test_many_fields_are_counted_and_ten_are_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    records = [{"id": f"d{i}", "text": "pie", **{f"{i}-{n}x": 1 for n in range(300)}} for i in range(9)]
    list(read_documents(write_lines(tmp_path / "documents.jsonl", records)))
    [note] = [line for line in capsys.readouterr().err.splitlines() if "not read" in line]
    assert note.count("x,") == 9
    assert " and 1,190 more" in note


def test_names_in_capitals_are_the_same_fields(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Spreadsheets begin the names of their columns with a capital."""
    (tmp_path / "a.tsv").write_text("ID\tTitle\tText\nd1\tApple\tpie\n")
    [document] = read_documents(tmp_path / "a.tsv")
    assert (document.document_id, document.title, document.body) == ("d1", "Apple", "pie")
    assert "not read" not in capsys.readouterr().err
    records = [{"Id": "d1", "TEXT": "pie", "text": "tart"}]
    [document] = read_documents(write_lines(tmp_path / "a.jsonl", records))
    assert document.body == "tart"
    assert "not read: TEXT (did you mean text?)" in capsys.readouterr().err
