"""Micro-batches of so many word pieces: how a step is cut, that nothing but rounding changes, and that nobody waits for
the device between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tiny_training import lines, training_options

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.term_weights import TermTrainingConfig
from irpretrain.config.training import ComputeConfig, MaskingConfig
from irpretrain.models import packed
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.group_table import GroupTable
from irpretrain.training.masking import Masker
from irpretrain.training.ranking_tasks import PassageReader, Task
from irpretrain.training.ranks import share_by_tokens
from irpretrain.training.trainer import Setting, fetch_measured

CPU = torch.device("cpu")


def bounds(tokens: list[int], most: int, processes: int = 1) -> list[list[tuple[int, int]]]:
    """The micro-batches of each process, as first item and end."""
    shares = [share_by_tokens(np.array(tokens), most, rank, processes) for rank in range(processes)]
    return [[(part.start, part.stop) for part in share.slices] for share in shares]


def test_micro_batches_take_groups_as_long_as_they_fit() -> None:
    assert bounds([3, 3, 4, 9, 25, 1, 2, 7], 10) == [[(0, 3), (3, 4), (4, 5), (5, 8)]]
    assert bounds([3, 3], 10) == [[(0, 2)]]


def test_each_process_gets_one_at_least() -> None:
    assert bounds([1, 1, 6, 1, 1], 100, 2) == [[(0, 2)], [(2, 5)]]
    assert bounds([1, 1, 1, 97], 100, 3) == [[(0, 1)], [(1, 3)], [(3, 4)]]
    with pytest.raises(ValueError, match="2 items cannot be shared out among 3"):
        bounds([1, 1], 100, 3)


@given(st.lists(st.integers(1, 60), min_size=4, max_size=40), st.integers(1, 120), st.integers(1, 4))
def test_what_holds_of_every_cut(tokens: list[int], most: int, processes: int) -> None:
    alone, shared = bounds(tokens, most), bounds(tokens, most, processes)
    parts = [part for own in shared for part in own]
    assert [item for first, last in parts for item in range(first, last)] == list(range(len(tokens)))
    assert all(last - first == 1 or sum(tokens[first:last]) <= most for first, last in parts)
    assert all(own for own in shared)
    assert max(map(len, shared)) - min(map(len, shared)) <= 1
    for (first, last), _ in itertools.pairwise(alone[0]):
        assert sum(tokens[first : last + 1]) > most
    if len(alone[0]) >= processes:
        assert parts == alone[0], "what is together does not depend on who computes it"


@pytest.fixture
def task(separable: tuple[Path, Path], tiny_encoder: Path) -> Task:
    store, tokenizer = TokenStore.open([separable[0]]), load_tokenizer(tiny_encoder)
    return Task(
        "rop",
        GroupTable(separable[1], store, 7, 1, "rop"),
        BatchBuilder(store, tokenizer, 12, 4),
        "hinge",
        mlm_weight=0.5,
        masker=Masker(MaskingConfig(ratio=0.3), tokenizer, 1, 12),
    )


def test_the_word_pieces_of_groups_are_those_of_their_batches(task: Task) -> None:
    groups = task.source.groups(3)
    for reader, read in (
        (task.builder, task.builder.build),
        (passages := PassageReader(task.builder, PassagesConfig(words=5, stride=3)), passages.read),
    ):
        assert reader.tokens(groups).tolist() == [read([group]).tokens for group in groups]
        assert reader.tokens(groups).sum() == read(groups).tokens


def test_parts_of_a_step_give_the_gradients_of_the_whole(task: Task, tiny_encoder: Path) -> None:
    found = []
    for budget in (None, 60, 1):
        model = CrossEncoderModel.from_encoder(tiny_encoder)
        setting = Setting(CPU, ComputeConfig(device="cpu"), 1, micro_batch_tokens=budget)
        part = task.read(setting, 0)(model)
        micro_batches = []
        for micro in part.losses:
            micro.loss.backward()
            micro_batches.append((part.metrics, micro.measured))
        found.append((model, part.metrics, len(micro_batches)))
        assert fetch_measured(micro_batches, torch.tensor(0.25))() == 0.25
    (whole, metrics, _), *others = found
    assert [count for _, _, count in found] == [1, 4, 7]
    for model, own, _ in others:
        assert own.record() == pytest.approx(metrics.record(), rel=1e-6)
        for (name, one), (_, other) in zip(whole.named_parameters(), model.named_parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-6, msg=name)


def test_a_training_is_that_of_whole_steps(run_pretraining: Callable[..., Path]) -> None:
    whole, cut = (
        lines(run_pretraining(str(budget), training_options(steps=3, compute=compute)))
        for budget in (None, 40)
        if (compute := {"device": "cpu", "micro_batch_tokens": budget})
    )
    assert cut[0]["loss"] == pytest.approx(whole[0]["loss"], rel=1e-6)
    for one, other in zip(whole, cut, strict=True):
        assert other["loss"] == pytest.approx(one["loss"], rel=1e-5)
        assert other["gradient_norm"] == pytest.approx(one["gradient_norm"], rel=1e-4)
        assert other["tokens"] == one["tokens"]


def test_with_dropout_what_is_dropped_belongs_to_the_micro_batch(
    run_pretraining: Callable[..., Path],
) -> None:
    """So a step that is split drops other units than a whole one, whichever way it is split."""
    options: dict[str, Any] = {"steps": 1, "dropout": 0.3, "batch_groups": 4}
    losses = [
        lines(run_pretraining(name, training_options(**options, **more)))[0]["loss"]
        for name, more in (
            ("whole", {}),
            ("halves", {"accumulation": 2}),
            ("each", {"accumulation": 4}),
            ("each by its word pieces", {"compute": {"device": "cpu", "micro_batch_tokens": 1}}),
        )
    ]
    assert losses[2] == losses[3]
    assert len(set(losses)) == 3


def test_two_ways_to_split_a_step_are_refused() -> None:
    both: dict[str, Any] = {"accumulation": 2, "compute": {"device": "cpu", "micro_batch_tokens": 99}}
    for make in (training_options, TermTrainingConfig):
        with pytest.raises(ValidationError, match="both split a step; set accumulation to 1"):
            make(**both)


def test_nobody_asks_the_device_for_a_number_between_micro_batches(
    task: Task, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors on the device `meta` have no numbers: whatever needs one, as a size or to decide something, fails on it.
    So what runs there can be queued on a GPU without waiting."""
    meta = torch.device("meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.ones(2, device=meta).nonzero().tolist()
    model = CrossEncoderModel.from_encoder(tiny_encoder).to(meta).train()
    model.packing = "on"
    setting = Setting(meta, ComputeConfig(device="cpu"), 3)
    # Torch knows no autocast there.
    monkeypatch.setattr(Setting, "autocast", lambda self: torch.autocast("cpu", enabled=False))
    monkeypatch.setattr(packed, "compute_dtype", lambda bert: bert.dtype)
    part = task.read(setting, 0)(model)
    micro_batches = []
    for micro in part.losses:
        micro.loss.backward()
        micro_batches.append(micro)
    assert len(micro_batches) == 3
    assert all(t.device == meta for micro in micro_batches for t in (micro.loss, *micro.measured.values()))
    assert {name for micro in micro_batches for name in micro.measured} == {
        *("ranking_loss", "mlm_loss", "correct_pairs")
    }
    assert part.metrics.pairs == 7
    assert all(parameter.grad is not None for parameter in model.mlm_head.parameters())
