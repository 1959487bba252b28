"""Rows of one table are scored on rankings of one depth, and no query finds itself: through the real workflow."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiny import DOCUMENTS, QUERIES, document, make_encoder, query, run_workflow

from irpretrain.evaluation.evaluate import evaluate
from irpretrain.evaluation.runs import read_run, top, write_run
from irpretrain.foundation.atomic import read_csv

pytestmark = pytest.mark.workflow

SCORES = "results/scores/mine.csv"
TOPIC = "<top>\n<num> Number: {}\n<title> {}\n</top>\n"
DATASET = {"corpus": "mine", "queries": {"path": "topics.txt"}, "qrels": {"path": "qrels.txt"}}


def write(folder: Path, texts: dict[str, str], topics: dict[str, str], judged: str) -> None:
    (folder / "documents").mkdir()
    lines = (json.dumps({"id": name, "text": text}) for name, text in texts.items())
    (folder / "documents/d.jsonl").write_text("\n".join(lines))
    (folder / "topics.txt").write_text("".join(TOPIC.format(*topic) for topic in topics.items()))
    (folder / "qrels.txt").write_text(judged)


def run(folder: Path, *targets: str, **sections: Any) -> str:
    """Run the overlay of the data set `mine` with changes; return what it prints."""
    overlay: dict[str, Any] = {
        "inherit": "definitions",
        "corpora": {"mine": {"format": "jsonl", "path": "documents"}},
        "datasets": {"mine": DATASET | sections.pop("dataset", {})},
        "experiments": {"mine": {"dataset": "mine"} | sections.pop("experiment", {})},
    }
    (folder / "tiny.yaml").write_text(yaml.safe_dump(overlay | sections))
    done = run_workflow(folder, *targets)
    return " ".join((done.stdout + done.stderr).split())


def means(folder: Path) -> dict[tuple[str, str], float]:
    return {(row["model"], row["measure"]): float(row["value"]) for row in read_csv(folder / SCORES)}


def test_recall_is_right_with_the_depth_that_its_cut_off_needs(tmp_path: Path) -> None:
    """300 documents hold the query's one word; 250 of them are relevant."""
    texts = {f"d{n:03d}": "apples" + " pear" * (n % 7) for n in range(300)}
    write(tmp_path, texts, {"q1": "apples"}, "".join(f"q1 0 d{n:03d} 1\n" for n in range(250)))
    run(tmp_path, SCORES, dataset={"measures": ["R@1000"]}, retrieval={"depth": 1000})
    assert means(tmp_path) == {("bm25", "R@1000"): 1.0, ("ql", "R@1000"): 1.0}


@pytest.mark.deep
def test_a_query_that_is_a_document_does_not_find_itself(tmp_path: Path) -> None:
    health = "apples are good for health because vitamins"
    texts = {"q1": health, "q1b": "apples are bad for health because sugar", "x": "pears"}
    write(tmp_path, texts, {"q1": health}, "q1 0 q1b 1\nq1 0 q1 1\n")
    (tmp_path / "theirs.run").write_text("q1 Q0 q1 1 3 t\nq1 Q0 q1b 2 2 t\nq1 Q0 x 3 1 t\n")
    sections: dict[str, Any] = {
        "retrieval": {"depth": 1},
        "first_stages": {
            "indri": {"label": "I", "model": "indri"},
            "theirs": {"label": "T", "runs": {"mine": {"path": "theirs.run"}}},
            "bm25-theirs": {"label": "B", "candidates": "theirs"},
            "jm": {"label": "J", "model": "ql-jm"},
        },
    }
    stages = ("bm25", "ql", *sections["first_stages"])
    experiment = {"first_stages": list(sections["first_stages"])}
    measures = {"measures": ["RR", "R@1"]}
    reported = run(tmp_path, SCORES, dataset=measures, **sections)
    assert "1 of 1 queries find the document of their own identifier first" in reported
    assert means(tmp_path)["bm25", "R@1"] == 0.5
    own = measures | {"queries_are_documents": True}
    reported = run(tmp_path, SCORES, dataset=own, experiment=experiment, **sections)
    assert means(tmp_path) == {(stage, measure): 1.0 for stage in stages for measure in measures["measures"]}
    assert "own identifier" not in reported
    for stage in stages:
        ranking = read_run(tmp_path / f"results/runs/mine/{stage}/first-stage.run.gz")["q1"]
        assert [name for name, _ in ranking] == ["q1b"], stage


@pytest.mark.deep
def test_a_first_stage_is_scored_on_the_documents_that_are_re_ranked(tmp_path: Path) -> None:
    """Six relevant documents a query, of which BM25's first five hold five at most: AP is 5/6 for whoever has these."""
    write(
        tmp_path,
        {f"d{n:02d}": document(n)["text"] for n in range(DOCUMENTS)},
        {f"q{n:02d}": query(n) for n in range(QUERIES)},
        "".join(
            f"q{q:02d} 0 d{d:02d} 1\n" for q in range(QUERIES) for d in range(DOCUMENTS) if q % 12 == d % 12
        ),
    )
    make_encoder(tmp_path / "encoder")
    sections = {
        "encoder": {"path": "encoder", "label": "tiny", "layers": 2, "vocabulary_size": None},
        "experiment": {"models": ["control"], "regimes": ["zero-shot"]},
        "reranking": {"depth": 5, "max_length": 48, "query_length": 8},
    }
    measures = ["AP", "nDCG", "P@5"]
    run(tmp_path, SCORES, dataset={"measures": measures}, **sections)
    bm25 = read_run(tmp_path / "results/runs/mine/bm25/first-stage.run.gz")
    assert max(map(len, bm25.values())) > 5
    write_run(tmp_path / "first-five", top(bm25, 5), "x")
    described = {"dataset": "mine", "candidates": "bm25", "model": "bm25", "regime": "first-stage", "seed": 0}
    files = tmp_path / "v.parquet", tmp_path / "v.csv"
    evaluate(
        [described | {"paths": [tmp_path / "first-five"]}], tmp_path / "qrels.txt", None, measures, *files
    )
    expected = {row["measure"]: float(row["value"]) for row in read_csv(files[1])}
    found = means(tmp_path)
    assert {measure: found["bm25", measure] for measure in measures} == expected
    assert found["control", "P@5"] == found["bm25", "P@5"]
    assert found["bm25", "AP"] <= 5 / 6
