"""No forward pass, loop over batches or training step asks the device for a number: a GPU would first finish its work.

The device is torch's `meta`, whose tensors have no numbers: whoever asks it for one gets an error. Of loops, what is
copied to the host is replaced by zeros, and the order of copies and waits is checked.
"""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.masking_utils import create_bidirectional_mask

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.config.training import (
    ComputeConfig,
    MaskingConfig,
    OptimiserConfig,
    Packing,
)
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import Layout, PaddedBatch, encoder_batch
from irpretrain.models.length_batches import padding_mask, prefetch
from irpretrain.models.packed import layout_of
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights import infer
from irpretrain.text.texts import Text
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training import probe, trainer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.group_table import GroupTable
from irpretrain.training.masking import Masker
from irpretrain.training.ranking_tasks import RankingTask, SequenceReader
from irpretrain.training.trainer import StepContext
from plain_groups import Group, StoreSpan, columns
from tiny_models import write_family

CPU, META = torch.device("cpu"), torch.device("meta")
LENGTHS = [3, 7, 5]
MOST = 7


def batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids, types, mask and which positions are chosen, on the host."""
    mask = (torch.arange(MOST)[None] < torch.tensor(LENGTHS)[:, None]).long()
    chosen = torch.zeros_like(mask, dtype=torch.bool)
    chosen[0, 1] = chosen[1, 6] = True
    ids, types = (torch.zeros(mask.shape, dtype=torch.int64) for _ in range(2))
    return ids, types, mask, chosen


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_family(tmp_path_factory.mktemp("encoders") / "bert", "bert", with_mlm_head=True)


def test_a_cross_encoder_with_fused_layers(encoder: Path) -> None:
    """Forward and backward, with the MLM loss some positions at a time."""
    model = CrossEncoderModel.from_encoder(encoder).to("meta").bfloat16().train()
    model.packing = "auto"
    layout = layout_of(model)
    assert layout == Layout(packs=True, fills_up=True, ends_on_device=True)
    padded = PaddedBatch(*(tensor.numpy() for tensor in batch()))
    scores, states = model.encode(encoder_batch(layout, padded, MOST))
    assert scores.shape == (3,)
    labels = torch.zeros(len(states), dtype=torch.int64, device=META)
    (scores.sum() + model.mlm_loss(states, labels)).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("padded", [True, False])
def test_a_mask_on_the_host_is_that_of_transformers(encoder: Path, padded: bool, attention: str) -> None:
    bert = CrossEncoderModel.from_encoder(encoder).encoder
    bert.set_attn_implementation(attention)
    ids, _, mask, _ = batch()
    mask = mask if padded else torch.ones_like(mask)
    theirs = create_bidirectional_mask(bert.config, bert.embeddings(ids), mask)
    # The numbered processor is another device than that of the mask, as a GPU is.
    ours = padding_mask(bert, mask, torch.device("cpu", 0))
    assert (theirs is None) == (ours is None) == (not padded)
    if padded:
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert padding_mask(bert, mask, CPU) is mask


# Loops over batches


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Copies to the host and waits for them, in their order, while this test lasts; what is copied is zeros."""
    turns = list[str]()

    def copy(tensor: Tensor) -> Callable[[], Tensor]:
        assert tensor.device == META
        turns.append("copy")
        return lambda: turns.append("wait") or torch.zeros(tensor.shape, dtype=tensor.dtype)

    for module in (infer, probe, trainer):
        monkeypatch.setattr(module, "to_host", copy)
        if hasattr(module, "autocast"):  # which `meta` does not know
            monkeypatch.setattr(module, "autocast", lambda *_: nullcontext())
    monkeypatch.setattr(StepContext, "autocast", lambda _: nullcontext())
    return turns


THREE_BATCHES = ["copy", "copy", "wait", "copy", "wait", "wait"]
"""Each batch but the last is waited for after the next is begun."""


@pytest.mark.parametrize(
    ("device", "order"),
    [
        (CPU, ["begin 1", "end 1", "begin 2", "end 2"]),
        (META, ["begin 1", "begin 2", "end 1", "end 2"]),
    ],
)
def test_the_next_batch_is_begun_before_the_results_of_one_are_requested_for(
    device: torch.device, order: list[str]
) -> None:
    turns = list[str]()
    for batch, result in prefetch([1, 2], lambda batch: turns.append(f"begin {batch}") or -batch, device):
        assert result == -batch
        turns.append(f"end {batch}")
    assert turns == order
    assert list(prefetch([], str, device)) == []


def test_term_weights(encoder: Path, tmp_path: Path, turns: list[str]) -> None:
    """Passages of three lengths, a batch each."""
    TermWeightRegressor.from_encoder(encoder).save(tmp_path / "regressor")
    inference = {"batch_tokens": 64, "compute": {"device": "cpu", "packing": "off"}}
    options = TermWeightsConfig(label="b", dataset="b", max_length=32, inference=inference)
    text = TextConfig(words="alphanumeric")
    predictor = infer.WeightPredictor.open(tmp_path / "regressor", options, text, META)
    texts = [Text(0, position, str(position), "cats " * (9 * position + 1)) for position in range(3)]
    rows, counts = predictor.rows(texts)
    assert turns == THREE_BATCHES
    assert counts["sequences"] == 3
    assert [terms[0]["weight"] for terms in rows["terms"].to_pylist()] == [0, 0, 0]


def test_held_out_groups(make_store: Callable[..., Path], tiny_encoder: Path, turns: list[str]) -> None:
    store = TokenStore.open([make_store({"d": "word01 word02"})])
    builder = BatchBuilder(store, load_tokenizer(tiny_encoder), 16, 4)
    group = Group(("word01", "word03"), (StoreSpan(0),))
    model = CrossEncoderModel.from_encoder(tiny_encoder).to(META).eval()
    scores = probe.score_groups(model, builder, columns(*[group] * 3), StepContext(META, ComputeConfig(), 1))
    assert turns == THREE_BATCHES
    assert scores.tolist() == [0] * 6


# Steps of trainings


@pytest.mark.parametrize("packing", ["on", "off"])
def test_a_step_of_ranking_updates_the_weights_before_it_waits(
    make_store: Callable[..., Path],
    make_groups: Callable[..., Path],
    tiny_encoder: Path,
    turns: list[str],
    monkeypatch: pytest.MonkeyPatch,
    packing: Packing,
) -> None:
    """Once, for both of its micro-batches."""

    class Optimiser(torch.optim.SGD):
        """The fused one does not know `meta`."""

        def step(self, *arguments: Any) -> None:
            turns.append("update")
            super().step(*arguments)

    monkeypatch.setattr(trainer, "make_optimiser", lambda model, _: Optimiser(model.parameters()))
    store = TokenStore.open([make_store({"d": "word01 word02"})])
    groups = GroupTable(make_groups([("d", "word01", "word03")] * 2), store, 2, 1, "rop")
    tokenizer = load_tokenizer(tiny_encoder)
    masker = Masker(MaskingConfig(ratio=0.5), tokenizer, 1, 16)
    reader = SequenceReader(BatchBuilder(store, tokenizer, 16, 4), masker)
    task = RankingTask("rop", groups, reader, "hinge", mlm_weight=1.0)
    compute = ComputeConfig(device="cpu", packing=packing)
    model = CrossEncoderModel.from_encoder(tiny_encoder)
    training = trainer.Trainer(model, OptimiserConfig(), compute, META, seed=1, steps=1, accumulation=2)
    assert training.step(0, [task]).loss == 0
    assert turns == ["copy", "update", "wait"]
