"""The formats json_files.DOCUMENTS, tsv and parquet of documents."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irpretrain.corpora.formats import json_files, parquet, tsv
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Malformed, Share, Skipped


def read_json(tmp_path, *records, **options):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records))
    return list(json_files.DOCUMENTS.read(path, json_files.DOCUMENTS.options(**options)))


def test_json_documents_with_common_field_names(tmp_path):
    found = read_json(
        tmp_path,
        {"_id": "d1", "title": " A \n title", "text": "one two\r\nthree"},
        {"id": 7, "contents": "four", "url": "http://a"},
        {"docid": "d3", "title": None, "body": "five\u0000six"},
    )
    assert found == [
        Document(0, "d1", "A title", "", "one two\nthree"),
        Document(1, "7", "", "http://a", "four"),
        Document(2, "d3", "", "", "five six"),
    ]


def test_json_documents_with_named_fields(tmp_path):
    record = {"key": "d1", "id": "no", "head": "h", "lead": "one", "rest": "two", "text": "no", "gap": None}
    names = {"id_field": "key", "title_field": "head", "body_fields": ["lead", "gap", "rest"]}
    assert read_json(tmp_path, record, **names) == [Document(0, "d1", "h", "", "one\ntwo")]


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ("{", "not valid JSON", "jq -c . FILE"),
        ("[" * 100_000, "not valid JSON", "nested too deeply"),
        ("1" * 5000, "not valid JSON", "integer string"),
        ("[1]", "a JSON list", "jq -c '.[]'"),
        ('{"id": "a", "text": "a", "text": "b"}', "not valid JSON", "an object has the key 'text' twice"),
        ("1", "not a JSON object", "1"),
        ({"text": "a"}, "no identifier", "there are text"),
        ({"id": ["a"], "text": "a"}, "bad identifier", "not a list"),
        ({"id": True, "text": "a"}, "bad identifier", "not true or false"),
        ({"id": "a b", "text": "a"}, "bad identifier", "white space"),
        ({"id": "", "text": "a"}, "bad identifier", "empty"),
        (
            {"id": "a\u200b", "text": "a"},
            "bad identifier",
            r"'a\u200b' holds white space, control or invisible",
        ),
        ({"id": "a", "_id": "b", "text": "a"}, "two fields for one", "'id' and '_id' mean the same"),
        ({"docid": "b", "id": "a", "text": "a"}, "two fields for one", "'id' and 'docid' mean the same"),
        (
            {"id": "a", "text": "a", "contents": "b"},
            "two fields for one",
            "'text' and 'contents' mean the same",
        ),
        ({"id": "a"}, "no text", "none of the fields text, body, contents, content is there; there are id"),
        ({"id": "a", "text": 3}, "field is not text", "field text is a number"),
        ({"id": "a", "text": "a", "title": ["t"]}, "field is not text", "field title is a list"),
    ],
)
def test_malformed_json_documents(tmp_path, line, reason, detail):
    (found,) = read_json(tmp_path, line)
    assert isinstance(found, Malformed)
    assert (found.reason, found.line, found.position) == (reason, 1, 0)
    assert detail in found.detail


def test_a_document_without_text_is_skipped(tmp_path):
    assert read_json(tmp_path, {"id": "a", "text": " \n"}) == [
        Skipped(0, "empty document", location="document a, line 1")
    ]
    assert read_json(tmp_path, {"id": "a", "title": "t", "text": ""}) == [Document(0, "a", "t", "", "")]


def test_only_the_lines_of_a_share_are_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr("irpretrain.foundation.records.BLOCK_RECORDS", 1)
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 0, "text": "a"}\nbroken\n{"id": 2, "text": "c"}\n')
    found = json_files.DOCUMENTS.read(path, json_files.DOCUMENTS.options(), Share(0, 2))
    assert [document.document_id for document in found] == ["0", "2"]


@pytest.mark.parametrize("blank_lines", range(4))
def test_the_header_of_a_table_is_no_row_of_any_share(tmp_path, monkeypatch, blank_lines):
    monkeypatch.setattr("irpretrain.foundation.records.BLOCK_RECORDS", 2)
    path = tmp_path / "a.tsv"
    path.write_text("\n" * blank_lines + "id\ttext\n" + "".join(f"d{n}\tone\n" for n in range(9)))
    options = tsv.DOCUMENTS.options()
    found = [d.document_id for n in range(3) for d in tsv.DOCUMENTS.read(path, options, Share(n, 3))]
    assert sorted(found) == [f"d{n}" for n in range(9)]


def test_tsv_with_header_and_with_named_columns(tmp_path):
    (tmp_path / "a.tsv").write_text('docid\ttitle\ttext\nd1\tA\tone "two\nd2\tB\n')
    found = list(tsv.DOCUMENTS.read(tmp_path / "a.tsv", tsv.DOCUMENTS.options()))
    assert found[0] == Document(1, "d1", "A", "", 'one "two')
    assert (found[1].reason, found[1].detail, found[1].line) == (
        "wrong number of columns",
        "2 instead of 3",
        3,
    )
    with gzip.open(tmp_path / "b.tsv.gz", "wt") as handle:
        handle.write("d1\thttp://a\tA\tone\n")
    options = tsv.DOCUMENTS.options(columns=["id", "url", "title", "body"])
    assert list(tsv.DOCUMENTS.read(tmp_path / "b.tsv.gz", options)) == [
        Document(0, "d1", "A", "http://a", "one")
    ]


def test_tsv_headers_that_cannot_be_used(tmp_path):
    path = tmp_path / "a.tsv"
    for text, message in (
        ("id\tid\ttext\n", "names a column twice"),
        ("name\ttext\n", "none of the fields id, _id"),
        ("id\tprose\n", r"body_fields"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            list(tsv.DOCUMENTS.read(path, tsv.DOCUMENTS.options()))
    with pytest.raises(InputError, match="there is no column prose; there are id, text"):
        list(tsv.DOCUMENTS.read(path, tsv.DOCUMENTS.options(columns=["id", "text"], body_fields=["prose"])))
    path.write_bytes(b"\xff\xff\n")
    with pytest.raises(InputError, match=r":1: the header cannot be read.*\n  Save the file as UTF-8"):
        list(tsv.DOCUMENTS.read(path, tsv.DOCUMENTS.options()))
    path.write_text("")
    assert list(tsv.DOCUMENTS.read(path, tsv.DOCUMENTS.options())) == []
    with pytest.raises(ValueError, match="id is listed twice"):
        tsv.DOCUMENTS.options(columns=["id", "id"])


def test_parquet_documents(tmp_path):
    table = pa.table(
        {"id": [1, 2, None], "text": ["one", "", "x"], "title": ["A", None, "B"], "extra": [0.1, 0.2, 0.3]}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    found = list(parquet.DOCUMENTS.read(tmp_path / "a.parquet", parquet.DOCUMENTS.options()))
    assert found[0] == Document(0, "1", "A", "", "one")
    assert found[1] == Skipped(1, "empty document", location="document 2")
    assert (found[2].reason, found[2].position) == ("bad identifier", 2)


def write_rows(path, rows):
    """Write `rows` documents of one word in row groups of 700, uncompressed."""
    table = pa.table({"id": [str(n) for n in range(rows)], "body": ["text"] * rows})
    pq.write_table(table, path, row_group_size=700, compression="none", use_dictionary=["body"])


def test_a_changed_page_with_a_checksum_is_damaged(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"id": ["d1"], "text": ["banana"]})
    pq.write_table(table, path, write_page_checksum=True, write_statistics=False, use_dictionary=False)
    packed = path.read_bytes()
    at = packed.index(b"banana")
    path.write_bytes(packed[:at] + b"bandna" + packed[at + 6 :])
    [found] = list(parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options()))
    assert isinstance(found, Malformed)
    assert "CRC" in str(found)


def test_shares_of_a_parquet_file_are_ranges_of_rows(tmp_path):
    path = tmp_path / "a.parquet"
    write_rows(path, 3000)
    shares = [list(parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options(), Share(n, 4))) for n in range(4)]
    assert [len(documents) for documents in shares] == [750] * 4
    together = [document for documents in shares for document in documents]
    assert [(d.position, d.document_id) for d in together] == [(n, str(n)) for n in range(3000)]


def test_damage_in_a_row_group_costs_no_other_and_is_reported_once(tmp_path):
    """Rows 1400 to 2099 are damaged: 1400 is the last share's of two, and its place is told; whatever the shares."""
    path = tmp_path / "a.parquet"
    write_rows(path, 2800)
    pages = pq.ParquetFile(path).metadata.row_group(2).column(0)
    content = bytearray(path.read_bytes())
    content[pages.data_page_offset : pages.data_page_offset + 8] = b"\xff" * 8
    path.write_bytes(content)
    sound = [*range(1400), *range(2100, 2800)]
    for of in (1, 2, 4, 5):
        found = [
            r
            for n in range(of)
            for r in parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options(), Share(n, of))
        ]
        (damage,) = [record for record in found if isinstance(record, Malformed)]
        assert (damage.reason, damage.position, damage.loses_more) == ("damaged Parquet file", 1400, True)
        assert [record.position for record in found if record is not damage] == sound


