"""Which results were made by other code, what is said of them, and what makes them again."""

import json
import subprocess
from base64 import urlsafe_b64encode
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_damaged_json import TORN

from irpretrain.foundation import other_code
from irpretrain.foundation.code_digest import digests
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.other_code import other_code_text, planned_text, results_of_other_code, resume_from
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.report.lineage import Lineage
from irpretrain.workflow.costs import plan as planning
from irpretrain.workflow.screen import closing

LINE = (
    "3 results of 2 stages were made by other code: pretrain (2), rerank (1). `make redo` makes them again."
)


def result(name: str, stage: str, digest: str | None = None, **parameters: str) -> None:
    """A result and its sidecar, of the present code unless another digest of a file is given."""
    path = Path("results", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(name)
    code = digests(["foundation/errors.py"]) | ({"training/ranking_tasks.py": digest} if digest else {})
    record = {"stage": stage, "outputs": {str(path): "ab"}, "parameters": parameters, "code": code}
    Path(f"{path}.meta.json").write_text(json.dumps(record))


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result("words", "count_words")
    result("model-1", "pretrain", "0123")
    result("model-2", "pretrain", "0123")
    result("run", "rerank", "4567")
    result("table", "make_tables_prop", "89ab", code="cdef")


def test_results_of_other_code_are_counted_by_stage():
    assert other_code_text(results_of_other_code()) == LINE
    assert other_code_text([]) == ""
    stages = ({"stage": stage} for stage in "aabbbcdde")
    assert other_code_text(stages).startswith(
        "9 results of 5 stages were made by other code: b (3), a (2), d (2) and 2 stages more. "
    )


def test_a_sidecar_without_code_counts_and_one_without_its_results_does_not():
    outputs = {"results/removed": "", "results/model-1": ""}
    Path("results/model-1.meta.json").write_text(json.dumps({"stage": "pretrain", "outputs": outputs}))
    Path("results/model-2").unlink()
    assert len(list(results_of_other_code())) == 2


OLDER_KIND = {"script": "count_words", "digest": "0123", "modules": 28}


@pytest.mark.parametrize("code", [None, {}, [], ["a"], "a", 3, OLDER_KIND])
def test_what_is_no_record_of_code_counts_as_other_code(code):
    assert other_code.is_of_other_code({"code": code})


@pytest.mark.parametrize(
    ("content", "changed_files"),
    [
        *((content, "unknown") for content in TORN),
        ('{"a": "0", "b": "0", "c": "0"}', "a, b, c"),
        ('{"a": "0", "b": "0", "c": "0", "d": "0"}', "a, b, c and 1 more"),
    ],
)
def test_the_changed_files_of_resumed_work_are_named_and_a_damaged_record_has_unknown_ones(
    content, changed_files, capsys
):
    Path("code.json").write_text(content)
    resume_from(Path("code.json"))
    assert f"(changed since: {changed_files})" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["outputs", "parameters", "counts", "inputs"])
