"""Relevant documents with their queries, in corpus order."""

from pathlib import Path

import pytest

from irpretrain.axioms.predictor_queries import judged_queries
from irpretrain.foundation.contracts import DOCUMENT_QUERIES, DOCUMENTS, QUERIES
from irpretrain.foundation.errors import InputError

CORPUS = [(1, 0, "e"), (0, 2, "c"), (0, 0, "a"), (0, 1, "b")]
QRELS = ["q2 0 c 1", "q10 0 c 2", "q2 0 a 1", "q2 0 b 0", "q3 0 lost 1", "q2 0 lost 1", "other 0 a 1"]


def inputs(folder: Path, shards: list[list[tuple[int, int, str]]], qrels: list[str]) -> tuple:
    paths = []
    for number, shard in enumerate(shards):
        paths.append(folder / f"documents{number}.parquet")
        rows = [
            {"document_id": name, "part": part, "position": position, "title": "", "url": "", "body": ""}
            for part, position, name in shard
        ]
        DOCUMENTS.write(paths[-1], rows)
    names = {"q2": "two", "q10": "ten", "q3": "three"}
    QUERIES.write(folder / "queries.parquet", [{"query_id": q, "text": t} for q, t in names.items()])
    (folder / "qrels").write_text("\n".join(qrels) + "\n")
    return paths, folder / "queries.parquet", folder / "qrels", folder / "judged.parquet"


def test_each_relevant_document_has_its_queries_in_corpus_order(tmp_path: Path) -> None:
    given = inputs(tmp_path, [CORPUS], QRELS)
    counts = judged_queries(*given)
    found = DOCUMENT_QUERIES.read(given[-1]).to_pylist()
    assert [
        (r["part"], r["position"], r["sample"], r["document_id"], r["query_id"], r["query"]) for r in found
    ] == [
        (0, 0, 0, "a", "q2", "two"),
        (0, 2, 0, "c", "q10", "ten"),
        (0, 2, 1, "c", "q2", "two"),
    ]
    assert counts == {
        "rows": 3,
        "queries": 2,
        "documents": 2,
        "documents_not_in_corpus": 1,
        "judgements_of_documents_not_in_corpus": 2,
        "judgements_of_unknown_queries": 1,
    }


def test_shards_change_no_byte(tmp_path: Path) -> None:
    outputs = []
    for shards in ([CORPUS], [CORPUS[2:], CORPUS[:1], CORPUS[1:2]]):
        folder = tmp_path / str(len(shards))
        folder.mkdir()
        given = inputs(folder, shards, QRELS)
        judged_queries(*given)
        outputs.append(given[-1].read_bytes())
    assert outputs[0] == outputs[1]


def test_a_corpus_without_relevant_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no relevant document of any query is in the corpus"):
        judged_queries(*inputs(tmp_path, [CORPUS], ["q2 0 lost 1", "q2 0 a 0"]))
