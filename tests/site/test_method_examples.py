"""Examples on the methods' pages are those that the default's run writes."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ci" / "pages"))
method_examples = importlib.import_module("method_examples")
KEPT = sorted(path.relative_to(ROOT / "docs/examples") for path in ROOT.glob("docs/examples/**/*.json"))


@pytest.mark.deep
def test_examples_are_those_of_the_default_s_run(tmp_path: Path) -> None:
    """Where one differs on purpose, copy it from `results/examples` of a run."""
    made = {name: tmp_path / "results/examples" / name for name in KEPT}
    targets = [str(path.relative_to(tmp_path)) for path in made.values()]
    options = ["--workflow-profile", "none", "--cores", "2", "--quiet", "all", "--directory", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "snakemake", *options, *targets], cwd=ROOT, check=True)
    for name, path in made.items():
        assert path.read_text() == (ROOT / "docs/examples" / name).read_text(), name


def test_every_kept_example_is_on_a_page() -> None:
    pages = "".join(path.read_text() for path in ROOT.glob("docs/methods/*.md"))
    assert {name for _, name, _ in method_examples.BLOCK.findall(pages)} == {
        name.with_suffix("").as_posix() for name in KEPT
    }


def test_axioms_that_prefer_the_second_sequence_are_listed_too(tmp_path: Path) -> None:
    for folder in ("methods", "examples"):
        shutil.copytree(ROOT / "docs" / folder, tmp_path / folder)
    path = tmp_path / "examples/pretraining/ares-simple.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"axioms": {"RANK": 1, "REG": -1, "STM-1": 0}}))
    page = method_examples.method_pages(tmp_path)["methods/ares.md"]
    assert "\naxioms for the first: RANK\naxioms for the second: REG\n" in page
