"""The page on combining objectives is followed: its overlay trains, and its weights are what it says they are."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from tiny import ROOT, code_blocks, overlay_config, run_command

from irpretrain.config import load_config

[OVERLAY] = code_blocks("tutorials/combining-objectives", "yaml")
[COMMAND] = code_blocks("tutorials/combining-objectives", "sh")
STEPS = 9


def test_it_is_valid_where_its_command_lays_it(tmp_path):
    (tmp_path / "combined.yaml").write_text(OVERLAY)
    config = load_config(ROOT / "config.yaml", tmp_path / "combined.yaml")
    tasks = config.models["rop-srr"].tasks
    assert [(task.objective, task.weight, task.mlm_weight) for task in tasks] == [
        ("rop", 1, 1),
        ("srr", 0.5, 0),
    ]
    assert config.training_of("rop-srr").of_task(tasks[1]).loss == "listwise"


def trained(folder: Path, model: str) -> Path:
    """The results of a copy of the tiny project after the page's command for a model, of a few steps."""
    (folder / "combined.yaml").write_text(OVERLAY.replace("dataset: squad", "dataset: tiny"))
    small = overlay_config()
    models = list(yaml.safe_load(OVERLAY)["models"])
    small["models"] |= {name: {"training": {"steps": STEPS, "mlm_head_steps": 2}} for name in models}
    (folder / "tiny.yaml").write_text(
        yaml.safe_dump({**small, "experiments": {"zero-shot-wikiformer": None}})
    )
    words = COMMAND.replace("runs/combined", str(folder))
    words = words.replace("combined.yaml", f"{folder / 'combined.yaml'} {folder / 'tiny.yaml'}")
    words += f" --snakefile {ROOT / 'Snakefile'} -- results/models/pretrained/{model}/seed-1"
    run_command([sys.executable, "-m", *words.split()])
    return folder / "results"


def steps(results: Path, model: str) -> list[dict]:
    lines = (results / f"metrics/pretrained/{model}/seed-1.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.deep
@pytest.mark.workflow
def test_weighted_losses_are_added_in_every_step(copied):
    found = steps(trained(copied, "rop-srr"), "rop-srr")
    assert len(found) == STEPS
    for step in found:
        rop, srr = step["tasks"]["rop"], step["tasks"]["srr#1"]
        assert srr["mlm_loss"] is None
        weighted = rop["ranking_loss"] + rop["mlm_loss"] + 0.5 * srr["ranking_loss"]
        assert step["loss"] == pytest.approx(weighted, rel=1e-5)


@pytest.mark.deep
@pytest.mark.workflow
def test_one_after_the_other_starts_from_the_first_models_weights(copied):
    results = trained(copied, "rop-then-srr")
    inputs = json.loads((results / "models/pretrained/rop-then-srr/seed-1.meta.json").read_text())["inputs"]
    assert any("models/pretrained/prop/seed-1" in name for name in json.dumps(inputs).split('"'))
