"""The pre-training loop: it learns, resumes bit for bit, and gives the same files every time."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_training import (
    Stop,
    after_step,
    break_weights,
    crash_at,
    lines,
    training_options,
    without_time,
)

from irpretrain.config.pretraining import TaskConfig
from irpretrain.foundation.errors import ConfigError, TrainingError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import PackedBatch
from irpretrain.models.parameters import READING_KEY
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training import checkpoints
from irpretrain.training.trainer import Trainer

Run = Callable[..., Path]


def test_equal_runs_write_equal_files(run_pretraining: Run) -> None:
    options = training_options(snapshots=[2, 6], dropout=0.1)
    torch.manual_seed(1)
    first = run_pretraining("first", options)
    torch.rand(5)
    second = run_pretraining("second", options)
    assert sha256(first / "model") == sha256(second / "model")
    assert without_time(first) == without_time(second)
    assert sha256(run_pretraining("other", options, seed=2) / "model") != sha256(first / "model")


def test_a_model_reads_queries_as_long_as_its_task_did(run_pretraining: Run) -> None:
    task = TaskConfig(objective="rop", query_length=5)
    folder = run_pretraining("run", training_options(steps=1), task=task)
    config = json.loads((folder / "model" / "config.json").read_text())
    assert config[READING_KEY]["query_length"] == 5


def test_what_is_written(run_pretraining: Run, tiny_encoder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    started_at = time.perf_counter()
    folder = run_pretraining("run", training_options(snapshots=[2, 6], log_every=3), title="tiny model")
    assert 0 < sum(line["seconds"] for line in lines(folder)) < time.perf_counter() - started_at
    model = folder / "model"
    assert sorted(path.name for path in (model / "snapshots").iterdir()) == ["step-000002", "step-000006"]
    final = load_file(model / "model.safetensors")
    last = load_file(model / "snapshots" / "step-000006" / "model.safetensors")
    assert all(torch.equal(tensor, last[name]) for name, tensor in final.items())
    assert [line["step"] for line in lines(folder)] == [1, 2, 3, 4, 5, 6]
    line = lines(folder)[0]
    assert set(line) == {
        *("step", "loss", "pair_accuracy", "learning_rate", "gradient_norm"),
        *("tokens", "tokens_per_second", "seconds", "waited_seconds", "tasks"),
    }
    task = line["tasks"]["rop"]
    assert line["loss"] == pytest.approx(task["ranking_loss"] + task["mlm_loss"])
    assert not (folder / "checkpoints").exists() or not list((folder / "checkpoints").iterdir())
    displayed = [text for text in capfd.readouterr().err.splitlines() if text.startswith("[tiny model]")]
    assert [text.split(",")[0] for text in displayed] == ["[tiny model] step 3/6", "[tiny model] step 6/6"]
    assert all(part in displayed[0] for part in ("loss", "pair accuracy", "MLM", "tokens/s", "left"))


def test_a_model_without_tasks_is_the_encoder_with_fresh_heads(
    run_pretraining: Run, tiny_encoder: Path
) -> None:
    folder = run_pretraining("fresh", tasks=[], groups=[])
    CrossEncoderModel.from_encoder(tiny_encoder, "mlp", seed=1).save(folder / "expected")
    assert sha256(folder / "model") == sha256(folder / "expected")
    assert lines(folder) == []


TWO_TASKS = [
    TaskConfig(objective="rop", weight=2, mlm_weight=0),
    TaskConfig(objective="rop", weight=1, mlm_weight=0.5),
]
RELEASED = {
    "loss": "pair-softmax",
    "head": "pooled",
    "masking": {"unit": "word", "most": 3},
    "optimiser": {"learning_rate": 1e-3, "bias_correction": False, "clip_by": "tensor"},
}


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.deep), 2, 5])
@pytest.mark.parametrize(
    ("released", "tasks"), [({}, 1), (RELEASED, 1), ({}, 2)], ids=["paper", "released", "tasks"]
)
def test_resume_is_exact(
    run_pretraining: Run,
    monkeypatch: pytest.MonkeyPatch,
    separable: tuple[Path, Path],
    step: int,
    released: dict[str, Any],
    tasks: int,
) -> None:
    options = training_options(dropout=0.2, snapshots=[2, 4], held_out_share=0.1, **released)
    changes = {"tasks": TWO_TASKS[-tasks:], "groups": [separable[1]] * tasks}
    whole = run_pretraining("whole", options, **changes)
    with crash_at(monkeypatch, step):
        run_pretraining("broken", options, **changes)
    resumed = run_pretraining("broken", options, **changes)
    assert sha256(resumed / "model") == sha256(whole / "model")
    assert sha256(resumed / "probe.csv") == sha256(whole / "probe.csv")
    assert without_time(resumed) == without_time(whole)


# No checkpoint is due but at a snapshot.
HOURLY = {"device": "cpu", "checkpoint_minutes": 60}


def let_steps_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train as beside a GPU: a step is begun before the numbers of the one before are there."""
    initialise = Trainer.__init__

    def overlapping(self: Trainer[Any], *arguments: Any) -> None:
        initialise(self, *arguments)
        self.overlaps = True

    monkeypatch.setattr(Trainer, "__init__", overlapping)


