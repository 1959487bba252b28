"""A model chosen among its snapshots on held-out queries, through the real workflow."""

import json

import pytest
import yaml
from tiny import no_experiments, overlay_config, run_workflow

pytestmark = [pytest.mark.deep, pytest.mark.workflow]

RUNS = "results/runs/tiny/bm25"


def test_the_chosen_snapshot_is_what_is_tested_and_started_from(copied):
    overlay = overlay_config()
    chosen = {"select_on": {"dataset": "tiny-unseen", "measure": "RR@10"}, "training": {"snapshots": [2]}}
    overlay["models"]["prop-rop"] = chosen
    # 72 documents give 360 pairs, of which a step takes 4.
    by_epochs = {"steps": None, "epochs": 0.04, "snapshots": []}
    overlay["models"]["prop-further"] |= {"start": "prop-rop", "training": by_epochs}
    models = ["prop-rop", "prop-further"]
    overlay["experiments"] = {
        **no_experiments(),
        "zero-shot": {"dataset": "tiny", "models": models, "regimes": ["zero-shot"]},
    }
    (copied / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    steps = ["@2", "@6", ""]
    run_workflow(
        copied,
        *(f"{RUNS}/prop-rop{step}/zero-shot/seed-1.run.gz" for step in steps),
        "results/models/pretrained/prop-further/seed-1",
    )
    found = json.loads((copied / "results/metrics/selected/prop-rop/seed-1.json").read_text())
    assert [entry["step"] for entry in found["scores"]] == [2, 6]
    best = found["chosen"]["step"]
    assert best == max(found["scores"], key=lambda entry: (entry["score"], -entry["step"]))["step"]
    runs = {step: (copied / RUNS / f"prop-rop{step}/zero-shot/seed-1.run.gz").read_bytes() for step in steps}
    assert runs[""] == runs[f"@{best}"]
    assert runs["@2"] != runs["@6"]
    further = json.loads((copied / "results/models/pretrained/prop-further/seed-1.meta.json").read_text())
    assert "results/models/selected/prop-rop/seed-1" in further["inputs"]
    counts = further["counts"]
    assert counts["groups_available"]["rop"] + counts["groups_held_out"]["rop"] == 360
    assert (further["counts"]["steps"], further["counts"]["groups"]) == (4, {"rop": 16})
