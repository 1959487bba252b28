"""Runs and judgements: canonical order, exact round trips, and messages with file and line."""

import gzip
import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.evaluation.measures import per_query
from irpretrain.evaluation.runs import (
    merge,
    rank,
    read_qrels,
    read_rankings,
    read_run,
    relevant,
    write_rankings,
    write_run,
)
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import max_record_bytes

names = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0])
runs = st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=8), max_size=5)
ascii_names = st.text("abAB019-_", min_size=1, max_size=4)
tied_scores = st.sampled_from([0.0, 1.0, 1.00000001, 2.5, 2.5000001, -3.0, -1e-9])


def test_ties_are_broken_by_document_not_by_order() -> None:
    ranking = rank([("b", 1.0), ("c", 2.0), ("a", 1.0), ("é", 1.0)])
    assert ranking == [("c", 2.0), ("a", 1.0), ("b", 1.0), ("é", 1.0)]


def test_file_is_trec_s_format(tmp_path: Path) -> None:
    run = {"q2": [("b", 0.5)], "q1": [("b", 1), ("a", 1)]}
    for name in ("a.run.gz", "other-name.gz"):
        assert write_run(tmp_path / name, run, "bm25") == 3
    content = (tmp_path / "a.run.gz").read_bytes()
    lines = "q1 Q0 a 1 1.0 bm25\nq1 Q0 b 2 0.9999999403953552 bm25\nq2 Q0 b 1 0.5 bm25\n"
    assert gzip.decompress(content).decode() == lines
    assert content == (tmp_path / "other-name.gz").read_bytes()
    assert content[4:8] == bytes(4), "no time"


@given(run=runs, seed=st.integers(0, 99))
def test_order_is_read_back_and_bytes_do_not_depend_on_order(
    tmp_path_factory: pytest.TempPathFactory, run: dict[str, dict[str, float]], seed: int
) -> None:
    folder, draws = tmp_path_factory.mktemp("runs"), random.Random(seed)
    shuffled = {
        query: draws.sample(list(run[query].items()), len(run[query]))
        for query in draws.sample(list(run), len(run))
    }
    write_run(folder / "one", {query: ranking.items() for query, ranking in run.items()}, "tag")
    write_run(folder / "two", shuffled, "tag")
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()
    read = read_run(folder / "one")
    assert list(read) == sorted(run)
    for query, ranking in read.items():
        ranked = rank(run[query].items())
        assert [document for document, _ in ranking] == [document for document, _ in ranked]
        singles = singles_of(score for _, score in ranked)
        if len(set(singles)) == len(singles):
            assert ranking == ranked  # exact, as long as single precision tells the scores apart
        else:
            written = singles_of(score for _, score in ranking)
            assert all(below < above for above, below in pairwise(written))
    write_run(folder / "three", read, "tag")
    assert (folder / "three").read_bytes() == (folder / "one").read_bytes()


def singles_of(values: Iterable[float]) -> list[float]:
    """Return numbers as trec_eval reads them, in single precision."""
    with np.errstate(over="ignore"):
        return [float(np.float32(value)) for value in values]


@pytest.mark.parametrize("scores", [[-1e39, -2e39, -3e39], [5.0, -3.4028234e38, -3.5e38], [-1e39, -1e39]])
def test_scores_beyond_single_precision_keep_their_order(tmp_path: Path, scores: list[float]) -> None:
    write_run(tmp_path / "run", {"q": list(zip("cba", scores, strict=False))}, "tag")
    written = read_run(tmp_path / "run")["q"]
    assert [name for name, _ in written] == [name for name, _ in rank(zip("cba", scores, strict=False))]
    singles = singles_of(score for _, score in written)
    assert all(below < above for above, below in pairwise(singles))


