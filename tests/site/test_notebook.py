"""The notebook runs from its first cell to its last, and is committed without outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import irpretrain

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = json.loads((ROOT / "docs/tutorials/from-a-dump.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_it_has_no_outputs() -> None:
    assert NOTEBOOK["nbformat"] == 4
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


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
    assert "Alabama > History > 19th century" in done.stdout
    losses = [
        float(word) for word in done.stdout.split("loss ")[1].split() if word[0].isdigit() and "." in word
    ]
    assert losses[1] < losses[0] - 1
    assert (tmp_path / "notebook/curve.png").stat().st_size > 1000
