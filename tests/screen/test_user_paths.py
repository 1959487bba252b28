"""Paths of messages open from the folder in which the user gave the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from irpretrain.workflow.screen.job_output import as_user_path, with_user_paths


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user stands in `tmp_path`, and the run is in runs/mine below it."""
    run = tmp_path / "runs/mine"
    for path in ("results/scores/mine.csv", "data/a.jsonl"):
        (run / path).parent.mkdir(parents=True)
        (run / path).touch()
    monkeypatch.chdir(run)
    monkeypatch.setenv("PWD", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "displayed"),
    [
        ("All: results/scores/mine.csv", "All: runs/mine/results/scores/mine.csv"),
        ("ERROR in x: data/a.jsonl:37: not JSON", "ERROR in x: runs/mine/data/a.jsonl:37: not JSON"),
        ("  ../../data/robust04/04.testset.gz (x)", "  data/robust04/04.testset.gz (x)"),
        ("it is in 'data/a.jsonl', or `data/`.", "it is in 'runs/mine/data/a.jsonl', or `runs/mine/data`."),
        ("corpora.mine.path: data/absent: no such file", "corpora.mine.path: data/absent: no such file"),
        (
            "1/2 records, data, /x/data/a, https://x.org/data/a",
            "1/2 records, data, /x/data/a, https://x.org/data/a",
        ),
    ],
)
def test_a_path_in_a_text_is_the_users(folder, text, displayed):
    assert with_user_paths(text) == displayed
    assert with_user_paths(displayed) == displayed


def test_nothing_changes_where_the_user_stands_in_the_folder_of_the_run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert with_user_paths("../data/a.jsonl and runs/mine/data") == "../data/a.jsonl and runs/mine/data"


def test_what_does_not_lie_below_the_user_is_displayed_in_full(folder, monkeypatch):
    monkeypatch.setenv("PWD", str(folder / "elsewhere"))
    assert as_user_path("data/a.jsonl") == f"{folder}/runs/mine/data/a.jsonl"
