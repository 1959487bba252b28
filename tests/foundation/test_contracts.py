"""Tables are checked when written and when read, and equal rows give equal bytes."""

import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation import tables
from irpretrain.foundation.contracts import (
    CONTRACTS,
    DOCUMENTS,
    QUERIES,
    WORD_COUNTS,
)
from irpretrain.foundation.errors import IntegrityError
from irpretrain.foundation.tables import Contract, ContractColumn, ContractWriter
from small_documents import document_rows

TWO_QUERIES = [{"query_id": "q1", "text": "red fox"}, {"query_id": "q2", "text": "grey Ω"}]


def words(count: int) -> pa.Table:
    """A table of WORD_COUNTS with `count` rows."""
    rows = [
        {"word": f"w{i:06d}", "count": i * i, "documents": i, "stem_documents": i // 2} for i in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=WORD_COUNTS.schema)


def written(path: Path, pieces) -> bytes:
    with ContractWriter(WORD_COUNTS, path) as writer:
        for piece in pieces:
            writer.add(piece)
    return path.read_bytes()


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "made" / "queries.parquet"
    assert QUERIES.write(path, TWO_QUERIES) == 2
    assert QUERIES.read(path).to_pylist() == TWO_QUERIES
    assert QUERIES.read(path, columns=["text"]).to_pylist() == [{"text": "red fox"}, {"text": "grey Ω"}]
    assert QUERIES.count(path) == 2
    assert pq.read_schema(path).metadata[b"contract"] == b"queries"


def test_chosen_rows_are_found_wherever_they_stand(tmp_path):
    number = tables.ROWS_PER_GROUP + 5
    DOCUMENTS.write(tmp_path / "d.parquet", document_rows({f"d{i}": f"t{i}" for i in range(number)}))
    chosen = {"d1", f"d{number - 1}", "d3", "d-none"}
    batches = list(DOCUMENTS.stream_documents(tmp_path / "d.parquet", chosen, ["body"], rows=1))
    assert [batch.to_pydict() for batch in batches] == [{"body": [t]} for t in ("t1", "t3", f"t{number - 1}")]
    assert list(DOCUMENTS.stream_documents(tmp_path / "d.parquet", set())) == []


def test_a_table_without_rows_is_a_table(tmp_path):
    assert QUERIES.write(tmp_path / "a", []) == 0
    assert QUERIES.write(tmp_path / "b", QUERIES.schema.empty_table()) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert QUERIES.count(tmp_path / "a") == 0
    assert QUERIES.read(tmp_path / "a").to_pylist() == []
    assert list(QUERIES.stream(tmp_path / "a")) == []


def test_columns_in_another_order_and_of_narrower_types_are_put_right(tmp_path):
    table = words(3)
    shuffled = table.select(["documents", "word", "stem_documents", "count"])
    narrow = shuffled.set_column(3, "count", shuffled["count"].cast(pa.int32()))
    assert written(tmp_path / "a", [narrow]) == written(tmp_path / "b", [table])


@pytest.mark.parametrize(
    "rows",
    [
        [{"query_id": "q1"}],
        [{"query_id": "q1", "text": None}],
        [{"query_id": 1, "text": "red"}],
        [*TWO_QUERIES, {"query": "q3", "text": "misspelt column"}],
        pa.table({"query_id": ["q1"]}),
    ],
)
def test_a_row_that_breaks_the_contract_is_refused_and_nothing_is_written(tmp_path, rows):
    with pytest.raises((ValueError, TypeError, KeyError)):
        QUERIES.write(tmp_path / "queries.parquet", rows)
    assert list(tmp_path.iterdir()) == []


def test_another_schema_is_refused_with_both_schemas(tmp_path):
    path = tmp_path / "words.parquet"
    table = pa.table({"query_id": pa.array(["q1"]), "text": pa.array([1], pa.int32())})
    pq.write_table(table, path)
    for use in (QUERIES.check, QUERIES.read, QUERIES.count, lambda p: list(QUERIES.stream(p))):
        schemas = (
            "expected query_id: string, text: string, found query_id: string\\?, text: int32\\?\n  Delete it"
        )
        with pytest.raises(IntegrityError, match=f"{path}: this is not a table of queries: {schemas}"):
            use(path)


@pytest.mark.parametrize("damage", [b"", b"not Parquet at all", None])
def test_a_damaged_file_is_one_message(tmp_path, damage):
    path = tmp_path / "queries.parquet"
    QUERIES.write(path, TWO_QUERIES)
    path.write_bytes(path.read_bytes()[:-20] if damage is None else damage)
    with pytest.raises(
        IntegrityError, match=r"queries\.parquet: this is not a whole Parquet file .*\n  Delete it"
    ):
        QUERIES.read(path)


def test_a_missing_table_is_one_message(tmp_path):
    with pytest.raises(IntegrityError, match=r"queries\.parquet: there is no table of queries"):
        QUERIES.count(tmp_path / "queries.parquet")


def test_a_stream_has_all_rows_in_batches_of_at_most_the_size_requested_for(tmp_path):
    path = tmp_path / "words.parquet"
    number = tables.ROWS_PER_GROUP + 100
    WORD_COUNTS.write(path, words(number))
    batches = list(WORD_COUNTS.stream(path, columns=["word"], rows=1000))
    assert max(batch.num_rows for batch in batches) <= 1000
    assert [batch.schema.names for batch in batches] == [["word"]] * len(batches)
    together = [word for batch in batches for word in batch["word"].to_pylist()]
    assert together == words(number)["word"].to_pylist()


def test_facts_about_the_whole_table_are_retained(tmp_path):
    with ContractWriter(WORD_COUNTS, tmp_path / "words.parquet") as writer:
        writer.note({"words": "0", "documents": "3"})
    metadata = pq.read_metadata(tmp_path / "words.parquet").metadata
    assert (metadata[b"words"], metadata[b"documents"]) == (b"0", b"3")
    WORD_COUNTS.check(tmp_path / "words.parquet")


def test_contracts_differ_so_that_one_is_never_taken_for_another():
    schemas = [str(contract.schema.remove_metadata()) for contract in CONTRACTS]
    assert len(set(schemas)) == len({c.name for c in CONTRACTS}) == len(CONTRACTS)


def test_every_column_has_a_meaning_and_no_column_may_be_empty():
    for contract in CONTRACTS:
        assert contract.meaning
        for column in contract.columns:
            assert column.meaning, f"{contract.name}.{column.name}"
        assert not any(field.nullable for field in contract.schema)


def test_a_table_in_a_folder_that_looks_like_a_partition_has_no_extra_column(tmp_path):
    path = tmp_path / "seed=1" / "queries.parquet"
    QUERIES.write(path, TWO_QUERIES)
    assert QUERIES.read(path).column_names == ["query_id", "text"]


def test_text_longer_than_a_data_page_keeps_the_bytes_equal(tmp_path):
    """Documents fill several pages of a row group; where pages end must not depend on the pieces."""
    contract = Contract("texts", "Long texts.", ContractColumn("text", pa.string(), "a long text"))
    texts = pa.table({"text": [f"{i:05d} " * 2000 for i in range(300)]}, schema=contract.schema)
    contract.write(tmp_path / "whole", texts)
    with ContractWriter(contract, tmp_path / "pieces") as writer:
        for start in range(0, 300, 7):
            writer.add(texts.slice(start, 7))
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "pieces").read_bytes()


def test_documents_hold_any_text_and_need_no_structure(tmp_path):
    row = {"document_id": "é/1", "part": 0, "position": 0, "title": "", "url": "", "body": "a\nb\t\u2028𝒳"}
    DOCUMENTS.write(tmp_path / "documents.parquet", [row])
    unknown = {"sections": [], "links": [], "disambiguation": False}
    assert DOCUMENTS.read(tmp_path / "documents.parquet").to_pylist() == [row | unknown]


@given(cuts=st.lists(st.integers(0, 100), max_size=8))
def test_equal_rows_give_equal_bytes_however_they_arrive(tmp_path, monkeypatch, cuts):
    """Groups of at most 16 rows, and of 1,000 bytes: after 40 rows of 1 byte, row 40 + n has 1 + 20 · n."""
    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 16)
    monkeypatch.setattr(tables, "BYTES_PER_GROUP", 1000)
    monkeypatch.setattr(tables, "ROWS_AS_OBJECTS", 7)
    rows = [{"query_id": "q", "text": "x" * 20 * max(n - 40, 0)} for n in range(100)]
    table = pa.Table.from_pylist(rows, schema=QUERIES.schema)
    pieces = [table.slice(first, last - first) for first, last in itertools.pairwise([0, *sorted(cuts), 100])]
    for name, content in (
        ("whole", table),
        ("cut", pieces),
        ("chunked", pa.concat_tables(pieces)),
        ("rows", rows),
    ):
        QUERIES.write(tmp_path / name, content)
    whole = (tmp_path / "whole").read_bytes()
    assert {(tmp_path / name).read_bytes() for name in ("cut", "chunked", "rows")} == {whole}
    read = pq.read_metadata(tmp_path / "whole")
    groups = [read.row_group(n).num_rows for n in range(read.num_row_groups)]
    # Rows 32 … 47 have 8 + 8 + 20 · 28 bytes, rows 48 … 52 have 5 + 20 · 50, rows 53 … 56 have 4 + 20 · 58.
    assert groups[:5] == [16, 16, 16, 5, 4]
    assert sum(groups) == 100
    assert [batch.num_rows for batch in QUERIES.stream(tmp_path / "whole")] == groups


def test_bytes_of_rows_are_those_of_their_values():
    empty = dict.fromkeys(("document_id", "title", "url", "body"), "")
    empty |= {"part": 0, "position": 1, "sections": [], "links": [], "disambiguation": False}
    sections = [{"level": 1, "heading": h, "start": 0, "end": 1, "role": ""} for h in ("ab", "c")]
    rows = [empty | {"document_id": "é", "body": "abc"}, empty | {"sections": sections}]
    table = pa.Table.from_pylist(rows, schema=DOCUMENTS.schema)
    fixed = 4 + 8 + 1
    assert tables._bytes_of_rows(table).tolist() == [fixed + 2 + 3, fixed + 2 * 10 + 3]
    assert tables._bytes_of_rows(table.slice(1)).tolist() == [fixed + 2 * 10 + 3]
