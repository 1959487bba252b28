"""`make redo` that is killed, with the real make and Snakemake: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = Path(sys.executable).parent.parent
SNAKEFILE = """
rule all:
    default_target: True
    input: "results/third", "results/fresh"

rule first:
    output: "results/first"
    priority: 1
    script: "write.py"

rule second:
    input: "results/first"
    output: "results/second"
    script: "write.py"

rule third:
    input: "results/second"
    output: "results/third"
    script: "write.py"

rule fresh:
    output: "results/fresh"
    script: "write.py"
"""
SCRIPT = """
import time
from pathlib import Path
from irpretrain.foundation.stage import stage
with stage(snakemake):
    with open("runs", "a") as runs:
        runs.write(snakemake.rule + "\\n")
    while snakemake.rule == "second" and Path("wait").exists():
        time.sleep(0.05)
    Path(snakemake.output[0]).write_text("text")
"""
OTHER = "were made by other code"


def make(goal: str, folder: Path) -> list[str]:
    name = shlex.quote(str(folder))
    own = (f"VENV={ENVIRONMENT}", "CORES=1", f"ARGS=--snakefile {name}/Snakefile --directory {name}")
    return ["make", "--assume-old", "environment", *own, goal]


def done(goal: str, folder: Path) -> str:
    result = subprocess.run(make(goal, folder), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def runs(folder: Path) -> list[str]:
    """The rules that have begun since this was last asked."""
    names = (folder / "runs").read_text().split()
    (folder / "runs").write_text("")
    return names


def test_a_killed_redo_is_resumed_and_redone(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "write.py").write_text(SCRIPT)
    done("run", tmp_path)
    assert sorted(runs(tmp_path)) == ["first", "fresh", "second", "third"]
    assert "No result was made by other code." in done("redo", tmp_path)
    for name in ("first", "second"):  # third is of the same code, but of files that are not
        path = tmp_path / f"results/{name}.meta.json"
        record = json.loads(path.read_text())
        record["code"]["foundation/errors.py"] = "0123"
        path.write_text(json.dumps(record))
    (tmp_path / "wait").touch()
    deadline = time.monotonic() + PATIENCE
    with subprocess.Popen(
        make("redo", tmp_path), cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, text=True
    ) as redo:
        while "second" not in (tmp_path / "runs").read_text():
            assert redo.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(redo.pid, signal.SIGKILL)
    (tmp_path / "wait").unlink()
    assert runs(tmp_path) == ["first", "second"]
    assert (tmp_path / "results/third").exists(), "what was not reached yet is kept"
    refused = subprocess.run(make("redo", tmp_path), cwd=ROOT, capture_output=True, text=True)
    assert "`make resume` for `make run`" in refused.stdout + refused.stderr
    done("resume", tmp_path)
    assert runs(tmp_path) == [], "Snakemake takes the last file for up to date"
    printed = done("redo", tmp_path)
    assert "A redo was broken off: it goes on with results/second." in printed
    assert runs(tmp_path) == ["second", "third"], "what was redone before the kill is not done again"
    assert "No result was made by other code." in done("redo", tmp_path)
    assert {path.read_text() for path in (tmp_path / "results").glob("*[!n]")} == {"text"}
