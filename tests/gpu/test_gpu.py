"""What a GPU computes: losses and scores of the CPU, packed as padded, and on from a kill. `benchmarks/gpu.py` runs it.

The models are tiny and their weights random, so tolerances are those of `benchmarks/gpu_checks.py`, which it states for
BERT-base too.
"""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU"),
]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Small work on the GPU."""
    module = checks("gpu_setting")
    return module.Setting("cuda", True, tmp_path_factory.mktemp("work"), 1, float("inf"))


def checks(name: str = "gpu_checks") -> ModuleType:
    """A module of the benchmark."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module(name)


def test_losses_and_scores_are_those_of_the_cpu(setting: Any) -> None:
    rows = list(checks().equality(setting))
    assert {row["work"] for row in rows} == {"scores", "pre-training", "fine-tuning"}
    assert {row["precision"] for row in rows} >= {"fp32", "bf16", "fp16"}
    assert [row for row in rows if not row.get("passed")] == []


def test_a_killed_training_goes_on_to_the_same_losses(setting: Any) -> None:
    (row,) = checks().resume(setting)
    assert row["passed"], row


@pytest.mark.parametrize("work", ["pre-training", "fine-tuning"])
def test_packed_losses_are_padded_ones(setting: Any, work: str) -> None:
    if torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("this GPU has no attention of variable length, so nothing is packed on it")
    ours = checks("training_contestants").Ours
    losses = [
        ours(setting.work.training(work, "articles", 8, 1, setting.compute("bf16", packing=packing)))
        .turn(0)
        .facts["losses"]
        for packing in ("on", "off")
    ]
    assert np.isfinite(losses).all()
    np.testing.assert_allclose(*losses, rtol=checks("gpu_setting").LOSSES["bf16"])


@pytest.mark.parametrize("dropout", ["none", "all"])
@pytest.mark.parametrize("accumulation", [1, 2])
def test_recorded_passes_give_the_losses_of_others(
    setting: Any, dropout: str, accumulation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some sizes come three times and are recorded; attention of so short texts adds up in a fixed order."""
    contestants, losses, graphs = checks("training_contestants"), [], []
    for most in (0, 16):
        monkeypatch.setattr("irpretrain.training.graphs.MAX_GRAPHS", most)
        work = setting.work.training("pre-training", "articles", 8, 1, setting.compute("bf16"), dropout)
        ours = contestants.Ours(work, accumulation)
        losses.append(ours.train(range(14)).facts["losses"])
        graphs.append(ours.train(range(14, 15)).facts["graphs"])
    assert graphs[0] == 0 < graphs[1]
    assert losses[0] == losses[1]


def test_reranking_of_packed_passages_orders_as_the_cpu_does(setting: Any) -> None:
    """Pairs whose scores are more than half a standard deviation apart."""
    reranker, scores = checks("reranking").Ours, []
    for there in (setting, replace(setting, device="cpu")):
        precision = "bf16" if there is setting else "fp32"
        work = setting.work.reranking("articles", there.compute(precision), 6, 2048)
        measured = reranker(work).turn(0).facts["scores"]
        scores.append(np.array([measured[pair] for pair in sorted(measured)]))
    here, expected = scores
    apart = np.subtract.outer(expected, expected)
    clear = apart > expected.std() / 2
    assert clear.sum() > len(expected)
    assert (np.subtract.outer(here, here)[clear] > 0).all()
