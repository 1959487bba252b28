"""Relevance judgements in TREC's format and as TSV."""

import pytest

from irpretrain.corpora.judgements import trec, tsv
from irpretrain.corpora.records import Judgement, Malformed
from irpretrain.errors import InputError


def test_trec(tmp_path):
    (tmp_path / "q").write_text("q1 0 d1 1\nq1\tQ0\td2\t-2\n\nq2 0 d1\nq2 0 d1 x\nq2 0 d1 1.0\nq2 0 d3 2 9\n")
    found = list(trec.read(tmp_path / "q", trec.Options()))
    assert found[:2] == [Judgement(0, "q1", "d1", 1, 1), Judgement(1, "q1", "d2", -2, 2)]
    assert [(f.reason, f.line) for f in found[2:]] == [
        ("wrong number of columns", 4),
        ("relevance is not a whole number", 5),
        ("relevance is not a whole number", 6),
        ("wrong number of columns", 7),
    ]


def test_tsv_with_header(tmp_path):
    (tmp_path / "q").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td 2\t1\n")
    found = list(tsv.read(tmp_path / "q", tsv.Options()))
    assert found[0] == Judgement(1, "q1", "d1", 1, 2)
    assert isinstance(found[1], Malformed)
    assert found[1].reason == "bad identifier"


def test_tsv_with_named_columns(tmp_path):
    (tmp_path / "q").write_text("q1\t0\td1\t1\n")
    options = tsv.Options(columns=["query_id", "iteration", "document_id", "relevance"])
    assert list(tsv.read(tmp_path / "q", options)) == [Judgement(0, "q1", "d1", 1, 1)]


def test_tsv_without_a_known_column(tmp_path):
    (tmp_path / "q").write_text("q\x1b1\td1\t1\n")
    with pytest.raises(
        InputError, match=r"one of the columns query_id, query-id, .* is needed; the file has q 1, d1, 1"
    ):
        list(tsv.read(tmp_path / "q", tsv.Options()))
