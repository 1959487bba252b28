"""A model that is passed on has its files, and a card that says what it was made from and what it reached."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from irpretrain.foundation.errors import InputError
from irpretrain.models.encoder_files import CEDR_FILE
from irpretrain.report.model_card import CardFacts, Source, export_model, read_scores_of, write_card

FACTS = CardFacts(
    key="prop",
    label="PROP",
    seed=1,
    scored={"model": ["prop"], "seed": ["1"], "fold": ["0"]},
    encoder=Source("MiniLM", "Apache-2.0", "nreimers/MiniLM-L6-H384-uncased"),
    corpora=[Source("enwiki-excerpt: Excerpt of | Wikipedia", "CC BY-SA 3.0", "wikimedia/wikipedia")],
    papers=["Ma et al. PROP. WSDM 2021."],
    stages=[
        {
            "model": "prop",
            "tasks": [
                {"objective": "rop", "weight": 1.0, "options": {"type": "rop", "pairs_per_document": 5}}
            ],
            "training": {"steps": 100, "max_length": 32, "query_length": 8},
        }
    ],
    encoder_caveat="It has seen SQuAD.",
    language="de",
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
    assert export_model(trained, [trained], [], FACTS, tmp_path / "out") == {"files": 2, "scores": 0}
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["README.md", "config.json", "model.safetensors"]
    assert (tmp_path / "out/model.safetensors").read_text() == "weights"


def test_facts_are_read_from_plain_values() -> None:
    assert CardFacts.read(json.loads(json.dumps(FACTS._asdict()))) == FACTS


def test_the_hub_reads_the_fields_of_the_card(tmp_path: Path) -> None:
    from huggingface_hub import ModelCard

    (tmp_path / "scores.csv").write_text(SCORES)
    rows = read_scores_of([tmp_path / "scores.csv"], FACTS.scored)
    data = ModelCard(write_card(FACTS, [RECORD], rows)).data
    assert data.tags == ["cross-encoder", "information-retrieval", "rop"]
    assert data.language == "de"
    assert "language" not in write_card(FACTS._replace(language=""), [RECORD], rows).split("---")[1]
    assert (data.library_name, data.pipeline_tag) == ("transformers", "text-ranking")
    assert (data.base_model, data.datasets) == ("nreimers/MiniLM-L6-H384-uncased", ["wikimedia/wikipedia"])
    assert (data.license, data["license_name"]) == ("other", "see-the-card"), "two licences are not one"
    [result] = data.eval_results
    assert (result.metric_type, result.metric_value, result.dataset_type) == ("nDCG@20", 0.57, "squad")


def test_the_card_says_everything() -> None:
    body = write_card(FACTS, [RECORD])
    for said in (
        "# PROP", "seed 1", "It has seen SQuAD.", "| MiniLM | Apache-2.0 |", "steps: 100", "Ma et al.",
        "| enwiki-excerpt: Excerpt of \\| Wikipedia | CC BY-SA 3.0 |", "- commit: 0a1b2c3",
        "torch 2.13.0\n",  # what is not installed is not named
        "- `results/groups/pretraining/rop.parquet`: sha256 ab12", "pairs_per_document: 5",
    ):  # fmt: skip
        assert said in body


def test_scores_are_means_of_this_model_and_seed(trained: Path, tmp_path: Path) -> None:
    scores = [tmp_path / "scores.csv"] * 2
    assert [row["value"] for row in read_scores_of(scores, FACTS.scored)] == ["0.57", "0.88"]
    assert export_model(trained, [trained], scores, FACTS, tmp_path / "out")["scores"] == 2
    written = (tmp_path / "out/README.md").read_text()
    assert "| squad | bm25 | zero-shot | nDCG@20 | 0.57 | 150 |" in written
    assert "those of fine-tuned copies" in written
    assert "## Scores" not in write_card(FACTS, [RECORD]), "nothing was evaluated"


def write_probe(path: Path, task: str, **accuracies: float) -> Path:
    """A task's accuracy, ± 0.1, with each input on 40 groups; only the right text differs from no other."""
    rows = [
        f"{task},{name},40,{value},{value - 0.1},{value + 0.1},{'' if name == 'right' else 0.001}\n"
        for name, value in accuracies.items()
    ]
    path.write_text("task,input,groups,accuracy,low,high,p_value\n" + "".join(rows))
    return path


