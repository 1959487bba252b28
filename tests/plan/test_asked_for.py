"""A run of named targets ends with where their files lie."""

from pathlib import Path

import pytest
from small_plan import plan_of

from irpretrain.workflow.screen.closing import requested_files_text

EXPORTED = "results/exported/prop/seed-3"


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path.parent))
    return tmp_path


def made(*paths: str) -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.mark.parametrize("target", [EXPORTED, "exported_models"])
def test_files_and_names_that_stand_for_files_are_shown_as_the_user_can_take_them(run, target):
    made(EXPORTED)
    assert requested_files_text(plan_of(), [target], "") == f"Files:   {run.name}/{EXPORTED}\n"


def test_of_many_files_three_are_named(run):
    files = [f"results/{name}.csv" for name in "abcde"]
    made(*files)
    displayed = ", ".join(f"{run.name}/{path}" for path in files[:3])
    assert requested_files_text(plan_of(), files, "") == f"Files:   {displayed} and 2 more\n"


def test_reports_are_named_by_the_headline(run):
    made("results/report.html", "results/reports/prop.html")
    reported = f"Report:  {run.name}/results/report.html\n"
    assert requested_files_text(plan_of(), ["all", "prop", "results/report.html"], reported) == ""


def test_a_rule_without_files_of_its_own_is_passed_over():
    assert requested_files_text(plan_of(), ["verify_dataset"], "") == ""
