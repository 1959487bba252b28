"""Runs and judgements as files for other tools: trec_eval's own parser and ir_measures read what we write."""

from __future__ import annotations

import gzip
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from ir_measures import RR, nDCG

from irpretrain.evaluation.runs import read_qrels, read_run, write_run

RUN = {
    "301": [("FT911-1", 2.5), ("d-2", 1e-300), ("ü", -1.25)],
    "q/2": [("a", 0.1), ("b", 0.2), ("c", 1 / 3)],
}
JUDGED = "301 0 d-2 1\n301 0 FT911-1 0\nq/2 0 c 2\nq/2 0 b -1\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The run, unpacked, as trec_eval wants it."""
    write_run(tmp_path / "x.run.gz", RUN, "ours")
    (tmp_path / "x.run").write_bytes(gzip.decompress((tmp_path / "x.run.gz").read_bytes()))
    return tmp_path / "x.run"


def test_trec_eval_and_ir_measures_read_both_and_agree(run: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(JUDGED)
    with open(run) as file:
        trec_eval_run = pytrec_eval.parse_run(file)
    with open(tmp_path / "qrels") as file:
        trec_eval_qrels = pytrec_eval.parse_qrel(file)
    scored = list(ir_measures.read_trec_run(str(run)))
    judged = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))
    assert trec_eval_run == {query: dict(ranking) for query, ranking in RUN.items()}
    assert trec_eval_run == {query: dict(ranking) for query, ranking in read_run(run).items()}
    assert {(d.query_id, d.doc_id): d.score for d in scored} == {
        (query, document): score for query, ranking in RUN.items() for document, score in ranking
    }
    assert trec_eval_qrels == read_qrels(tmp_path / "qrels")
    evaluator = pytrec_eval.RelevanceEvaluator(trec_eval_qrels, {"recip_rank", "ndcg_cut_10"})
    values = evaluator.evaluate(trec_eval_run)
    means = ir_measures.calc_aggregate([RR, nDCG @ 10], judged, scored)
    for measure, name in ((RR, "recip_rank"), (nDCG @ 10, "ndcg_cut_10")):
        assert means[measure] == pytest.approx(sum(v[name] for v in values.values()) / len(values))