def test_the_card_has_the_accuracy_on_held_out_groups(trained: Path, tmp_path: Path) -> None:
    probe = write_probe(tmp_path / "probe.csv", "rop", right=0.8, swapped=0.5, none=0.5, before=0.4)
    export_model(trained, [trained], [], FACTS, tmp_path / "out", [probe])
    written = (tmp_path / "out/README.md").read_text().replace("\\", "")
    assert "## Held-out groups" in written
    assert "| rop | 40 | 0.800 [0.700, 0.900] | 0.500 [0.400, 0.600] |" in written
    assert "The text is used (p = 0.001)." in written
    write_probe(probe, "rop")
    export_model(trained, [trained], [], FACTS, tmp_path / "none", [probe])
    assert "Held-out groups" not in (tmp_path / "none/README.md").read_text()


def test_the_card_of_a_model_of_stages_has_each_in_their_order(trained: Path, tmp_path: Path) -> None:
    options = {"type": "hp", "negatives": 3}
    stage = {"model": "first", "tasks": [{"objective": "hp", "options": options}], "training": {"steps": 7}}
    facts, model = FACTS._replace(stages=[stage, *FACTS.stages]), tmp_path / "first"
    (tmp_path / "first.meta.json").write_text(json.dumps(RECORD | {"counts": {"steps": 7}}))
    inputs = dict.fromkeys(("right", "swapped", "none", "before"), 0.8)
    probes = [write_probe(tmp_path / f"{task}.probe.csv", task, **inputs) for task in ("hp", "rop")]
    export_model(trained, [model, trained], [], facts, tmp_path / "out", probes)
    card = (tmp_path / "out/README.md").read_text()
    assert "- hp\n- rop\n" in card
    assert "stages:\n- model: first\n  tasks:\n  - objective: hp\n" in card
    places = [
        card.index(text) for text in ("| hp | 40 |", "| rop | 40 |", "negatives: 3", "pairs_per_document: 5")
    ]
    places += [card.index(text) for text in ("steps: 7", "steps: 100", "### first", '"steps": 7', "### prop")]
    assert places == sorted(places)
    (tmp_path / "first.meta.json").unlink()
    with pytest.raises(InputError, match=r"first\.meta\.json: is missing or no record"):
        export_model(trained, [model, trained], [], facts, tmp_path / "out", probes)


@pytest.mark.parametrize("fault", ["no longer there", "CEDR-KNRM", "Train it again"])
def test_a_model_that_no_card_can_describe_is_refused(trained: Path, tmp_path: Path, fault: str) -> None:
    """Its directory is gone, its head is none of Hugging Face's, or its training has no record."""
    model = tmp_path / "gone" if fault == "no longer there" else trained
    if fault == "CEDR-KNRM":
        (trained / CEDR_FILE).write_text("head")
    if fault == "Train it again":
        (tmp_path / "seed-1.meta.json").unlink()
    with pytest.raises(InputError, match=fault):
        export_model(model, [trained], [], FACTS, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def run_card(changed: dict[str, str]) -> dict[str, Any]:
    """The names of the code of a card, run with other texts."""
    _, code = re.findall(r"```python\n(.*?)```", write_card(FACTS, [RECORD]), re.DOTALL)
    for text, other in changed.items():
        assert f'"{text}"' in code
        code = code.replace(f'"{text}"', repr(other))
    names: dict[str, Any] = {}
    exec(code, names)
    return names


@pytest.mark.parametrize(
    ("words", "document"),
    [(1, "pear pie"), (5, "word01 [SEP] word02 [MASK]"), (12, "a pie of word01 " * 30), (200, "")],
)
def test_the_code_of_a_rankers_card_gives_its_scores(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: int, document: str
) -> None:
    from irpretrain import CrossEncoder as Ranker
    from irpretrain.models.cross_encoder import CrossEncoderModel

    CrossEncoderModel.from_encoder(tiny_encoder, "pooled").save(tmp_path / "model")
    monkeypatch.chdir(tmp_path / "model")
    query = " ".join(f"word{number % 20:02}" for number in range(words))
    expected = Ranker(".", max_length=32, query_length=8).predict([(query, document)])
    score = run_card({"a query": query, "a document": document})["score"]
    assert score.item() == pytest.approx(expected[0], abs=1e-5)
