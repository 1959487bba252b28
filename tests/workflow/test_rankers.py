"""Rankers without pre-training and passages through the real workflow, beside the encoder itself."""

import json

import pytest
import yaml
from tiny import no_experiments, overlay_config, run_workflow

from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.atomic import read_csv
from irpretrain.models.neural.registry import load_neural_ranker

pytestmark = [pytest.mark.deep, pytest.mark.workflow]

MODELS = ("control", "maxp", "knrm", "duet")


def test_they_are_fine_tuned_and_evaluated_as_others_are(copied):
    overlay = overlay_config()
    overlay["models"] |= {
        "maxp": {"label": "BERT-maxP", "passages": {"words": 15, "stride": 10}},
        "knrm": {
            "label": "KNRM",
            "neural": {"type": "knrm", "collection": "target"},
            "finetuning": {"learning_rates": [0.01], "epochs": 3},
        },
        "duet": {
            "label": "DUET",
            "neural": {"type": "duet", "collection": "target", "document_words": 110},
        },
    }
    overlay["experiments"] = {
        **no_experiments(),
        "rankers": {"dataset": "tiny-unseen", "models": list(MODELS), "regimes": ["full"], "papers": ["php"]},
    }
    overlay["finetuning"]["keep_models"] = True
    (copied / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    run_workflow(copied, "results/scores/rankers.csv", "results/tables/php_table3.md")
    folder = copied / "results/runs/tiny-unseen/bm25"
    for model in MODELS:
        run = folder / model / "full/seed-1/fold-0.run.gz"
        assert sorted(read_run(run)) == ["u00", "u01", "u02", "u03"]
        meta = json.loads((run.parent / f"{run.name}.meta.json").read_text())
        reads = "words/target" if model in ("knrm", "duet") else "tokens"
        assert f"results/{reads}/tiny" in " ".join(meta["inputs"])
        assert meta["counts"]["epochs_trained"] == (3 if model == "knrm" else 1)
    scored = {row["model"] for row in read_csv(copied / "results/scores/rankers.csv")}
    assert set(MODELS) <= scored
    retained = load_neural_ranker(
        copied / "results/models/finetuned/tiny-unseen/bm25/knrm/full/seed-1/fold-0"
    )
    fresh = load_neural_ranker(copied / "results/models/neural/knrm/seed-1")
    assert retained.vocabulary.words == fresh.vocabulary.words
    assert not (retained.vectors.weight == fresh.vectors.weight).all()
    table = (copied / "results/tables/php_table3.md").read_text()
    panel = table[table.index("tiny unseen") :]
    line = next(line for line in panel.splitlines() if line.startswith("| KNRM |"))
    assert "not run" not in line
