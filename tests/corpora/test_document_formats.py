"""The formats json_files.DOCUMENTS, tsv and parquet of documents."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irpretrain.corpora.formats import parquet, tsv
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import WHOLE_FILE, Document, Malformed, Share, Skipped


@pytest.fixture
def read_json(read):
    """Return a function that reads records, or lines, of JSON."""

    def read_lines(*records, **options):
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        return read("documents", "jsonl", "\n".join(lines), **options)

    return read_lines


@pytest.fixture
def read_table(read):
    """Return a function that reads a table from a Parquet file."""

    def read_parquet(table, **options):
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        return read("documents", "parquet", sink.getvalue().to_pybytes(), **options)

    return read_parquet


def test_json_documents_with_common_field_names(read_json):
    found = read_json(
        {"_id": "d1", "title": " A \n title", "text": "one two\r\nthree"},
        {"id": 7, "contents": "four", "url": "http://a"},
        {"docid": "d3", "title": None, "body": "five\u0000six"},
    )
    assert found == [
        Document(0, "d1", "A title", "", "one two\nthree"),
        Document(1, "7", "", "http://a", "four"),
        Document(2, "d3", "", "", "five six"),
    ]


def test_json_documents_with_named_fields(read_json):
    record = {"key": "d1", "id": "no", "head": "h", "lead": "one", "rest": "two", "text": "no", "gap": None}
    names = {"id_field": "key", "title_field": "head", "body_fields": ["lead", "gap", "rest"]}
    assert read_json(record, **names) == [Document(0, "d1", "h", "", "one\ntwo")]


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
        (
            {"number": 7, "text": "a"},
            "no identifier",
            "Name the field of identifiers with the option id_field",
        ),
        ({"id": ["a"], "text": "a"}, "bad identifier", "not a list"),
        ({"id": True, "text": "a"}, "bad identifier", "not true or false"),
        ('{"id": -0, "text": "a"}', "bad identifier", "not a number"),
        ({"id": 1.0, "text": "a"}, "bad identifier", "not a number"),
        ({"id": "a b", "text": "a"}, "bad identifier", "white space"),
        ({"id": "", "text": "a"}, "bad identifier", "empty"),
        ({"id": "a\u200b", "text": "a"}, "bad identifier", r"'a\u200b' holds white space, control or"),
        ({"id": "a", "_id": "b", "text": "a"}, "two fields for one", "'id' and '_id' mean the same"),
        ({"docid": "b", "id": "a", "text": "a"}, "two fields for one", "'id' and 'docid' mean the same"),
        ({"id": "a", "text": "a", "contents": "b"}, "two fields for one", "'text' and 'contents' mean"),
        ({"id": "a", "date": 1}, "no text", "content is there; there are date, id"),
        ({"id": "a", "text": 3}, "field is not text", "field text is a number"),
        ({"id": "a", "text": "a", "title": ["t"]}, "field is not text", "field title is a list"),
    ],
)
def test_malformed_json_documents(read_json, line, reason, detail):
    (found,) = read_json(line)
    assert isinstance(found, Malformed)
    assert (found.reason, found.line, found.position) == (reason, 1, 0)
    assert detail in f"{found.detail} {found.remedy}"


@pytest.mark.parametrize(
    "line",
    [
        [1],
        {"a": {"text": "red"}},
        {"_id": "a", "_source": {"text": "red"}},
        {"hits": {"hits": [{"_id": "a", "_source": {"text": "red"}}]}},
    ],
)
def test_the_remedy_of_another_layout_is_one_of_the_whole_file(read_json, line):
    (found,) = read_json(line)
    assert found.of_file
    assert "jq -c" in found.remedy


@pytest.mark.parametrize("line", ['{"a": {"text": "x"}, "b": "y"}', '{"a": "x", "b": 1}'])
def test_a_record_of_different_values_is_no_table_of_records(read_json, line):
    [fault] = read_json(line)
    assert "with the option id_field" in fault.remedy
    assert "to_entries" not in fault.remedy


def test_a_document_without_text_is_skipped(read_json):
    assert read_json({"id": "a", "text": " \n"}) == [
        Skipped(0, "empty document", location="document a, line 1", document_id="a")
    ]
    assert read_json({"id": "a", "title": "t", "text": ""}) == [Document(0, "a", "t", "", "")]


@pytest.mark.parametrize("blank_lines", range(4))
def test_the_header_of_a_table_is_no_row_of_any_share(read, blank_lines):
    content = "\n" * blank_lines + "id\ttext\n" + "".join(f"d{n}\tone\n" for n in range(4000))
    found = [d.document_id for n in range(3) for d in read("documents", "tsv", content, Share(n, 3))]
    assert sorted(found) == sorted(f"d{n}" for n in range(4000))


def test_tsv_with_header_and_with_named_columns(read):
    document, fault = read("documents", "tsv", 'docid\ttitle\ttext\nd1\tA\tone "two\nd2\tB\n')
    assert document == Document(1, "d1", "A", "", 'one "two')
    assert (str(fault), fault.line) == ("wrong number of columns: 2 instead of 3", 3)
    packed, columns = gzip.compress(b"d1\thttp://a\tA\tone\n"), ["id", "url", "title", "body"]
    assert read("documents", "tsv", packed, columns=columns) == [Document(0, "d1", "A", "http://a", "one")]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("id\tid\ttext\n", {}, "names a column twice"),
        ("name\ttext\n", {}, "none of the fields id, _id"),
        ("id\tprose\n", {}, r"body_fields"),
        ("", {"columns": ["id", "text"], "body_fields": ["prose"]}, "there is no column prose; there are"),
        (b"\xff\xff\n", {}, r":1: the header cannot be read.*\n  Save the file as UTF-8"),
        ("id\ttext\tbody\n1\ta\tb\n", {}, r"'text' and 'body' mean the same(.|\n)*body_fields"),
    ],
)
def test_tsv_headers_that_cannot_be_used(read, content, options, message):
    with pytest.raises(InputError, match=message):
        read("documents", "tsv", content, **options)


@pytest.mark.parametrize(("text", "is_open"), [('"a"', False), ('"a', True), ('"a" "b', True)])
def test_an_open_quotation_mark_of_tsv_is_told_as_a_cell_that_goes_on(read, text, is_open):
    [fault] = read("documents", "tsv", f"id\ttext\nd1\t{text}\tc\n")
    assert ("If quotation marks hold a cell" in fault.remedy) == is_open


def test_quotation_marks_of_tsv_go_by_option_alone(read):
    table = 'id\ttext\nd1\t"a ""red"" pear"\nd2\t"\nd3\t"a" and "b\n'
    kept = ['"a ""red"" pear"', '"', '"a" and "b']
    assert [document.body for document in read("documents", "tsv", table)] == kept
    unquoted = read("documents", "tsv", table, quotes=True)
    assert [document.body for document in unquoted] == ['a "red" pear', *kept[1:]]


def test_an_empty_tsv_has_no_document(read):
    assert read("documents", "tsv", "") == []
    with pytest.raises(ValueError, match="id is listed twice"):
        tsv.DOCUMENTS.options(columns=["id", "id"])


def test_parquet_documents(read_table):
    columns = {
        "id": [1, 2, None],
        "text": ["one", "", "x"],
        "title": ["A", None, "B"],
        "extra": [0.1, 0.2, 0.3],
    }
    first, second, third = read_table(pa.table(columns))
    assert first == Document(0, "1", "A", "", "one")
    assert second == Skipped(1, "empty document", location="document 2", document_id="2")
    assert (third.reason, third.position) == ("bad identifier", 2)


def test_a_value_of_parquet_beyond_python_s_dates_is_one_record(read_table):
    times = pa.array([0, 2**62], pa.timestamp("us"))
    first, second = read_table(pa.table({"id": ["a", "b"], "title": times, "text": ["x", "y"]}))
    assert (first.reason, first.position) == ("field is not text", 0)
    assert (second.reason, second.position) == ("value cannot be read", 1)


def parquet_records(path, share=WHOLE_FILE):
    return list(parquet.DOCUMENTS.read(path, parquet.DOCUMENTS.options(), share))


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
    [found] = parquet_records(path)
    assert isinstance(found, Malformed)
    assert "CRC" in str(found)


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
        found = [record for n in range(of) for record in parquet_records(path, Share(n, of))]
        (damage,) = [record for record in found if isinstance(record, Malformed)]
        assert (damage.reason, damage.position, damage.loses_more) == ("damaged Parquet file", 1400, True)
        assert [record.position for record in found if record is not damage] == sound


def test_a_damaged_name_of_a_parquet_column_is_reported_by_one_share(tmp_path):
    path = tmp_path / "a.parquet"
    write_rows(path, 1)
    path.write_bytes(path.read_bytes().replace(b"body", b"bod\xff"))
    (damage,) = parquet_records(path, Share(0, 2))
    assert damage.reason == "damaged Parquet file"
    assert parquet_records(path, Share(1, 2)) == []


def test_parquet_without_a_description_is_damaged(read):
    [fault] = read("documents", "parquet", b"PAR1 nothing PAR1")
    assert fault.reason == "damaged Parquet file"
    assert fault.remedy == "Get the file again and compare its checksum"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["name"], "none of the fields id"),
        (["id", "text", "text"], "names a column twice: text"),
        (["id", "text", "doc_id"], "'id' and 'doc_id' mean the same"),
    ],
)
def test_columns_of_parquet_that_cannot_be_used(read_table, names, message):
    table = pa.table([[cell] for cell in "abc"[: len(names)]], names=names)
    with pytest.raises(InputError, match=message):
        read_table(table)
    if "doc_id" in names:
        assert read_table(table, id_field="doc_id") == [Document(0, "c", "", "", "b")]


EVIL = "e\x1b[31mvil"
DISPLAYED = "e [31mvil"


@pytest.mark.parametrize(
    ("header", "options"),
    [(["id", EVIL], {}), ([EVIL, EVIL], {}), (["id", EVIL], {"id_field": "docno"})],
    ids=["lacks", "twice", "named"],
)
def test_names_of_columns_reach_the_terminal_clean(read, read_table, header, options):
    table = pa.table([["a"], ["b"]], names=[f"{name}\n" if name == EVIL else name for name in header])
    for read_header in (
        lambda: read("documents", "tsv", "\t".join(header) + "\na\tb\n", **options),
        lambda: read_table(table, **options),
    ):
        with pytest.raises(InputError) as raised:
            read_header()
        assert DISPLAYED in raised.value.reason
        assert raised.value.reason.isprintable()


def test_joined_and_packed_parquet_files_are_refused(read, tmp_path):
    contents = []
    for name in "ab":
        pq.write_table(pa.table({"id": [name], "text": [f"{name} text"]}), tmp_path / "a.parquet")
        contents.append((tmp_path / "a.parquet").read_bytes())
    with pytest.raises(InputError, match="several Parquet files are joined in this one"):
        read("documents", "parquet", b"".join(contents))
    with pytest.raises(InputError, match=r"must not be packed: this one is, with gzip\n  Unpack it"):
        read("documents", "parquet", gzip.compress(contents[0]))


def test_a_text_may_hold_the_marks_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["marks PAR1PAR1"]}), path, compression="none")
    [document] = parquet_records(path)
    assert document.body == "marks PAR1PAR1"


def test_rows_that_arrow_leaves_out_are_called_damaged():
    """Its last row group says 7 rows; one of its pages says 0, and Arrow ends there without an error."""
    path = Path(__file__).parent / "cases" / "rows-lost.parquet"
    for of in (1, 2, 5):
        records = [record for n in range(of) for record in parquet_records(path, Share(n, of))]
        assert sum(isinstance(record, Document) for record in records) == 23
        assert ["0 of 7 rows" in r.detail for r in records if isinstance(r, Malformed)] == [True]


def test_a_damaged_description_of_columns_ends_no_process():
    path = Path(__file__).parent / "cases" / "description-damaged.parquet"
    found = parquet_records(path)
    assert any(isinstance(record, Malformed) for record in found)


@pytest.mark.parametrize("value", [["a"], {"x": "a"}, [{"x": ["a"]}]])
@pytest.mark.parametrize("column", ["text", "title", "id"])
def test_a_column_of_lists_or_objects_is_no_text(read_table, column, value):
    row = {"id": "1", "title": "t", "text": "a"} | {column: value}
    [fault] = read_table(pa.Table.from_pylist([row]))
    assert fault.reason == ("bad identifier" if column == "id" else "field is not text")
