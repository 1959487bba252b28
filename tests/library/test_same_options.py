"""The library, the command and a configuration resolve the same options of one choice."""

import json
from pathlib import Path
from typing import Any

import pytest

from irpretrain import CrossEncoder, finetune, own_groups, pretrain
from irpretrain.config.load import apply_recipe
from irpretrain.foundation.errors import ConfigError
from irpretrain.models.cross_encoder import CrossEncoderModel

PAIRS = [("word01 word02", "word01 word02 ab"), ("word03", "word03 cd"), ("word05", "word06 ef word05")]
SHORT = {"max_length": 24, "query_length": 8}
SHORT_SET = ["--set", "max_length=24", "--set", "query_length=8"]
DOCUMENTS = [" ".join(f"Word{n + m:02d} ab word{n + m + 1:02d}." for m in range(6)) for n in range(0, 30, 5)]


def record_of(model: Path) -> dict[str, Any]:
    parameters: dict[str, Any] = json.loads(Path(f"{model}.meta.json").read_text())["parameters"]
    return parameters


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(DOCUMENTS)))
    return path


def test_a_recipe_fills_what_a_fine_tuning_leaves_out(tiny_encoder: Path, tmp_path: Path, call: Any) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "start")
    optimiser = {"weight_decay": 0.5}
    finetune(
        own_groups(PAIRS, tmp_path / "start"),
        tmp_path / "library",
        recipe="prop",
        epochs=1,
        learning_rates=[1e-5],
        batch_sizes=[16],
        optimiser=optimiser,
        **SHORT,
    )
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps({"query": query, "document": text}) + "\n" for query, text in PAIRS))
    settings = ["recipe=prop", "epochs=1", "learning_rates=[1.0e-5]", "batch_sizes=[16]"]
    command = ["finetune", tmp_path / "start", pairs, tmp_path / "command", *SHORT_SET]
    for setting in (*settings, "optimiser.weight_decay=0.5"):
        command += ["--set", setting]
    assert call(*command).status == 0
    changes = {"recipe": "prop", "epochs": 1, "learning_rates": [1e-5], "batch_sizes": [16]}
    expected = apply_recipe({"finetuning": {**changes, "optimiser": optimiser, **SHORT}})["finetuning"]
    for output in ("library", "command"):
        options = record_of(tmp_path / output)["options"]
        assert {key: options[key] for key in expected.keys() - {"optimiser"}} == {
            key: value for key, value in expected.items() if key != "optimiser"
        }
        assert (options["loss"], options["negatives"]) == ("listwise", 11)
        assert options["optimiser"].items() >= {"clip": None, "weight_decay": 0.5}.items()


@pytest.mark.parametrize("value", [64.0, "64", 22.0, "22", 22])
def test_a_length_is_taken_as_a_configuration_takes_it(
    value: Any, tiny_encoder: Path, tmp_path: Path
) -> None:
    model = CrossEncoderModel.from_encoder(tiny_encoder)
    model.trained_length, model.trained_reading = 64, {"query_length": 16, "passages": None}
    model.save(tmp_path / "model")
    options = CrossEncoder(tmp_path / "model", max_length=value).options
    assert options == CrossEncoder(tmp_path / "model", max_length=int(value)).options
    assert (options.max_length, options.query_length) == (int(value), 16 if int(value) == 64 else 9)


@pytest.mark.parametrize("value", [64.5, "long", True, None, 3])
def test_what_is_no_length_is_refused_by_its_own_name(value: Any, tiny_encoder: Path, tmp_path: Path) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "model")
    with pytest.raises(ConfigError, match="max_length") as refused:
        CrossEncoder(tmp_path / "model", max_length=value)
    assert "query_length" not in str(refused.value)
