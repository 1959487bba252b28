"""The table of all scores: values, folds, checks, and equal bytes for equal inputs."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from irpretrain.evaluation.evaluate import evaluate, random_order
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.contracts import PER_QUERY
from irpretrain.foundation.errors import InputError

FOLDS = {"q1": 1, "q2": 2, "q3": 3, "q4": 1}
CANDIDATES = {query: [("a", 2.0), ("b", 1.0)] for query in ("q1", "q2", "q3")}


@pytest.fixture
def project(tmp_path: Path) -> dict[str, Any]:
    """Four judged queries in three folds; relevant is b. The candidates lack q4."""
    (tmp_path / "qrels").write_text("".join(f"{query} 0 b 1\n" for query in FOLDS))
    (tmp_path / "folds.json").write_text(json.dumps({"folds": 3, "queries": FOLDS}))
    write_run(tmp_path / "bm25", CANDIDATES, "bm25")
    write_run(tmp_path / "zero", {query: [("b", 1.0), ("a", 0.0)] for query in ("q1", "q2")}, "x")
    for fold, query in enumerate(("q1", "q2", "q3"), 1):
        write_run(tmp_path / f"fold-{fold}", {query: [("b", 1.0)]}, "x")
    described = [
        ("prop", "full", 1, [f"fold-{fold}" for fold in (1, 2, 3)]),
        ("prop", "zero-shot", 1, ["zero"]),
        ("bm25", "first-stage", 0, ["bm25"]),
    ]
    runs = [
        {"dataset": "squad", "candidates": "bm25", "model": model, "regime": regime, "seed": seed}
        | {"paths": [str(tmp_path / path) for path in paths]}
        for model, regime, seed, paths in described
    ]
    return {"runs": runs, "folds": tmp_path / "folds.json", "folder": tmp_path}


def call(project: dict[str, Any], name: str = "out", **options: bool) -> tuple[dict[str, Any], Path, Path]:
    folder = project["folder"]
    table, scores = folder / f"{name}.parquet", folder / f"{name}.csv"
    measures = project.get("measures", ["RR@10", "P@1"])
    runs, folds = project["runs"], project["folds"]
    return evaluate(runs, folder / "qrels", folds, measures, table, scores, **options), table, scores


def test_scores(project: dict[str, Any]) -> None:
    counts, table, scores = call(project)
    assert (counts["runs"], counts["rows"], counts["queries_without_documents"]) == (3, 24, 1 + 2 + 1)
    sizes = {
        (row["model"], row["regime"]): (row["queries"], row["longest"], row["documents"])
        for row in counts["lists"]
    }
    model_sizes = {("prop", "full"): (3, 1, 3), ("prop", "zero-shot"): (2, 2, 4)}
    assert sizes == {("bm25", "first-stage"): (3, 2, 6), **model_sizes}
    rows = list(csv.DictReader(scores.open()))
    assert len(rows) == 3 * 2 * 4
    found = {(r["model"], r["regime"], r["fold"], r["measure"]): (r["value"], r["queries"]) for r in rows}
    assert found["bm25", "first-stage", "0", "RR@10"] == ("0.375", "4")
    assert found["bm25", "first-stage", "1", "RR@10"] == ("0.25", "2")
    assert found["bm25", "first-stage", "3", "P@1"] == ("0.0", "1")
    assert found["prop", "zero-shot", "0", "P@1"] == ("0.5", "4")
    assert found["prop", "full", "0", "RR@10"] == ("0.75", "4")
    values = PER_QUERY.read(table).to_pylist()
    zero_shot = [v for v in values if v["regime"] == "zero-shot" and v["measure"] == "RR@10"]
    expected = [("q1", 1, 1.0), ("q2", 2, 1.0), ("q3", 3, 0.0), ("q4", 1, 0.0)]
    assert [(v["query_id"], v["fold"], v["value"]) for v in zero_shot] == expected


@pytest.mark.parametrize("query_count", [1, 5, 200])
def test_a_random_order_of_five_candidates_has_each_relevant_rank_equally_often(query_count: int) -> None:
    ranking = [(name, -float(rank)) for rank, name in enumerate("abcde")]
    queries = [f"q{number:03}" for number in range(query_count)]
    run, qrels = dict.fromkeys(queries, ranking), {query: {"e": 1} for query in queries}
    means = random_order(run, qrels, ["RR@10", "P@1", "R@3"])
    assert means["RR@10"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, abs=0.015)
    assert means["P@1"] == pytest.approx(1 / 5, abs=0.015)
    assert means["R@3"] == pytest.approx(3 / 5, abs=0.015)
    assert random_order(run, qrels, ["RR@10"]) == {"RR@10": means["RR@10"]}, "the same orders each time"


def test_candidates_that_are_re_ranked_are_scored_in_a_random_order(project: dict[str, Any]) -> None:
    """Two candidates, one relevant, for three of four queries: RR@10 is 3/4 of the mean of 1 and 1/2."""
    [row] = call(project)[0]["random_orders"]
    assert (row["dataset"], row["candidates"]) == ("squad", "bm25")
    assert row["means"]["RR@10"] == pytest.approx(0.75 * 0.75, abs=0.05)
    alone = {**project, "runs": project["runs"][-1:]}
    assert call(alone)[0]["random_orders"] == [], "nothing is re-ranked"


def test_first_scores_are_reported_by_regime_with_the_seed_once(project: dict[str, Any], capsys: Any) -> None:
    _, _, scores = call(project)
    reported = (
        "RR@10, fine-tuned, seed 1: prop 0.750; zero-shot, seed 1: prop 0.500; first stages: bm25 0.375."
    )
    assert f"] NOTE: {reported} All: {scores}" in capsys.readouterr().err
    project["runs"].append({**project["runs"][1], "seed": 2})
    call(project, "two")
    assert "; zero-shot: prop 0.500 (seed 1), prop 0.500 (seed 2); first stages: " in capsys.readouterr().err


def test_first_stages_are_scored_on_what_models_re_rank(project: dict[str, Any]) -> None:
    """Relevant is b, the second candidate: a model that re-ranks one candidate cannot find it, and BM25 does not."""
    folder, [*_, bm25] = project["folder"], project["runs"]
    write_run(folder / "zero", {"q1": [("a", 1.0)]}, "x")
    write_run(folder / "ql", {"q1": [("b", 2.0), ("a", 1.0)]}, "x")
    ranked = {"model": "ql-bm25", "candidates": "ql-bm25", "paths": [str(folder / "ql")]}
    project["runs"] = [
        project["runs"][1],
        bm25 | {"depth": 1, "ranked": None},
        bm25 | ranked | {"depth": 1, "ranked": bm25["paths"][0]},
    ]
    _, table, scores = call(project)
    assert {row["value"] for row in csv.DictReader(scores.open())} == {"0.0"}
    assert {row["value"] for row in PER_QUERY.read(table).to_pylist()} == {0.0}


@pytest.mark.parametrize(
    ("measures", "lists", "fewer"),
    [
        (["RR@10", "AP", "RR@1"], {}, {"10 documents of RR@10": 3, "100 documents of AP": 3}),
        (["P@2"], {"q3": [("b", 1.0)]}, {"2 documents of P@2": 1}),
    ],
)
def test_a_run_of_others_that_is_shorter_than_a_measure_is_named(
    project: dict[str, Any], capsys: Any, measures: list[str], lists: dict, fewer: dict[str, int]
) -> None:
    project["runs"][-1] |= {"depth": 100, "ranked": None, "of_others": True}
    project["measures"] = measures
    write_run(project["folder"] / "bm25", CANDIDATES | lists, "bm25")
    call(project)
    notes = [f"fewer than the {documents} for {count} of 3 queries" for documents, count in fewer.items()]
    reported = " ".join(capsys.readouterr().err.split())
    assert f"{'; '.join(notes)}. The longest list has 2 documents. If" in reported
    project["runs"][-1]["of_others"] = False
    call(project)
    assert "longest list" not in capsys.readouterr().err


@pytest.mark.parametrize(("query_count", "is_noted"), [(3, True), (4, False)])
def test_a_run_where_most_queries_find_themselves_first_is_named(
    project: dict[str, Any], capsys: Any, query_count: int, is_noted: bool
) -> None:
    first = dict(zip(list(FOLDS)[:query_count], ("q1", "q2", "a", "a"), strict=False))
    write_run(project["folder"] / "bm25", {query: [(name, 1.0)] for query, name in first.items()}, "bm25")
    call(project)
    note = f"2 of {query_count} queries find the document of their own identifier first."
    assert (note in " ".join(capsys.readouterr().err.split())) == is_noted


def test_equal_inputs_give_equal_bytes_in_any_order(project: dict[str, Any]) -> None:
    _, table, scores = call(project)
    project["runs"].reverse()
    _, other_table, other_scores = call(project, "other")
    assert table.read_bytes() == other_table.read_bytes()
    assert scores.read_bytes() == other_scores.read_bytes()


def test_unknown_query_is_refused(project: dict[str, Any]) -> None:
    write_run(project["folder"] / "zero", {"q9": [("b", 1.0)]}, "x")
    with pytest.raises(InputError, match="zero: query 'q9' has no judgement in data set squad"):
        call(project)
    assert not (project["folder"] / "out.parquet").exists()
    assert not (project["folder"] / "out.csv").exists()


def test_a_query_tested_in_the_wrong_fold_is_refused(project: dict[str, Any]) -> None:
    write_run(project["folder"] / "fold-1", {"q2": [("b", 1.0)]}, "x")
    with pytest.raises(InputError, match=r"fold-1: query 'q2' is in fold 2, but this is .* test fold 1"):
        call(project)


def test_missing_fold_and_missing_judgements(project: dict[str, Any]) -> None:
    (project["folder"] / "folds.json").write_text(json.dumps({"folds": 3, "queries": {"q1": 1}}))
    with pytest.raises(InputError, match=r"folds\.json: query 'q2' is judged in .*qrels but has no fold"):
        call(project)
    (project["folder"] / "qrels").write_text("")
    with pytest.raises(InputError, match="qrels: there are no judgements"):
        call(project)


@pytest.mark.parametrize("squad", [True, False], ids=["SQuAD", "others"])
def test_a_query_belongs_to_the_article_of_its_relevant_document(
    project: dict[str, Any], squad: bool
) -> None:
    """Others' identifiers may have slashes too: enwiki/12 is no paragraph of an article called enwiki."""
    judged = ["q1 0 Super_Bowl_50/3 0", "q1 0 AC/DC/12 1", "q2 0 AC/DC/7#1 2", "q3 0 AC/DC 1", "q4 0 b 0"]
    (project["folder"] / "qrels").write_text("".join(f"{line}\n" for line in judged))
    _, table, _ = call(project, squad=squad)
    articles = {row["query_id"]: row["article"] for row in PER_QUERY.read(table).to_pylist()}
    assert articles == (
        {"q1": "AC/DC", "q2": "AC/DC", "q3": "AC/DC", "q4": ""} if squad else dict.fromkeys(articles, "")
    )
