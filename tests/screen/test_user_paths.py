"""Paths of messages open from the folder in which the user gave the command."""

from pathlib import Path

import pytest

from irpretrain.workflow.screen.job_output import as_user_path, folder_note


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


def test_where_relative_paths_begin_is_said_where_the_user_stands_elsewhere(folder, monkeypatch):
    assert folder_note() == "Relative paths begin in runs/mine."
    monkeypatch.setenv("PWD", str(folder / "runs/mine"))
    assert folder_note() == ""


def test_what_does_not_lie_below_the_user_is_displayed_in_full(folder, monkeypatch):
    assert as_user_path("data/a.jsonl") == "runs/mine/data/a.jsonl"
    monkeypatch.setenv("PWD", str(folder / "elsewhere"))
    assert as_user_path("data/a.jsonl") == f"{folder}/runs/mine/data/a.jsonl"
