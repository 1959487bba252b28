"""The notebook runs from its first cell to its last, and shows what it printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import irpretrain

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = json.loads((ROOT / "docs/tutorials/from-a-dump.ipynb").read_text(encoding="utf-8"))
CELLS = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
CODE = ["".join(cell["source"]) for cell in CELLS]
PRINTED = ["".join(cell["outputs"][0]["text"]) for cell in CELLS]


def test_its_outputs_are_those_of_one_run() -> None:
    assert NOTEBOOK["nbformat"] == 4
    assert [cell["execution_count"] for cell in CELLS] == list(range(1, len(CELLS) + 1))
    assert [set(output["data"]) for cell in CELLS for output in cell["outputs"][1:]] == [
        {"image/png", "text/plain"}
    ]


def test_its_imports_exist() -> None:
    lines = [
        line for text in CODE for line in text.splitlines() if line.startswith("from irpretrain import ")
    ]
    names = {name for line in lines for name in line.removeprefix("from irpretrain import ").split(", ")}
    assert {"build_tree", "pretrain"} <= names <= set(irpretrain.__all__)


def test_embedded_data_are_read_by_name() -> None:
    first = next(irpretrain.read_documents("embedded:squad-dev", "squad"))
    assert first.title == "Super Bowl 50"


@pytest.mark.deep
def test_it_runs(tmp_path: Path) -> None:
    script = tmp_path / "cells.py"
    script.write_text("\n".join(CODE), encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for printed in PRINTED[:3]:  # what is trained differs between processors in the last digits
        assert printed in done.stdout
    before, after = map(float, re.findall(r"(0\.\d\d) (?:after|at the end)", done.stdout))
    assert after > before + 0.1
    assert (tmp_path / "notebook/curve.png").stat().st_size > 1000
