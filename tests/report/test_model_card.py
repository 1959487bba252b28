"""A model that is passed on has its files, and a card that says what it was made from and what it reached."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from irpretrain.errors import InputError
from irpretrain.report.cards import Source
from irpretrain.report.model_card import CardFacts, export_model, read_scores_of, write_card

FACTS = CardFacts(
    key="prop",
    label="PROP",
    seed=1,
    kind="ranker",
    what="A cross-encoder for re-ranking.",
    scored={"model": ["prop"], "seed": ["1"], "fold": ["0"]},
    regime="zero-shot",
    encoder=Source("MiniLM", "Apache-2.0", "nreimers/MiniLM-L6-H384-uncased"),
    corpora=[Source("enwiki-excerpt: Excerpt of | Wikipedia", "CC BY-SA 3.0", "wikimedia/wikipedia")],
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
squad,bm25,prop,full,1,0,nDCG@20,0.88,150
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
    assert export_model(trained, trained, [], FACTS, tmp_path / "out") == {"files": 2, "scores": 0}
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["README.md", "config.json", "model.safetensors"]
    assert (tmp_path / "out/model.safetensors").read_text() == "weights"


def test_facts_are_read_from_plain_values() -> None:
    assert CardFacts.read(json.loads(json.dumps(FACTS._asdict()))) == FACTS


def test_the_hub_reads_the_fields_of_the_card(tmp_path: Path) -> None:
    from huggingface_hub import ModelCard

    (tmp_path / "scores.csv").write_text(SCORES)
    rows = read_scores_of([tmp_path / "scores.csv"], FACTS.scored)
    data = ModelCard(write_card(FACTS, RECORD, rows)).data
    assert data.tags == ["cross-encoder", "information-retrieval", "rop"]
    assert (data.library_name, data.pipeline_tag) == ("transformers", "text-ranking")
    assert (data.base_model, data.datasets) == ("nreimers/MiniLM-L6-H384-uncased", ["wikimedia/wikipedia"])
    assert (data.license, data["license_name"]) == ("other", "see-the-card"), "two licences are not one"
    [result] = data.eval_results
    assert (result.metric_type, result.metric_value, result.dataset_type) == ("nDCG@20", 0.57, "squad")


def test_the_card_says_everything() -> None:
    body = write_card(FACTS, RECORD)
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


def test_scores_are_means_of_this_model_and_seed(trained: Path, tmp_path: Path) -> None:
    scores = [tmp_path / "scores.csv"] * 2
    assert [row["value"] for row in read_scores_of(scores, FACTS.scored)] == ["0.57", "0.88"]
    assert export_model(trained, trained, scores, FACTS, tmp_path / "out")["scores"] == 2
    written = (tmp_path / "out/README.md").read_text()
    assert "| squad | bm25 | zero-shot | nDCG@20 | 0.57 | 150 |" in written
    assert "those of fine-tuned copies" in written
    assert "## Scores" not in write_card(FACTS, RECORD), "nothing was evaluated"


def test_the_card_has_the_accuracy_on_held_out_groups(trained: Path, tmp_path: Path) -> None:
    probe = tmp_path / "probe.csv"
    probe.write_text(
        "task,input,groups,accuracy,low,high,p_value\n"
        + "".join(
            f"rop,{name},40,{value},{value - 0.1},{value + 0.1},{'' if name == 'right' else 0.001}\n"
            for name, value in (
                ("right", 0.8),
                ("swapped", 0.5),
                ("none", 0.5),
                ("candidates", 0.5),
                ("before", 0.4),
            )
        )
    )
    export_model(trained, trained, [], FACTS, tmp_path / "out", [probe])
    written = (tmp_path / "out/README.md").read_text()
    assert "## Held-out groups" in written
    assert "| rop | 40 | 0.80 [0.70, 0.90] | 0.50 [0.40, 0.60] |" in written
    assert "The text is used (p = 0.001)." in written
    probe.write_text("task,input,groups,accuracy,low,high,p_value\n")
    export_model(trained, trained, [], FACTS, tmp_path / "none", [probe])
    assert "Held-out groups" not in (tmp_path / "none/README.md").read_text()


def test_a_model_that_is_gone_is_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no longer there"):
        export_model(tmp_path / "gone", trained, [], FACTS, tmp_path / "out")


def test_a_model_without_a_record_is_refused(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "seed-1.meta.json").unlink()
    with pytest.raises(InputError, match="Train it again"):
        export_model(trained, trained, [], FACTS, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["ranker", "weigher"])
def test_the_code_of_the_card_runs(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    from irpretrain.models.cross_encoder import CrossEncoder
    from irpretrain.models.term_weight_regressor import TermWeightRegressor

    model = {
        "ranker": lambda: CrossEncoder.from_encoder(tiny_encoder, "pooled"),
        "weigher": lambda: TermWeightRegressor.from_encoder(tiny_encoder),
    }[kind]()
    model.save(tmp_path / "model")
    monkeypatch.chdir(tmp_path / "model")
    [code] = re.findall(r"```python\n(.*?)```", write_card(FACTS._replace(kind=kind), RECORD), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    if kind == "ranker":
        assert names["score"].ndim == 0
    else:
        assert names["weights"].shape == (names["pieces"]["input_ids"].shape[1],)
