"""Micro-batches: that nothing but rounding changes, and that nobody waits for the device between them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from tiny_training import lines, training_options

from irpretrain.config.training import ComputeConfig, MaskingConfig
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.packed import layout_of
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.graphs import RecordedPasses, _Graph
from irpretrain.training.group_table import GroupTable
from irpretrain.training.masking import Masker
from irpretrain.training.ranking_tasks import RankingTask, SequenceReader
from irpretrain.training.trainer import StepContext, fetch_measurements

CPU = torch.device("cpu")


@pytest.fixture
def task(separable: tuple[Path, Path], tiny_encoder: Path) -> RankingTask:
    store, tokenizer = TokenStore.open([separable[0]]), load_tokenizer(tiny_encoder)
    reader = SequenceReader(
        BatchBuilder(store, tokenizer, 12, 4), Masker(MaskingConfig(ratio=0.3), tokenizer, 1, 12)
    )
    return RankingTask("rop", GroupTable(separable[1], store, 7, 1, "rop"), reader, "hinge", mlm_weight=0.5)


def test_parts_of_a_step_give_the_gradients_of_the_whole(task: RankingTask, tiny_encoder: Path) -> None:
    found = []
    for accumulation in (1, 4, 7):
        model = CrossEncoderModel.from_encoder(tiny_encoder)
        setting = StepContext(CPU, ComputeConfig(device="cpu"), accumulation)
        part = task.read(setting, 0)
        micro_batches = []
        for batch in part.batches.values():
            micro = task.micro_batch(model, setting, 0, part, batch)
            loss, measured = micro.loss(*micro.tensors)
            loss.backward()
            micro_batches.append((part.metrics, measured))
        found.append((model, part.metrics, len(micro_batches)))
        assert fetch_measurements(micro_batches, torch.tensor(0.25))() == 0.25
    (whole, metrics, _), *others = found
    assert [count for _, _, count in found] == [1, 4, 7]
    for model, own, _ in others:
        assert own.record() == pytest.approx(metrics.record(), rel=1e-6)
        for (name, one), (_, other) in zip(whole.named_parameters(), model.named_parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-6, msg=name)


def test_with_dropout_what_is_dropped_belongs_to_the_micro_batch(
    run_pretraining: Callable[..., Path],
) -> None:
    """So a step that is split drops other units than a whole one."""
    options: dict[str, Any] = {"steps": 1, "dropout": 0.3, "batch_groups": 4}
    losses = [
        lines(run_pretraining(name, training_options(**options, **more)))[0]["loss"]
        for name, more in (
            ("whole", {}),
            ("halves", {"accumulation": 2}),
            ("each", {"accumulation": 4}),
        )
    ]
    assert len(set(losses)) == 3


def test_nobody_asks_the_device_for_a_number_between_micro_batches(
    task: RankingTask, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors on the device `meta` have no numbers: whatever needs one, as a size or to decide something, fails on it.
    So what runs there can be queued on a GPU without waiting."""
    meta = torch.device("meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.ones(2, device=meta).nonzero().tolist()
    model = CrossEncoderModel.from_encoder(tiny_encoder).to(meta).train()
    model.packing = "on"
    # Torch knows no autocast there.
    monkeypatch.setattr(StepContext, "autocast", lambda self: torch.autocast("cpu", enabled=False))
    setting = StepContext(meta, ComputeConfig(device="cpu"), 3, layout=layout_of(model))
    part = task.read(setting, 0)
    micro_batches = []
    for batch in part.batches.values():
        micro = task.micro_batch(model, setting, 0, part, batch)
        loss, measured = micro.loss(*micro.tensors)
        loss.backward()
        micro_batches.append((loss, measured))
    assert len(micro_batches) == 3
    assert all(t.device == meta for loss, measured in micro_batches for t in (loss, *measured.values()))
    assert {name for _, measured in micro_batches for name in measured} == {
        *("ranking_loss", "mlm_loss", "correct_pairs")
    }
    assert part.metrics.pairs == 7
    assert all(parameter.grad is not None for parameter in model.mlm_head.parameters())


@pytest.mark.parametrize("alone", [True, False])
def test_gradients_of_a_replayed_graph_are_added_to_those_before(alone: bool) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    passes = RecordedPasses([weight], alone)
    passes._gradients[weight] = torch.tensor([2.0])
    passes._graphs["shape"] = _Graph(MagicMock(), [MagicMock()], {}, [weight])
    batch: Any = SimpleNamespace(shape="shape", tensors=[MagicMock(is_cuda=True)])
    for total in (2.0, 4.0):
        passes.run(batch, MagicMock())
        assert weight.grad is not None
        assert weight.grad.item() == total