def test_a_damaged_name_of_a_parquet_column_is_reported_by_one_share(tmp_path):
    path = tmp_path / "a.parquet"
    write_rows(path, 1)
    path.write_bytes(path.read_bytes().replace(b"body", b"bod\xff"))
    (damage,) = parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options(), Share(0, 2))
    assert damage.reason == "damaged Parquet file"
    assert list(parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options(), Share(1, 2))) == []


def test_parquet_that_cannot_be_used(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing PAR1")
    (found,) = parquet.DOCUMENTS.read(tmp_path / "a.parquet", parquet.DOCUMENTS.options())
    assert (found.reason, found.remedy) == (
        "damaged Parquet file",
        "Get the file again and compare its checksum",
    )
    pq.write_table(pa.table({"name": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="none of the fields id"):
        list(parquet.DOCUMENTS.read(tmp_path / "b.parquet", parquet.DOCUMENTS.options()))
    pq.write_table(pa.table([["a"], ["b"], ["c"]], names=["id", "text", "text"]), tmp_path / "c.parquet")
    with pytest.raises(InputError, match="two columns called text"):
        list(parquet.DOCUMENTS.read(tmp_path / "c.parquet", parquet.DOCUMENTS.options()))
    pq.write_table(pa.table([["a"], ["b"], ["c"]], names=["id", "text", "doc_id"]), tmp_path / "d.parquet")
    with pytest.raises(InputError, match="'id' and 'doc_id' mean the same"):
        list(parquet.DOCUMENTS.read(tmp_path / "d.parquet", parquet.DOCUMENTS.options()))
    options = parquet.DOCUMENTS.options(id_field="doc_id")
    assert list(parquet.DOCUMENTS.read(tmp_path / "d.parquet", options)) == [Document(0, "c", "", "", "b")]


def test_columns_of_one_meaning(tmp_path):
    (tmp_path / "d.tsv").write_text("id\ttext\tbody\n1\ta\tb\n")
    with pytest.raises(InputError, match=r"'text' and 'body' mean the same(.|\n)*body_fields"):
        list(tsv.DOCUMENTS.read(tmp_path / "d.tsv", tsv.DOCUMENTS.options()))
    (tmp_path / "q.tsv").write_text("query_id\tcorpus-id\tdocid\tscore\n1\ta\tb\t1\n")
    with pytest.raises(InputError, match="'corpus-id' and 'docid' mean the same"):
        list(tsv.JUDGEMENTS.read(tmp_path / "q.tsv", tsv.JUDGEMENTS.options()))


EVIL = "e\x1b[31mvil"
DISPLAYED = "e [31mvil"


@pytest.mark.parametrize(
    ("header", "options"),
    [(["id", EVIL], {}), ([EVIL, EVIL], {}), (["id", EVIL], {"id_field": "docno"})],
    ids=["lacks", "twice", "named"],
)
def test_names_of_columns_reach_the_terminal_clean(tmp_path, header, options):
    (tmp_path / "a.tsv").write_text("\t".join(header) + "\n" + "\t".join("ab") + "\n")
    columns = [f"{name}\n" if name == EVIL else name for name in header]
    table = pa.Table.from_arrays([pa.array(["a"])] * 2, names=columns)
    pq.write_table(table, tmp_path / "a.parquet")
    for name, reader in (("a.tsv", tsv.DOCUMENTS), ("a.parquet", parquet.DOCUMENTS)):
        with pytest.raises(InputError) as raised:
            list(reader.read(tmp_path / name, reader.options(**options)))
        assert DISPLAYED in raised.value.reason
        assert raised.value.reason.isprintable()


def test_joined_parquet_files_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    contents = []
    for name in "ab":
        pq.write_table(pa.table({"id": [name], "text": [f"{name} text"]}), path)
        contents.append(path.read_bytes())
    path.write_bytes(b"".join(contents))
    with pytest.raises(InputError, match="several Parquet files are joined in this one"):
        list(parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options()))


def test_a_text_may_hold_the_marks_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["marks PAR1PAR1"]}), path, compression="none")
    assert [document.body for document in parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options())] == [
        "marks PAR1PAR1"
    ]


