"""Added text: it counts as the document's own, in every form of file, and the index is that of the longer texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from small_lucene import OPTIONS, TEXT, write_queries

from irpretrain.contracts import EXPANSIONS, TERM_VECTORS
from irpretrain.errors import InputError
from irpretrain.retrieval import lucene
from irpretrain.retrieval.expansion import expand_documents
from irpretrain.retrieval.weighted_index import index_weights
from small_documents import write_documents

BODIES = {"d1": "the cat runs", "d2": "dogs", "d3": ""}


def expand(
    folder: Path, times: int = 1, given: str = "given"
) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    documents = write_documents(folder / "documents.parquet", BODIES)
    counts = expand_documents(documents, folder / given, times, TEXT, folder / "vectors.parquet")
    rows = TERM_VECTORS.read(folder / "vectors.parquet").to_pylist()
    return {row["document_id"]: {t["term"]: t["weight"] for t in row["terms"]} for row in rows}, counts


def test_words_are_counted_together(tmp_path: Path) -> None:
    lines = [
        {"document_id": "d1", "queries": ["Do cats run?", "the cat"]},
        {"id": "d3", "text": "a zoo"},
        {"id": "x", "text": "elsewhere"},
    ]
    (tmp_path / "given").write_text("".join(json.dumps(line) + "\n" for line in lines))
    vectors, counts = expand(tmp_path)
    assert vectors == {
        "d1": {"the": 2, "cat": 2, "cats": 1, "do": 1, "run": 1, "runs": 1},
        "d2": {"dogs": 1},
        "d3": {"a": 1, "zoo": 1},
    }
    assert counts == {"documents": 3, "documents_without_addition": 1, "lines_of_other_documents": 1}
    assert expand(tmp_path, times=5)[0]["d3"] == {"a": 5, "zoo": 5}


def test_tab_separated_gzip_and_several_lines_of_a_document(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "given", "wt") as file:
        file.write("d2\tdogs bark\n\nd2\twhat barks\twho\n")
    assert expand(tmp_path)[0]["d2"] == {"dogs": 2, "bark": 1, "what": 1, "barks": 1, "who": 1}


def test_a_table_of_queries_counts_as_a_file_of_them(tmp_path: Path) -> None:
    queries = {"d1": ["Do cats run?", "the cat"], "d2": [], "d3": ["a zoo"], "x": ["elsewhere"]}
    lines = [{"id": name, "queries": texts} for name, texts in queries.items() if texts]
    (tmp_path / "given").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = [
        {"part": 0, "position": i, "document_id": d, "queries": queries[d]} for i, d in enumerate(queries)
    ]
    EXPANSIONS.write(tmp_path / "table.parquet", rows)
    assert expand(tmp_path, given="table.parquet")[0] == expand(tmp_path)[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("d1 cat", "a document, a tab and a text"),
        ('{"id": "d1"', "this is not JSON"),
        ('{"id": "d1"}', "queries, a list of texts"),
        ('{"id": 1, "text": "cat"}', "document_id"),
        ('{"id": "d1", "queries": [1]}', "queries, a list of texts"),
    ],
)
def test_lines_that_cannot_be_read(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "given").write_text(f"d1\tcat\n{line}\n")
    with pytest.raises(InputError, match=message) as error:
        expand(tmp_path)
    assert "2" in str(error.value)


def test_the_index_is_that_of_the_longer_texts(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("d1\tdo cats' U.S. zoos run\nd3\tzoo dogs don't\n")
    expand(tmp_path)
    index_weights([tmp_path / "vectors.parquet"], "lucene", OPTIONS, tmp_path / "weights")
    longer = {"d1": "the cat runs do cats' U.S. zoos run", "d2": "dogs", "d3": "zoo dogs don't"}
    lucene.index([write_documents(tmp_path / "longer.parquet", longer)], OPTIONS, TEXT, tmp_path / "tf")
    queries = write_queries(
        tmp_path / "q.parquet", {"q1": "cats running", "q2": "U.S. dogs", "q3": "don't zoo"}
    )
    for name in ("tf", "weights"):
        lucene.search(tmp_path / name, queries, "bm25", OPTIONS, tmp_path / f"{name}.run.gz")
    assert (tmp_path / "tf.run.gz").read_bytes() == (tmp_path / "weights.run.gz").read_bytes()