@pytest.mark.parametrize("step", [3, 4, 5])
def test_resume_is_exact_where_steps_overlap(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    options = training_options(dropout=0.2, snapshots=[2], compute=HOURLY)
    whole = run_pretraining("whole", options)
    let_steps_overlap(monkeypatch)
    with crash_at(monkeypatch, step):
        run_pretraining("broken", options)
    resumed = run_pretraining("broken", options)
    assert sha256(resumed / "model") == sha256(whole / "model")
    assert without_time(resumed) == without_time(whole)


def test_weights_that_are_not_finite_are_in_no_checkpoint_where_steps_overlap(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    let_steps_overlap(monkeypatch)
    after_step(monkeypatch, 3, break_weights)
    with pytest.raises(TrainingError, match="not a finite number at step 5"):
        run_pretraining("nan", training_options(snapshots=[2], compute=HOURLY))
    saved = [torch.load(path, weights_only=True) for path in tmp_path.rglob("*.pt")]
    assert [state["step"] for state in saved] == [2]


@pytest.mark.parametrize("is_saved", [True, False])
@pytest.mark.parametrize(("gathered", "value"), [("exp_avg", torch.nan), ("exp_avg_sq", torch.inf)])
def test_what_the_optimiser_has_gathered_is_finite_in_checkpoints_and_at_the_end(
    run_pretraining: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    is_saved: bool,
    gathered: str,
    value: float,
) -> None:
    """An infinite second moment stops a weight for ever, and its loss stays finite."""

    def spoil(trainer: Trainer[Any]) -> None:
        next(iter(trainer.optimiser.state.values()))[gathered].fill_(value)

    after_step(monkeypatch, 3 if is_saved else 4, spoil)
    options = training_options(steps=5, compute={**HOURLY, "checkpoint_minutes": 0 if is_saved else 60})
    with pytest.raises(TrainingError, match=rf"the weights .* \(the optimiser's {gathered}\) are not finite"):
        run_pretraining("spoilt", options)
    saved = [torch.load(path, weights_only=True)["step"] for path in tmp_path.rglob("*.pt")]
    assert max(saved, default=3) == 3
    assert not (tmp_path / "spoilt" / "model").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [(0, "starts anew"), (4, r"resumes from \S*step-00000004-")],
    ids=["line of the first step", "line of the last step"],
)
@pytest.mark.parametrize("damage", ["", "{\n", '{"step": "one"}\n', "another step", "another digit"])
def test_metrics_have_no_holes_after_damage(
    run_pretraining: Run,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    line: int,
    message: str,
    damage: str,
) -> None:
    """A state whose metrics lack a step is not gone on from: those of the step would be lost without a word."""
    whole = run_pretraining("whole")
    with crash_at(monkeypatch, 5):
        run_pretraining("broken")
    (metrics,) = (whole.parent / "broken/checkpoints").glob("*/metrics.jsonl")
    retained = metrics.read_text().splitlines(keepends=True)
    damages = {
        "another step": retained[line - 1],
        "another digit": retained[line].replace("0.", "1.", 1),
    }
    damage = damages.get(damage, damage)
    metrics.write_text("".join([*retained[:line], damage, *retained[line + 1 :]]))
    resumed = run_pretraining("broken")
    assert without_time(resumed) == without_time(whole)
    assert sha256(resumed / "model") == sha256(whole / "model")
    messages = capfd.readouterr().err
    assert "the files up to step 5 are damaged" in messages
    assert bool(re.search(message, messages)) == (message != "starts anew")


def kill_by_the_clock(monkeypatch: pytest.MonkeyPatch, step_seconds: float, kill_after: float) -> None:
    """Let a step take so long on a clock of its own, and a training end when it has run for so long."""
    now, original = [0.0], Trainer.begin

    def step(self: Trainer, number: int, *rest: Any) -> Any:
        if now[0] + step_seconds > kill_after:
            now[0] = 0.0
            raise Stop
        found = original(self, number, *rest)
        now[0] += step_seconds
        return found

    monkeypatch.setattr(Trainer, "begin", step)
    monkeypatch.setattr(checkpoints, "time", SimpleNamespace(monotonic=lambda: now[0]))


@pytest.mark.parametrize(
    "step_seconds", [4, 49, *(pytest.param(seconds, marks=pytest.mark.deep) for seconds in (0.3, 12, 30))]
)
def test_what_is_killed_every_50_seconds_gets_on(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, step_seconds: float
) -> None:
    """By default, whatever a step takes: half of the steps of every attempt are kept, and the weights are the same."""
    options = training_options(steps=40, dropout=0.1, compute={"device": "cpu"})
    whole = run_pretraining("whole", options)
    kill_by_the_clock(monkeypatch, step_seconds, 50)
    attempts = 1
    while True:
        try:
            killed = run_pretraining("killed", options)
        except Stop:
            attempts += 1
        else:
            break
    in_an_attempt = int(50 / step_seconds)
    assert attempts <= 40 // max(in_an_attempt // 2, 1) + 1
    assert sha256(killed / "model") == sha256(whole / "model")
    assert without_time(killed) == without_time(whole)


@pytest.mark.parametrize("loss", ["hinge", "pair-softmax"])
def test_accumulation_changes_rounding_only(run_pretraining: Run, loss: str) -> None:
    found = []
    for parts in (1, 4, 3):
        folder = run_pretraining(f"parts-{parts}", training_options(accumulation=parts, loss=loss, steps=3))
        found.append((lines(folder), load_file(folder / "model" / "model.safetensors")))
    (first_lines, first), *others = found
    for other_lines, other in others:
        for a, b in zip(first_lines, other_lines, strict=True):
            assert b["loss"] == pytest.approx(a["loss"], rel=1e-5)
            assert b["gradient_norm"] == pytest.approx(a["gradient_norm"], rel=1e-4)
        assert all(torch.allclose(tensor, other[name], atol=2e-4) for name, tensor in first.items())


def test_dropout_is_on_and_differs_from_step_to_step(
    run_pretraining: Run, make_groups: Callable[..., Path]
) -> None:
    """The same group at every step, and a rate too small to matter: only dropout can change the loss."""
    group = make_groups([("d1", "word01 word02", "word03 word04")], "one")
    common: dict[str, Any] = {"task": TaskConfig(objective="rop", mlm_weight=0), "groups": [group]}
    options: dict[str, Any] = {"batch_groups": 1, "optimiser": {"learning_rate": 1e-12}}
    still, moving, other = (
        [
            line["loss"]
            for line in lines(run_pretraining(name, training_options(**options, **more), seed=seed, **common))
        ]
        for name, more, seed in (
            ("still", {}, 1),
            ("moving", {"dropout": 0.5}, 1),
            ("other", {"dropout": 0.5}, 2),
        )
    )
    assert len(set(still)) == 1
    assert len(set(moving)) == len(set(other)) == 6
    assert not set(moving) & set(other)


def test_the_margin_is_the_configured_one(run_pretraining: Run) -> None:
    one, three = (
        lines(run_pretraining(f"margin-{margin}", training_options(steps=1, margin=margin)))[0]["tasks"][
            "rop"
        ]
        for margin in (1.0, 3.0)
    )
    # Scores of a fresh head are near 0, so no pair has the margin yet.
    assert three["ranking_loss"] == pytest.approx(one["ranking_loss"] + 2)
    assert three["mlm_loss"] == one["mlm_loss"]


def test_the_encoder_sees_masks_and_the_loss_the_originals(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, tiny_encoder: Path
) -> None:
    original, seen = CrossEncoderModel.encode, list[PackedBatch]()

    def encode(self: CrossEncoderModel, batch: PackedBatch, *rest: Any) -> Any:
        seen.append(batch)
        return original(self, batch, *rest)

    monkeypatch.setattr(CrossEncoderModel, "encode", encode)
    mask = load_tokenizer(tiny_encoder).mask_token_id
    monkeypatch.setattr("irpretrain.training.masking.MASK_SHARE", 1.0)
    run_pretraining("run")
    for batch in seen:
        assert batch.read_rows is not None
        assert batch.masked_rows is not None
        assert len(batch.masked_rows)
        assert np.flatnonzero(batch.input_ids == mask).tolist() == batch.read_rows[batch.masked_rows].tolist()


def test_without_mlm_weight_nothing_is_masked(run_pretraining: Run) -> None:
    few, many = (
        without_time(
            run_pretraining(
                f"{ratio}", task=TaskConfig(objective="rop", mlm_weight=0, masking={"ratio": ratio})
            )
        )
        for ratio in (0.1, 0.9)
    )
    assert few == many
    assert few[0]["tasks"]["rop"]["mlm_loss"] is None


def test_mlm_alone_leaves_the_score_head(run_pretraining: Run, tiny_encoder: Path) -> None:
    folder = run_pretraining("mlm", task=TaskConfig(objective="rop", weight=0))
    line = lines(folder)[-1]
    assert line["pair_accuracy"] is None
    assert line["loss"] == line["tasks"]["rop"]["mlm_loss"]
    trained, fresh = (load_file(p / "model.safetensors") for p in (folder / "model", tiny_encoder))
    head = CrossEncoderModel.from_encoder(tiny_encoder, "mlp", seed=1).state_dict()
    assert torch.equal(trained["classifier.weight"], head["classifier.classifier.weight"])
    name = "encoder.layer.0.output.dense.weight"
    assert not torch.equal(trained[f"bert.{name}"], fresh[name])


def test_losses_of_several_tasks_are_added(run_pretraining: Run, separable: tuple[Path, Path]) -> None:
    folder = run_pretraining("two", tasks=TWO_TASKS, groups=[separable[1]] * 2)
    for line in lines(folder):
        first, second = line["tasks"].values()
        expected = 2 * first["ranking_loss"] + second["ranking_loss"] + 0.5 * second["mlm_loss"]
        assert line["loss"] == pytest.approx(expected)


@pytest.mark.parametrize("part", ["weight", "mlm_weight"])
def test_weights_scale_the_gradient_not_only_what_is_reported(run_pretraining: Run, part: str) -> None:
    alone = {"weight": 0.0, "mlm_weight": 0.0}
    one, three = (
        lines(
            run_pretraining(
                f"{part}-{value}",
                training_options(steps=1),
                task=TaskConfig(objective="rop", **{**alone, part: value}),
            )
        )[0]
        for value in (1.0, 3.0)
    )
    assert three["loss"] == pytest.approx(3 * one["loss"])
    assert three["gradient_norm"] == pytest.approx(3 * one["gradient_norm"], rel=1e-5)


def test_further_pre_training_starts_from_a_model(run_pretraining: Run) -> None:
    first = run_pretraining("first")
    further = run_pretraining(
        "further", training_options(steps=1, optimiser={"learning_rate": 1e-12}), start=first / "model"
    )
    before, after = (load_file(f / "model" / "model.safetensors") for f in (first, further))
    assert all(torch.allclose(tensor, after[name], atol=1e-9) for name, tensor in before.items())
    heads = [load_file(f / "model" / "mlm_head.safetensors") for f in (first, further)]
    assert all(torch.allclose(tensor, heads[1][name], atol=1e-9) for name, tensor in heads[0].items())


def test_loss_that_is_not_a_number_stops_with_advice(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    original = CrossEncoderModel.encode
    calls = []

    def encode(self: CrossEncoderModel, *arguments: Any) -> Any:
        scores, states = original(self, *arguments)
        calls.append(1)
        return (scores * float("nan") if len(calls) == 4 else scores), states

    monkeypatch.setattr(CrossEncoderModel, "encode", encode)
    with pytest.raises(
        TrainingError, match=r"the loss of rop is not a finite number at step 4\. Lower optimiser"
    ):
        run_pretraining("nan")
    assert not (tmp_path / "nan" / "model").exists()
    assert not (tmp_path / "nan" / "metrics.jsonl").exists()


def test_bf16_learns_the_same_direction(run_pretraining: Run) -> None:
    fp32 = run_pretraining("fp32")
    bf16 = run_pretraining("bf16", training_options(compute={"device": "cpu", "precision": "bf16"}))
    a, b = lines(fp32)[-1]["loss"], lines(bf16)[-1]["loss"]
    assert a != b
    assert a == pytest.approx(b, rel=0.02)


def test_impossible_options_are_refused(run_pretraining: Run) -> None:
    with pytest.raises(ConfigError, match="65 is longer than the encoder's 64 positions"):
        run_pretraining("long", training_options(max_length=65))
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="finds no GPU"):
            run_pretraining("gpu", training_options(compute={"device": "cuda"}))
    with pytest.raises(ConfigError, match="fp16 needs a GPU"):
        run_pretraining("half", training_options(compute={"device": "cpu", "precision": "fp16"}))


@pytest.mark.deep
def test_the_trainer_can_learn(run_pretraining: Run) -> None:
    options = training_options(steps=250, batch_groups=16, log_every=100, optimiser={"learning_rate": 2e-3})
    folder = run_pretraining("learn", options)
    found = lines(folder)
    last = found[-20:]
    assert sum(line["pair_accuracy"] for line in last) / 20 >= 0.95
    mlm = [line["tasks"]["rop"]["mlm_loss"] for line in found]
    assert sum(mlm[-20:]) / 20 < sum(mlm[:20]) / 20 - 0.3