@pytest.mark.parametrize("content", [3, "text", [3], None])
def test_a_damaged_sidecar_is_of_no_use(part, content):
    path = Path("results/run.meta.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), part: content}))
    assert len(list(results_of_other_code())) == 2
    assert read_sidecar("results/run") == {}
    with pytest.raises(InputError, match=f"this is not a sidecar: {part} is not a JSON object"):
        Lineage.read([path])


def test_a_run_ends_with_the_results_of_other_code():
    plan = SimpleNamespace(config=SimpleNamespace(hidden_views=list), targets_by_name=dict)
    assert closing.closing_text(plan, {}, {"all"}, 0).splitlines() == ["", LINE]


def test_a_plan_begins_with_the_results_of_other_code(monkeypatch, capsys):
    monkeypatch.setattr(planning.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    assert planning.main([]) == 0
    assert capsys.readouterr().err.splitlines()[0] == LINE


def test_a_report_that_is_made_with_a_redo_has_nothing_to_say(monkeypatch):
    assert planned_text(None)
    monkeypatch.setenv(other_code.REDO, "1")
    assert planned_text(None) == ""


@pytest.fixture
def redo(monkeypatch):
    """Calls `make redo` where the targets need some files; returns its status and the commands and environments of
    Snakemake, which ends as given."""

    def call(*needed: str, status: int = 0, listing: int = 0) -> tuple[int, list[tuple[list[str], dict]]]:
        summary = "output_file\tdate\n" + "".join(f"{name}\t-\n" for name in needed)
        called: list[tuple[list[str], dict]] = []

        def run(command, env=None, **_):
            called.append((command, env))
            return subprocess.CompletedProcess(command, status if env else listing, stdout=summary)

        monkeypatch.setattr(other_code.subprocess, "run", run)
        return other_code.main(["--cores", "2", "prop"]), called

    return call


def test_redo_forces_what_the_targets_need(redo, capfd):
    status, [requested, forced] = redo("results/model-1", "results/words")
    assert status == 0
    assert requested[0][-4:] == ["--cores", "2", "prop", "--summary"]
    assert forced[0][-5:] == ["--cores", "2", "prop", "--forcerun", "results/model-1"]
    assert forced[1][other_code.REDO] == "1"
    assert "1 result was made by other code: pretrain (1)." in capfd.readouterr().err


def test_redo_goes_on_where_a_redo_was_broken_off(redo, capfd):
    """Snakemake has removed two files, one of which these targets need."""

    def noted() -> list[str]:
        return json.loads(other_code.REDO_FILE.read_text())

    other_code.REDO_FILE.parent.mkdir()
    other_code.REDO_FILE.write_text('["results/b", "results/a", "results/c", "results/words"]')
    needed = ("results/b", "results/a", "results/run")
    status, [_, forced] = redo(*needed, status=3)
    assert (status, forced[0][-3:]) == (3, ["results/a", "results/b", "results/run"])
    assert "A redo was broken off: it goes on with results/a, results/b.\n" in capfd.readouterr().err
    assert noted() == ["results/a", "results/b", "results/c", "results/run"]
    assert redo(*needed)[0] == 0
    assert noted() == ["results/c"]


@pytest.mark.parametrize("content", [*TORN, "[3]", "{}"])
def test_a_damaged_list_of_removed_files_names_none(redo, capfd, content):
    other_code.REDO_FILE.parent.mkdir()
    other_code.REDO_FILE.write_text(content)
    assert redo("results/words")[0] == 0
    assert capfd.readouterr().err == "No result that these targets need was made by other code.\n"


def test_redo_says_where_there_is_nothing_to_do(redo, capfd):
    assert (redo("results/words")[0], capfd.readouterr().err) == (
        0,
        "No result that these targets need was made by other code.\n",
    )
    assert redo("results/run", listing=2)[0] == 2, "Snakemake refuses the targets"
    capfd.readouterr()
    for sidecar in Path("results").glob("*.meta.json"):
        sidecar.unlink()
    assert redo("results/run") == (0, [])
    assert capfd.readouterr().err == "No result was made by other code.\n"


def test_results_of_jobs_that_a_kill_broke_off_are_not_named(tmp_path):
    """Snakemake has their marks, and makes them again."""
    outputs = [str(path).removesuffix(".meta.json") for path in Path("results").rglob("*.meta.json")]
    outputs[0] += ".meta.json"  # a rule may name the sidecar among its outputs
    for output in outputs:
        assert other_code.unrecorded_text()
        name = urlsafe_b64encode(output.encode()).decode()
        mark = Path(".snakemake/incomplete", f"@{name[:5]}", name[5:])
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text("{}")
    assert not other_code.unrecorded_text()


def test_results_without_snakemakes_record_are_named():
    """Snakemake then takes them for up to date, whatever options the configuration has."""
    assert other_code.unrecorded_text().startswith("results holds results, but Snakemake's record")
    record = Path(".snakemake/metadata/a/cmVzdWx0cy93b3Jkcw==")
    record.parent.mkdir(parents=True)
    assert other_code.unrecorded_text()  # Snakemake makes the folder before it knows of any result
    record.write_text("{}")
    assert not other_code.unrecorded_text()
