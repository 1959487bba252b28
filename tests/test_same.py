"""`make same` names what another commit has otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from same import ROOT, differences


def test_what_differs_is_new_or_gone_is_named() -> None:
    before = {"all 1": "aa", "read_corpus 2": "bb", "results/a.csv": "cc"}
    now = {"all 1": "aa", "read_corpus 3": "bb", "results/a.csv": "dd"}
    assert differences(before, now) == [
        "gone: read_corpus 2",
        "new: read_corpus 3",
        "differs: results/a.csv",
    ]
    assert differences(before, before) == []


@pytest.mark.deep
def test_a_changed_key_shows_in_the_configurations_that_have_it(tmp_path: Path) -> None:
    """In a clone, whose worktree has another seed than its commit."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(clone)], check=True)
    (clone / "tests/same.py").write_bytes((ROOT / "tests/same.py").read_bytes())

    def same(*arguments: str) -> tuple[int, str]:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(clone / "src"), str(clone / "tests/workflow")]),
        }
        command = [sys.executable, str(clone / "tests/same.py"), "configuration", *arguments]
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
        return done.returncode, done.stderr

    overlay = clone / "configs/minimal.yaml"
    overlay.write_text(overlay.read_text() + "\nseed: 77\n")
    returncode, printed = same()
    assert returncode == 1, printed
    assert "configuration: differs: configs/minimal.yaml\n" in printed
    assert printed.endswith("\n1 differences\n")
    assert same("--with", "no-such-branch")[0] == 1
