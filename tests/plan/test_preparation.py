"""What is planned where files of the catalogue are not there."""

import json
import shutil
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from base_config import base_config
from irpretrain.foundation.errors import ConfigError
from irpretrain.models.encoder_files import hub_name
from irpretrain.workflow.plan.preparation import Prepared, prepare
from tiny_models import write_bert

ROOT = Path(__file__).resolve().parents[2]
ABSENT = "data/msmarco/msmarco-docs.tsv.gz"


def prepared(stand_ins: Any = None, skip_absent: bool = True) -> Prepared:
    given = base_config()
    given["corpora"]["absent"] = {"format": "tsv", "path": ABSENT}
    given["datasets"]["absent"] = {**given["datasets"]["squad"], "label": "absent", "corpus": "absent"}
    given["experiments"]["absent"] = {"dataset": "absent", "first_stages": ["bm25"]}
    given["skip_absent"] = skip_absent
    return prepared_of(given, stand_ins)


def prepared_of(given: dict[str, Any], stand_ins: Any = None) -> Prepared:
    return prepare(given, "given", ROOT / "resources/embedded.yaml", True, stand_ins)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_missing_files_are_refused_where_data_are_needed():
    with pytest.raises(ConfigError, match=ABSENT):
        prepared(skip_absent=False)


def test_a_run_leaves_out_what_needs_missing_files():
    run = prepared()
    assert (list(run.missing.values()), run.as_if_there) == ([[ABSENT]], False)
    assert "absent" not in run.config.experiments
    assert "absent" in run.config.absent


def test_a_dry_run_plans_it_with_stand_ins(tmp_path):
    plan = prepared(stand_ins=lambda: str(tmp_path / "stand-ins"))
    assert plan.as_if_there
    assert "absent" in plan.config.experiments
    assert Path(plan.config.corpora["absent"].path).is_relative_to(tmp_path / "stand-ins")


COMMITS = ("1" * 40, "2" * 40)


@pytest.mark.parametrize(
    ("name", "commit"),
    [("own/er", COMMITS[1]), (f"own/er@{COMMITS[0]}", COMMITS[0]), ("own/er@main", COMMITS[1])],
)
def test_an_encoder_may_have_its_name_on_the_hub(name, commit, tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    cache = tmp_path / "cache/models--own--er"
    for each in COMMITS:
        shutil.copytree(tiny_encoder, cache / "snapshots" / each)
    (cache / "refs").mkdir()
    (cache / "refs/main").write_text(COMMITS[1])
    small = {"path": name, "label": name, "layers": 1, "vocabulary_size": None}
    encoder = prepared_of(encoded(small)).config.encoder
    assert (encoder.path, encoder.label) == (str(cache / "snapshots" / commit), name)
    assert hub_name(encoder.path) == "own/er"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (
            "own/er",
            "`hf download own/er --include '*.json' --include '*.safetensors' --include '*.txt'` downloads it",
        ),
        ("own/er@v2", "--include '*.txt' --revision v2` downloads it"),
    ],
)
def test_an_encoder_that_is_not_in_the_cache_is_refused_with_the_command(
    name, command, tmp_path, monkeypatch
):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ConfigError) as caught:
        prepared_of(encoded({"path": name, "label": "E"}))
    assert f"encoder.path: {name}: there is no such folder" in str(caught.value)
    assert command in str(caught.value)


def encoded(encoder: dict[str, Any]) -> dict[str, Any]:
    """The configuration with another encoder and one experiment."""
    experiment = {"dataset": "squad", "models": ["control"], "regimes": ["zero-shot"]}
    return base_config() | {
        "encoder": encoder,
        "experiments": {"one": experiment},
        "reranking": {"max_length": 32, "query_length": 8},
        "report": {"papers": ["prop"]},
    }


ENCODERS = {
    "nothing is known of it": (None, ""),
    "its own": ("language: de", ""),
    "several": ("language:\n- en\n- de", ""),
    "multilingual": ("language: multilingual", ""),
    "another": ("language: fr-FR", "was trained on French texts, and text.language is german"),
    "a card that cannot be read": ("language: [", ""),
    "the embedded one": ("", "the encoder embedded:minilm was trained on English texts"),
}


@pytest.mark.parametrize("case", ENCODERS)
@pytest.mark.parametrize("has_experiments", [True, False], ids=["experiments", "exports"])
def test_an_encoder_of_another_language_is_named(tmp_path: Path, case: str, has_experiments: bool) -> None:
    """The manifest names the language of the embedded encoder, a model's card that of others."""
    front, expected = ENCODERS[case]
    given = base_config()
    given["text"]["language"] = "german"
    given["encoder"] = {"path": "embedded:minilm"}
    if front != "":
        encoder = write_bert(tmp_path / "encoder", labels=1)
        described = json.loads((encoder / "config.json").read_text())
        (encoder / "config.json").write_text(json.dumps({**described, "max_position_embeddings": 512}))
        given["encoder"] = {"path": str(encoder)}
    if front:
        (tmp_path / "encoder" / "README.md").write_text(f"---\n{front}\n---\n# Model\n")
    if not has_experiments:
        given |= {"experiments": {}, "diagnoses": {}, "report": {"papers": []}}
    plan = prepared_of(given)
    assert len(plan.warnings) == bool(expected)
    assert all(expected in warning and "Give one of your language in" in warning for warning in plan.warnings)
    assert set(plan.warnings) <= set(plan.config.report.notes)


def test_english_texts_have_no_warning() -> None:
    assert not prepared_of(base_config() | {"encoder": {"path": "embedded:minilm"}}).warnings
