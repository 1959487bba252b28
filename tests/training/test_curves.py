"""Learning curves: what is given to the writers, and what TensorBoard reads where it is installed."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Self

import pytest

from irpretrain.command import main
from irpretrain.errors import InputError
from irpretrain.training.curves import Step, read_steps, write_curves

ROP = {"mlm_loss": None, "ranking_loss": 0.5}
STEPS = [
    {"step": 1, "loss": 1.5, "pair_accuracy": None, "seconds": 2.0, "tasks": {"rop": ROP}},
    {"step": 300, "loss": 0.25, "pair_accuracy": 0.75, "seconds": 3.0, "tasks": {}},
]


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


class SummaryWriter:
    """Stands for PyTorch's: notes the scalars of each folder, and leaves a file there as it does."""

    points: ClassVar[dict[str, list[tuple[str, float, int, float]]]] = {}

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __enter__(self) -> Self:
        self.points[self.folder] = []
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        Path(self.folder, f"events.out.tfevents.{time.perf_counter_ns()}").touch()
        return self

    def __exit__(self, *_: object) -> None: ...

    def add_scalar(self, tag: str, value: float, step: int, walltime: float) -> None:
        self.points[self.folder].append((tag, value, step, walltime))


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> type[SummaryWriter]:
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    return SummaryWriter


def test_every_training_has_one_curve(results: Path, writer: type[SummaryWriter]) -> None:
    for _ in range(2):
        assert write_curves(results) == {"pretrained/prop/seed-1": 2, "unfinished/ab12": 1}
    folder = results / "tensorboard/pretrained/prop/seed-1"
    assert writer.points[str(folder)][0] == ("loss", 1.5, 1, 2.0)
    assert len(list(folder.iterdir())) == 1, "the second call takes the place of the first"


def test_steps_have_the_numbers_that_were_measured(results: Path) -> None:
    steps = list(read_steps(results / "metrics/pretrained/prop/seed-1.jsonl"))
    assert steps == [
        Step(1, 2.0, {"loss": 1.5, "rop/ranking_loss": 0.5}),
        Step(300, 5.0, {"loss": 0.25, "pair_accuracy": 0.75}),
    ]


@pytest.mark.usefixtures("writer")
def test_the_command(results: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["curves", str(results)]) == 0
    reported = f"2 learning curves. To see them: tensorboard --logdir {results}/tensorboard"
    assert reported in capsys.readouterr().err
    assert main(["curves", str(tmp_path / "nothing")]) == 2
    assert "nothing: there is no such file or folder" in capsys.readouterr().err
    assert main(["curves", str(results / "metrics")]) == 2
    assert "holds no metrics of a training" in capsys.readouterr().err


@pytest.mark.usefixtures("writer")
def test_a_folder_of_the_library_s_models(results: Path, tmp_path: Path) -> None:
    (tmp_path / "notebook/rop.checkpoints/ab12").mkdir(parents=True)
    metrics = (results / "metrics/pretrained/prop/seed-1.jsonl").read_text()
    for name in ("prop.metrics.jsonl", "rop.checkpoints/ab12/metrics.jsonl"):
        (tmp_path / "notebook" / name).write_text(metrics)
    assert write_curves(tmp_path / "notebook") == {"prop": 2, "unfinished/ab12": 2}


@pytest.mark.usefixtures("writer")
def test_a_single_file_of_metrics(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "prop.metrics.jsonl"
    (results / "metrics/pretrained/prop/seed-1.jsonl").rename(file)
    assert write_curves(file) == {"prop": 2}
    assert (tmp_path / "tensorboard/prop").is_dir()


def test_without_the_package_its_extra_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    assert main(["curves", str(results)]) == 2
    assert "pip install '.[tracking]'" in capsys.readouterr().err


@pytest.mark.usefixtures("writer")
def test_a_broken_line_is_named(results: Path) -> None:
    (results / "metrics/pretrained/prop/seed-1.jsonl").write_text('{"step": 1}\nnothing\n')
    with pytest.raises(InputError, match=r"seed-1\.jsonl:2"):
        write_curves(results)
    assert not (results / "tensorboard").exists()


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