@given(run=st.dictionaries(ascii_names, tied_scores, min_size=1, max_size=9), data=st.data())
def test_trec_eval_finds_our_measures_in_our_files(
    tmp_path_factory: pytest.TempPathFactory, run: dict[str, float], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("runs") / "run"
    relevant_documents = data.draw(st.lists(st.sampled_from(sorted(run)), min_size=1, unique=True))
    judged = {"q": dict.fromkeys(relevant_documents, 1)}
    write_run(path, {"q": list(run.items())}, "tag")
    ours = per_query(read_run(path), judged, ["RR", "AP", "nDCG@5"])
    with gzip.open(path, "rt") as file:
        theirs = pytrec_eval.parse_run(file)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank", "map", "ndcg_cut_5"})
    values = evaluator.evaluate(theirs)["q"]
    assert [ours[name]["q"] for name in ("RR", "AP", "nDCG@5")] == pytest.approx(
        [values["recip_rank"], values["map"], values["ndcg_cut_5"]]
    )


@pytest.mark.parametrize("packed", [True, False])
def test_lines_in_any_order_are_read_into_canonical_order(tmp_path: Path, packed: bool) -> None:
    text = b"q2 Q0 x 1 1e-3 t\nq1\tQ0\tb\t1\t-2\tt\r\n\n  q1 Q0 a 9 -2.0 t\n"
    (tmp_path / "run").write_bytes(gzip.compress(text) if packed else text)
    assert read_run(tmp_path / "run") == {"q1": [("a", -2.0), ("b", -2.0)], "q2": [("x", 0.001)]}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_run, "q Q0 d 1 2.0 t\nq Q0 d 1\n", "lines:2: a run has 6 columns .*this line has 4"),
        (read_run, "q Q0 d d 1 2.0 t\n", "lines:1: .*this line has 7"),
        (read_run, "q Q0 d 1 high t\n", "lines:1: the score 'high' is not a finite number"),
        (read_run, "q Q0 d 1 nan t\n", "lines:1: the score 'nan' is not"),
        (read_run, "q Q0 d 1 1_0 t\n", "lines:1: the score '1_0' is not a finite number"),
        (read_run, "q Q0 d 1 2\u00a0 t\n", "lines:1: the score .* is not a finite number"),
        (read_run, "\nq Q0 d 1 inf t\n", "lines:2: the score 'inf' is not"),
        (read_run, "q Q0 d 1 2 t\nq Q0 d 2 1 t\n", "lines:2: document 'd' is listed twice for query 'q'"),
        (read_qrels, "q 0 a\n", "lines:1: judgements have 4 columns .*this line has 3"),
        (read_qrels, "q 0 a 1_0\n", "lines:1: the grade '1_0' is not an integer"),
        (read_qrels, "q 0 a 1\nq 0 b x\n", "lines:2: the grade 'x' is not an integer"),
        (read_qrels, "q 0 a 1\nq 0 a 2\n", "lines:2: document 'a' has grade 2, and 1 in an earlier line"),
    ],
)
def test_malformed_lines_are_named(
    tmp_path: Path, read: Callable[[Path], object], text: str, message: str
) -> None:
    (tmp_path / "lines").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "lines")


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(InputError, match="run: the file cannot be opened: No such file"):
        read_run(path)
    path.write_bytes(b"q Q0 d 1 2 t\nq Q0 \xff 1 1 t\n")
    with pytest.raises(InputError, match="run:2: not valid UTF-8: byte 6 of the line"):
        read_run(path)
    path.write_bytes(gzip.compress(b"q Q0 d 1 2 t\n")[:-4] + b"xxxx")
    with pytest.raises(InputError, match="damaged archive"):
        read_run(path)


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_a_line_without_end_takes_no_more_memory_than_a_record_may(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(gzip.compress(b"0" * (max_record_bytes() + 1), 1))
    with pytest.raises(InputError, match="lines:1: record too large"):
        read(path)


@pytest.mark.parametrize("given", [{"q": [("d", float("nan"))]}, {"q q": [("d", 1.0)]}, {"q": [("", 1.0)]}])
def test_what_cannot_be_read_back_is_not_written(
    tmp_path: Path, given: dict[str, list[tuple[str, float]]]
) -> None:
    with pytest.raises(ValueError, match=r"finite|white space"):
        write_run(tmp_path / "run", given, "tag")
    assert not list(tmp_path.iterdir())


def test_rankings_are_written_as_they_come_if_that_is_their_order(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    run = {"q1": [("a", 1.0), ("b", 1.0)], "q10": [("c", 0.5)], "q2": [("a", 2.0)]}
    assert write_rankings(one, iter(run.items()), "tag") == write_run(two, run, "tag") == 4
    assert one.read_bytes() == two.read_bytes()
    write_rankings(two, [("q", [("b", 1.0), ("a", 1.0), ("c", 1.0)])], "tag")
    assert [document for document, _ in read_run(two)["q"]] == ["b", "a", "c"]
    with pytest.raises(ValueError, match="query 'q10' comes after 'q2'"):
        write_rankings(three, reversed(run.items()), "tag")
    assert not three.exists()


def test_merging_refuses_a_query_in_two_runs() -> None:
    one, two = {"q2": [("a", 1.0)]}, {"q1": [("b", 1.0)]}
    assert list(merge([one, two], ["one", "two"])) == ["q1", "q2"]
    with pytest.raises(InputError, match="two: query 'q2' is in one too; each query belongs to one fold"):
        merge([one, one], ["one", "two"])


def test_judgements(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("\ufeff\ufeffq2 0 a 2\nq1 0 b -1\nq2 0 c 0\nq2 0 a 2\n")
    assert read_qrels(path) == {"q2": {"a": 2, "c": 0}, "q1": {"b": -1}}
    assert relevant(read_qrels(path)["q2"]) == {"a"}


def test_the_rankings_of_some_queries_are_read_in_their_order(tmp_path: Path) -> None:
    run = {query: [(f"{query}-a", 2.0), (f"{query}-b", 1.0)] for query in ("q1", "q10", "q2", "q3")}
    write_run(tmp_path / "run.gz", run, "x")
    rankings = read_rankings(tmp_path / "run.gz", ["q3", "absent", "q1"])
    assert list(rankings.items()) == [("q1", run["q1"]), ("q3", run["q3"])]