def test_a_packed_parquet_file_is_refused_as_packed(tmp_path):
    pq.write_table(pa.table({"id": ["a"], "text": ["b"]}), tmp_path / "a.parquet")
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    with pytest.raises(InputError, match=r"must not be packed: this one is, with gzip\n  Unpack it"):
        list(parquet.DOCUMENTS.read(packed, parquet.DOCUMENTS.options()))


def test_rows_that_arrow_leaves_out_are_called_damaged():
    """Its last row group says 7 rows; one of its pages says 0, and Arrow ends there without an error."""
    path = Path(__file__).parent / "cases" / "rows-lost.parquet"
    for of in (1, 2, 5):
        options = parquet.DOCUMENTS.options()
        records = [
            r for number in range(of) for r in parquet.DOCUMENTS.read(path, options, Share(number, of))
        ]
        assert sum(isinstance(record, Document) for record in records) == 23
        assert ["0 of 7 rows" in r.detail for r in records if isinstance(r, Malformed)] == [True]


def test_a_damaged_description_of_columns_ends_no_process():
    path = Path(__file__).parent / "cases" / "description-damaged.parquet"
    found = list(parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options()))
    assert any(isinstance(record, Malformed) for record in found)


@pytest.mark.parametrize("value", [["a"], {"x": "a"}, [{"x": ["a"]}]])
@pytest.mark.parametrize("column", ["text", "title", "id"])
def test_a_column_of_lists_or_objects_is_no_text(tmp_path, column, value):
    row = {"id": "1", "title": "t", "text": "a"} | {column: value}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    (fault,) = parquet.DOCUMENTS.read(tmp_path / "a.parquet", parquet.DOCUMENTS.options())
    assert fault.reason == ("bad identifier" if column == "id" else "field is not text")
