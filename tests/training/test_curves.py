"""Event files are what TensorBoard reads: checked by the format's rules, and by TensorBoard where it is installed."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from irpretrain.command import main
from irpretrain.errors import InputError
from irpretrain.training.curves import read_steps, write_curves
from irpretrain.training.event_files import FILE, Step, crc32c, masked, write_events

ROP = {"mlm_loss": None, "ranking_loss": 0.5}
STEPS = [
    {"step": 1, "loss": 1.5, "pair_accuracy": None, "seconds": 2.0, "tasks": {"rop": ROP}},
    {"step": 300, "loss": 0.25, "pair_accuracy": 0.75, "seconds": 3.0, "tasks": {}},
]


def records(data: bytes) -> list[bytes]:
    """The records of an event file, their checksums checked."""
    found = []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12]) == (masked(data[:8]),)
        content, data = data[12 : 12 + length], data[12 + length :]
        assert struct.unpack("<I", data[:4]) == (masked(content),)
        found.append(content)
        data = data[4:]
    return found


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A finished training and one that is writing its second line."""
    lines = [json.dumps(step) + "\n" for step in STEPS]
    for name, text in {
        "metrics/pretrained/prop/seed-1.jsonl": "".join(lines),
        "checkpoints/ab12/metrics.jsonl": lines[0] + lines[1][:20],
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_checksums_are_crc_32c() -> None:
    """The check value of the algorithm, and RFC 3720's of 32 zero bytes."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_a_file_byte_by_byte(tmp_path: Path) -> None:
    write_events([Step(300, 5.0, {"loss": 0.25})], tmp_path / "events")
    version, event = records((tmp_path / "events").read_bytes())
    assert version == b"\x09" + bytes(8) + b"\x10\x00" + b"\x1a\x0dbrain.Event:2"
    # time 5.0; step 300 = 0b10_0101100; summary { value { tag: "loss", simple_value: 0.25 } }
    value = b"\x0a\x04loss" + b"\x15" + struct.pack("<f", 0.25)
    summary = b"\x0a" + bytes([len(value)]) + value
    assert (
        event
        == b"\x09" + struct.pack("<d", 5.0) + b"\x10\xac\x02" + b"\x2a" + bytes([len(summary)]) + summary
    )


def test_every_training_has_a_curve(results: Path) -> None:
    assert write_curves(results) == {"pretrained/prop/seed-1": 2, "unfinished/ab12": 1}
    assert len(records((results / "tensorboard/pretrained/prop/seed-1" / FILE).read_bytes())) == 3


def test_steps_have_the_numbers_that_were_measured(results: Path) -> None:
    steps = list(read_steps(results / "metrics/pretrained/prop/seed-1.jsonl"))
    assert steps == [
        Step(1, 2.0, {"loss": 1.5, "rop/ranking_loss": 0.5}),
        Step(300, 5.0, {"loss": 0.25, "pair_accuracy": 0.75}),
    ]


def test_the_command(results: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["curves", str(results)]) == 0
    told = f"2 learning curves. To see them: tensorboard --logdir {results}/tensorboard"
    assert told in capsys.readouterr().err
    assert main(["curves", str(tmp_path / "nothing")]) == 2
    assert "nothing: there is no such file or folder" in capsys.readouterr().err
    assert main(["curves", str(results / "metrics")]) == 2
    assert "holds no metrics of a training" in capsys.readouterr().err


def test_a_folder_of_the_library_s_models(results: Path, tmp_path: Path) -> None:
    (tmp_path / "notebook/rop.checkpoints/ab12").mkdir(parents=True)
    metrics = (results / "metrics/pretrained/prop/seed-1.jsonl").read_text()
    for name in ("prop.metrics.jsonl", "rop.checkpoints/ab12/metrics.jsonl"):
        (tmp_path / "notebook" / name).write_text(metrics)
    assert write_curves(tmp_path / "notebook") == {"prop": 2, "unfinished/ab12": 2}


def test_a_single_file_of_metrics(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "prop.metrics.jsonl"
    (results / "metrics/pretrained/prop/seed-1.jsonl").rename(file)
    assert write_curves(file) == {"prop": 2}
    assert (tmp_path / "tensorboard/prop" / FILE).exists()


class Wandb(ModuleType):
    """Stands for the package: notes runs and what is logged."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.runs: dict[str, list[tuple[int, dict[str, float]]]] = {}
        self.asked: list[dict[str, Any]] = []

    @contextmanager
    def init(self, **asked: Any) -> Iterator[Any]:
        self.asked.append(asked)
        steps = self.runs.setdefault(asked["id"], [])
        yield SimpleNamespace(log=lambda values, step: steps.append((step, values)))


def test_weights_and_biases_gets_a_run_a_training(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    for _ in range(2):
        assert main(["curves", str(results), "--to", "wandb", "--project", "fruit"]) == 0
    assert {asked["project"] for asked in wandb.asked} == {"fruit"}
    assert [asked["name"] for asked in wandb.asked] == ["pretrained/prop/seed-1", "unfinished/ab12"] * 2
    assert len(wandb.runs) == 2, "a run keeps its identifier, so that a second call goes on with it"
    first = {"loss": 1.5, "rop/ranking_loss": 0.5, "seconds": 2.0}
    assert wandb.runs[wandb.asked[0]["id"]][0] == (1, first)


def test_without_the_package_its_extra_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert main(["curves", str(results), "--to", "wandb"]) == 2
    assert "pip install '.[tracking]'" in capsys.readouterr().err


def test_a_broken_line_is_named(results: Path) -> None:
    (results / "metrics/pretrained/prop/seed-1.jsonl").write_text('{"step": 1}\nnothing\n')
    with pytest.raises(InputError, match=r"seed-1\.jsonl:2"):
        write_curves(results)
    assert not (results / "tensorboard/pretrained/prop/seed-1" / FILE).exists()


def test_tensorboard_reads_it(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment variable TENSORBOARD may name a folder that holds it and what it imports."""
    if folder := os.environ.get("TENSORBOARD"):
        monkeypatch.setattr(sys, "path", [*sys.path, folder])
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="TensorBoard is not installed"
    )
    write_curves(results)
    found = reader.EventAccumulator(str(results / "tensorboard/pretrained/prop/seed-1")).Reload()
    assert [(one.step, one.value) for one in found.Scalars("loss")] == [(1, 1.5), (300, 0.25)]
    assert [one.value for one in found.Scalars("rop/ranking_loss")] == [0.5]
