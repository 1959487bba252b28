"""What a training leaves: a model whose last update broke it replaces nothing, and outputs appear together."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from irpretrain import Collection, CrossEncoder, finetune, own_groups, pretrain
from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.atomic import write_text, write_together
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.provenance import Recorder
from irpretrain.training.graphs import MicroBatch
from irpretrain.training.leftovers import was_writing
from irpretrain.training.outputs import check_outputs
from irpretrain.training.trainer import StepContext
from tiny_models import WORDS, write_bert

TEXTS = [" ".join(WORDS[(7 * text + word) % 80] for word in range(20 + text % 9)) for text in range(12)]
LENGTHS: dict[str, Any] = {"max_length": 32, "query_length": 8, "compute": {"device": "cpu"}}
PAIRS = [("word01", "word02 word03"), ("word05", "word06")]


def trained(encoder: Path, output: Path, rate: float, **changes: Any) -> dict[str, Any]:
    groups = Collection(TEXTS, encoder=encoder).groups("rop", minimum_count=1)
    optimiser = {"learning_rate": rate, "warmup": 0.0}
    return pretrain(
        groups, output, **{"steps": 1, "batch_groups": 4, "optimiser": optimiser, **LENGTHS, **changes}
    )


def tuned(model: Path, output: Path, rate: float = 2e-5, **changes: Any) -> dict[str, Any]:
    groups = own_groups(PAIRS, encoder=model)
    return finetune(groups, output, **{"epochs": 1, "learning_rates": [rate], **LENGTHS, **changes})


def content(folder: Path, name: str) -> dict[str, bytes]:
    paths = [path for beside in folder.glob(f"{name}*") for path in (beside, *beside.rglob("*"))]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize("held_out", [0.0, 0.2])
@pytest.mark.parametrize(("rate", "broken"), [(1e38, "weights .* are"), (1e20, "model's scores are")])
def test_a_model_that_its_last_step_broke_is_not_written(tmp_path, tiny_encoder, rate, broken, held_out):
    with pytest.raises(TrainingError, match=f"after the last update the {broken} not finite"):
        trained(tiny_encoder, tmp_path / "model", rate, held_out_share=held_out)
    assert [path.name for path in tmp_path.glob("model*")] == ["model.checkpoints"]
    assert not list(tmp_path.rglob("step-*.pt")), "no checkpoint has the broken weights"


@pytest.mark.parametrize("rate", [1e10, 1e38])
def test_a_fine_tuning_that_breaks_its_model_leaves_the_earlier_one(tmp_path, rate):
    model, output = write_bert(tmp_path / "bert", 1), tmp_path / "tuned"
    tuned(model, output)
    before = content(tmp_path, "tuned")
    for target in (output, tmp_path / "new"):
        with pytest.raises(TrainingError, match=r"(weights|score of).* Lower optimiser.learning_rate \("):
            tuned(model, target, rate)
    assert content(tmp_path, "tuned") == before
    assert content(tmp_path, "new") == {}
    tuned(model, output)


def test_an_infinite_score_is_refused_though_the_loss_is_finite() -> None:
    model = nn.Linear(1, 1)

    def hinge(ones: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return torch.relu(-model(10 * ones)).sum(), {}

    task: Any = SimpleNamespace(
        read=lambda *_: SimpleNamespace(batches={0: None}),
        micro_batch=lambda *_: MicroBatch([torch.ones(1, 1)], hinge),
    )
    context = StepContext(torch.device("cpu"), ComputeConfig(device="cpu"), accumulation=1)
    nn.init.constant_(model.weight, 1.0)
    check_outputs(model, [task], context, 0)
    nn.init.constant_(model.weight, 3e38)
    with pytest.raises(TrainingError, match="model's scores are not finite"):
        check_outputs(model, [task], context, 0)


def test_a_sound_model_is_as_it_would_be_without_the_check(tmp_path, tiny_encoder, monkeypatch):
    trained(tiny_encoder, tmp_path / "checked", 1e-3, dropout=0.1, steps=2)
    monkeypatch.setattr("irpretrain.training.trainer.check_outputs", lambda *_: None)
    trained(tiny_encoder, tmp_path / "unchecked", 1e-3, dropout=0.1, steps=2)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("checked", "unchecked")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_a_call_goes_on_that_ended_between_its_output_and_the_record(
    tmp_path, tiny_encoder, monkeypatch, stage
):
    source = tiny_encoder if stage == "pretrain" else write_bert(tmp_path / "bert", 1)
    call = trained if stage == "pretrain" else tuned

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    output = tmp_path / "model"
    with monkeypatch.context() as patched:
        patched.setattr(Recorder, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            call(source, output, 1e-4)
    left = content(tmp_path, "model")
    assert "model/model.safetensors" in left
    assert "model.meta.json" not in left
    assert was_writing(tmp_path / "model.checkpoints", output)
    call(source, output, 1e-4)
    assert content(tmp_path, "model")["model/model.safetensors"] == left["model/model.safetensors"]
    assert (tmp_path / "model.meta.json").exists()
    assert not (tmp_path / "model.checkpoints").exists()
    CrossEncoder(output, max_length=32, query_length=8)


def test_if_one_of_several_outputs_cannot_be_written_none_is_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    write_text(tmp_path / "model/weights", "old")
    write_text(tmp_path / "metrics", "old")

    def full(path: Path) -> None:
        path.write_text("new")
        raise OSError(28, "No space left on device")

    called = list[str]()
    model = {tmp_path / "model": lambda folder: write_text(folder / "weights", "new")}
    for files in ({tmp_path / "metrics": full}, {tmp_path / "metrics": lambda path: None}):
        with pytest.raises(OSError, match=r"No space left|nothing was written"):
            write_together(model, files, before_replacing=lambda: called.append("before"))
    assert called == []
    assert content(tmp_path, "m") == {"model/weights": b"old", "metrics": b"old"}
    write_together(model, {tmp_path / "metrics": lambda path: path.write_text("new")})
    assert content(tmp_path, "m") == {"model/weights": b"new", "metrics": b"new"}
