"""A model that is passed on has its files, and a card that says what it was made from and what it reached."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from irpretrain.errors import InputError
from irpretrain.report.model_card import CardFacts, Source, export_model, read_means, write_card, write_scores

FACTS = CardFacts(
    key="prop",
    label="PROP",
    seed=1,
    encoder=Source("MiniLM", "Apache-2.0"),
    corpora=[Source("enwiki-excerpt: Excerpt of | Wikipedia", "CC BY-SA 3.0")],
    papers=["Ma et al. PROP. WSDM 2021."],
    tasks=[{"objective": "rop", "weight": 1.0, "options": {"type": "rop", "pairs_per_document": 5}}],
    training={"steps": 100, "max_length": 64},
    encoder_caveat="It has seen SQuAD.",
)
RECORD = {
    "inputs": {"results/groups/pretraining/rop.parquet": "ab12"},
    "parameters_hash": "c0ffee",
    "counts": {"steps": 100},
    "commit": "0a1b2c3",
    "versions": {"torch": "2.13.0", "pyserini": None},
    "hardware": {"cores": 2},
}
SCORES = """\
dataset,candidates,model,regime,seed,fold,measure,value,queries
squad,bm25,prop,zero-shot,1,0,nDCG@20,0.57,150
squad,bm25,prop,zero-shot,1,1,nDCG@20,0.50,30
squad,bm25,prop,zero-shot,2,0,nDCG@20,0.58,150
squad,bm25,ql,first-stage,0,0,nDCG@20,0.85,150
"""


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A directory as pre-training leaves it, snapshot and Snakemake's mark included."""
    model = tmp_path / "seed-1"
    (model / "snapshots/step-2").mkdir(parents=True)
    (model / "snapshots/step-2/model.safetensors").write_text("early")
    (model / "model.safetensors").write_text("weights")
    (model / "config.json").write_text("{}")
    (model / ".snakemake_timestamp").touch()
    (tmp_path / "seed-1.meta.json").write_text(json.dumps(RECORD))
    (tmp_path / "scores.csv").write_text(SCORES)
    return model


def test_it_has_the_models_files_and_a_card(trained: Path, tmp_path: Path) -> None:
    assert export_model(trained, trained, FACTS, tmp_path / "out") == {"files": 2}
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["README.md", "config.json", "model.safetensors"]
    assert (tmp_path / "out/model.safetensors").read_text() == "weights"


def test_facts_are_read_from_plain_values() -> None:
    assert CardFacts.read(json.loads(json.dumps(FACTS._asdict()))) == FACTS


def test_the_card_says_everything() -> None:
    card = write_card(FACTS, RECORD)
    _, front, body = card.split("---\n", 2)
    assert yaml.safe_load(front)["tags"] == ["cross-encoder", "information-retrieval", "rop"]
    assert yaml.safe_load(front)["library_name"] == "transformers"
    for said in (
        "# PROP",
        "seed 1",
        "It has seen SQuAD.",
        "| MiniLM | Apache-2.0 |",
        "steps: 100",
        "Ma et al.",
    ):
        assert said in body
    assert "| enwiki-excerpt: Excerpt of \\| Wikipedia | CC BY-SA 3.0 |" in body
    assert "- commit: 0a1b2c3" in body
    assert "torch 2.13.0\n" in body, "what is not installed is not named"
    assert "- `results/groups/pretraining/rop.parquet`: sha256 ab12" in body
    assert "pairs_per_document: 5" in body


def test_scores_are_means_of_this_model_and_seed(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)
    means = read_means([tmp_path / "scores.csv"], "prop", 1)
    assert [row["value"] for row in means] == ["0.57"]
    scores = [tmp_path / "scores.csv", tmp_path / "scores.csv"]
    assert write_scores(scores, "prop", "PROP", 1, tmp_path / "scores.md") == {"scores": 1}
    written = (tmp_path / "scores.md").read_text()
    assert written.startswith("# Scores of PROP, seed 1\n")
    assert "| squad | bm25 | zero-shot | nDCG@20 | 0.57 | 150 |" in written
    write_scores([], "prop", "PROP", 1, tmp_path / "scores.md")
    assert "No experiment of the configuration tests it." in (tmp_path / "scores.md").read_text()


def test_a_model_without_a_record_is_refused(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "seed-1.meta.json").unlink()
    with pytest.raises(InputError, match="Train it again"):
        export_model(trained, trained, FACTS, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_code_of_the_card_runs(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from irpretrain.models.cross_encoder import CrossEncoder

    CrossEncoder.from_encoder(tiny_encoder, "pooled").save(tmp_path / "model")
    monkeypatch.chdir(tmp_path / "model")
    [code] = re.findall(r"```python\n(.*?)```", write_card(FACTS, RECORD), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["score"].ndim == 0
