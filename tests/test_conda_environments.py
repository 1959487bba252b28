"""The conda environment files have the pins of the lock, one file a stage, with what the stage's scripts import."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import locked

ROOT = Path(__file__).resolve().parents[1]
PINS = {f"{name}=={version}" for name, version in locked.pins().items()}
FILES = sorted((ROOT / "envs").glob("*.yaml"))
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def conda() -> ModuleType:
    """envs/conda.py, as a module."""
    spec = importlib.util.spec_from_file_location("conda_environments", ROOT / "envs/conda.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pins(path: Path) -> list[str]:
    """What pip installs into an environment."""
    *conda, last = yaml.safe_load(path.read_text())["dependencies"]
    assert conda == ["python=3.11", "pip"]
    return last["pip"]


def test_every_stage_has_one() -> None:
    stages = {path.stem for path in (ROOT / "rules").glob("*.smk") if "script:" in path.read_text()}
    assert {path.stem for path in FILES} == stages


@files
def test_its_pins_are_the_lock_s(path: Path) -> None:
    found = pins(path)
    assert set(found) <= PINS
    assert len(found) == len(set(found))
    reported = re.findall(
        r"^#.*pip install --no-deps ((?:[\w.-]+==[\w.]+ ?)+)$", path.read_text(), re.MULTILINE
    )
    assert all(set(line.split()) <= PINS for line in reported)


def test_they_are_up_to_date(conda: ModuleType) -> None:
    conda.main(check=True)


def test_a_new_import_is_noticed(conda: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("def late():\n    import duckdb\n    from irpretrain.text import stop_words\n")
    assert {"duckdb", "Stemmer", "yaml"} <= conda.third_party([script])
    assert {"duckdb", "pystemmer", "snakemake"} <= conda.distributions({"duckdb", "Stemmer"})
