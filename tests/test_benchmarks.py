"""Benchmarks that compare with others: ratios, contestants' processes, and each script on a tiny size."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that lets contestants take turns."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("side_by_side")


def test_a_ratio_is_the_median_of_the_rounds(side_by_side):
    def turns(*rates: float) -> list[Any]:
        return [side_by_side.Turn(rate, 1.0, 2.0, {}) for rate in rates]

    ours, theirs = turns(1, 20, 30, 60), turns(1000, 10, 10, 10)  # the first is for warming up
    assert side_by_side.ratio(ours, theirs, "wall") == (3.0, 2.0, 6.0)
    assert side_by_side.rate(ours, "wall") == 30
    assert side_by_side.rate(ours, "cpu") == 15
    assert side_by_side.rows({"ours": ours, "theirs": theirs}, "pears") == [
        "| pears | ours | 30 | 15 | 1.00 | 1.00 |",
        "| pears | theirs | 10 | 5 | 3.00 (2.00 to 6.00) | 3.00 (2.00 to 6.00) |",
    ]


class Counting:
    """Adds the round to what it was given; cannot do round 2."""

    def __init__(self, given: int) -> None:
        self.given = given

    def turn(self, number: int) -> Any:
        side_by_side = importlib.import_module("side_by_side")
        print("what libraries print is dropped")
        if number == 2:
            raise ValueError("two is too many")
        return side_by_side.Turn(self.given + number, 1.0, 1.0, {})


def test_each_contestant_has_its_turn_in_every_round(side_by_side, capfd):
    with side_by_side.playing({"ours": Counting, "theirs": Counting}, 5) as players:
        turns = side_by_side.play(players, 1)
    assert {name: [turn.amount for turn in own] for name, own in turns.items()} == {
        "ours": [5, 6],
        "theirs": [5, 6],
    }
    assert "dropped" not in "".join(capfd.readouterr())


def test_a_contestant_that_fails_ends_the_program_with_its_message(side_by_side):
    with (
        pytest.raises(SystemExit, match=r"(?s)^ours failed:.*ValueError: two is too many"),
        side_by_side.playing({"ours": Counting}, 5) as players,
    ):
        side_by_side.play(players, 2)


def test_what_is_not_installed_is_said_and_left_out(side_by_side, capsys):
    found = side_by_side.installed(
        {"json": "json", "no_such_pear": "no-such-pear"}, "no pears", "see the head"
    )
    assert found == {"json"}
    assert capsys.readouterr().out == "no-such-pear: not installed, so no pears. To compare: see the head\n"


def run(script: str, *arguments: str, threads: bool = True) -> tuple[str, list[list[str]]]:
    """Run a benchmark, where it can be told its `threads` with one; return what it printed, and the cells of its
    table's rows."""
    common = ["--rounds", "1", *(["--threads", "1"] if threads else [])]
    command = [sys.executable, BENCHMARKS / script, *common, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    return done.stdout, [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


TINY = ("--articles", "3", "--lengths", "long", "--encoder")


@pytest.mark.deep
def test_training(make_encoder):
    encoder = str(make_encoder(max_position_embeddings=512))
    printed, rows = run(
        "training.py", *TINY, encoder, "--steps", "1", "--batch-groups", "2", "--queries", "40"
    )
    works = [(work, system) for work, system, *_ in rows]
    assert {("pre-training, long", "ours"), ("fine-tuning, long", "ours")} <= set(works)
    if not has("accelerate"):
        assert works == [("pre-training, long", "ours"), ("fine-tuning, long", "ours")]
        assert "accelerate" in printed.splitlines()[0]
        assert "not installed, so compared with less" in printed
    assert len(re.findall(r"losses of the first 3 steps", printed)) == 2


@pytest.mark.deep
def test_prefetch(make_encoder):
    encoder = str(make_encoder(max_position_embeddings=512))
    printed, rows = run("prefetch.py", *TINY, encoder, "--steps", "2", "--batch-groups", "2")
    assert [row[:2] for row in rows] == [["pre-training, long", "on"], ["pre-training, long", "off"]]
    assert re.search(r"long: waited for batches \S+% with batches read ahead, \S+% without", printed)


@pytest.mark.deep
def test_reranking(make_encoder):
    encoder = str(make_encoder(max_position_embeddings=512))
    printed, rows = run("reranking.py", *TINY, encoder, "--queries", "12", "--queries-in-turn", "3")
    assert [row[1] for row in rows][:2] == ["ours", "plain loop, batches of 32"]
    assert "scores have a standard deviation of" in printed, "they were compared with Hugging Face's"
    assert has("sentence_transformers") or "sentence-transformers: not installed" in printed


@pytest.mark.deep
def test_retrieval():
    tiny = ("--articles", "1", "--documents", "300", "--queries", "20", "--depth", "5")
    printed, rows = run("retrieval.py", *tiny)
    assert [row[:2] for row in rows if row[1] != "bm25s"] == [
        ["SQuAD", "ours"],
        ["SQuAD", "batch_search"],
        ["generated", "ours"],
        ["generated", "batch_search"],
    ]
    assert printed.count("ranks of all 20 queries are the same in Lucene's two") == 2
    assert has("bm25s") or "bm25s: not installed" in printed


@pytest.mark.deep
def test_text_stages():
    _, rows = run("text_stages.py", "--articles", "16", threads=False)
    assert [name for name, *_ in rows] == [
        "store_words",
        "build_postings",
        "sample_pseudo_queries",
        "merge_groups rop",
        "index_corpus",
        "build_positions",
        "weigh_textrank",
        "count_term_frequencies",
        "index_weights",
    ]
    assert all(int(rate.replace(",", "")) > 0 for _, rate, _ in rows)
