"""Sequences laid end to end give what padded ones give: scores, losses and gradients, whatever the lengths.

Single precision, absolute tolerance 1e-5 (5e-5 for gradients, which are sums); double precision, 1e-11. Attention by a
call for each sequence is compared with one attention with a mask of blocks. Fused layers: `test_fused_layers.py`.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import SequenceBounds
from irpretrain.models.length_batches import packed_batches
from irpretrain.models.packed import attend_by_sequence, batch_of_tensors, layout_of
from irpretrain.models.reranker import load_reranker
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.training.compute import autocast, use_fast_paths
from irpretrain.training.ranking_tasks import ranking_loss
from tiny_models import VOCABULARY, write_bert, write_distilbert, write_encoder, write_family

LONGEST = 12
lengths_of_sequences = st.lists(st.integers(1, LONGEST), min_size=1, max_size=5)


def of_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    query_bounds: SequenceBounds,
    key_bounds: SequenceBounds,
    dropout: float,
) -> Tensor:
    """One attention over all rows, in which a row sees those of its own sequence: what variable length means."""
    assert dropout == 0
    owners = [
        torch.repeat_interleave(torch.arange(len(bounds.lengths)), bounds.ends.diff().long())
        for bounds in (query_bounds, key_bounds)
    ]
    shares = torch.einsum("qhd,khd->hqk", query, key) / query.shape[-1] ** 0.5
    shares = shares.masked_fill(owners[0][:, None] != owners[1][None], float("-inf"))
    shares = shares.softmax(-1)
    return torch.einsum("hqk,khd->qhd", shares, value)


def batch_of(lengths: Sequence[int], seed: int = 1) -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths))
    mask = (torch.arange(shape[1])[None] < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(5, len(VOCABULARY), shape, generator=draw) * mask
    return {
        "input_ids": ids,
        "token_type_ids": torch.randint(2, shape, generator=draw) * mask,
        "attention_mask": mask,
    }


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its weights are large, so that what one position reads of another shows."""
    return write_encoder(tmp_path_factory.mktemp("packing") / "encoder", initializer_range=0.2)


def results(model: CrossEncoderModel, batch: dict[str, Tensor], masked: Tensor | None) -> dict[str, Tensor]:
    """Scores, MLM logits, loss and all gradients of a batch; its sequences are one group."""
    model.zero_grad(set_to_none=True)
    tensors = [*batch.values(), *([] if masked is None else [masked])]
    scores, states = model.encode(batch_of_tensors(model, *tensors))
    logits = model.mlm_head(states, model.classifier.get_input_embeddings().weight)
    loss = scores.sum()
    if len(scores) > 1:
        loss = ranking_loss("listwise", scores, torch.tensor([len(scores)])).sum()
    if masked is not None and masked.any():
        loss = loss + nn.functional.cross_entropy(logits, batch["input_ids"][masked])
    loss.backward()
    found = {f"gradient of {n}": p.grad for n, p in model.named_parameters() if p.grad is not None}
    found |= {"scores": scores, "loss": loss, "logits": logits}
    return {name: tensor.detach().clone() for name, tensor in found.items()}


def compare(model: CrossEncoderModel, batch: dict[str, Tensor], masked: Tensor | None) -> None:
    double = next(model.parameters()).dtype == torch.float64
    model.packing = "off"
    expected = results(model, batch, masked)
    model.packing = "on"
    found = results(model, batch, masked)
    # Where nothing is masked, or nothing reads a pooled state, one of the two may have a gradient of 0 for none.
    assert {name for name, value in expected.items() if value.any()} <= found.keys()
    for name, value in found.items():
        wanted = expected.get(name, torch.zeros_like(value))
        tolerance = 1e-11 if double else 5e-5 if name.startswith("gradient") else 1e-5
        torch.testing.assert_close(
            value, wanted, rtol=tolerance, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [[1], [12], [3, 12, 1, 7], [5, 5, 5]])
def test_scores_losses_and_gradients_are_those_of_padded_sequences(
    encoder: Path, lengths: list[int], dtype: torch.dtype
) -> None:
    model = CrossEncoderModel.from_encoder(encoder).to(dtype).train()
    batch = batch_of(lengths)
    masked = torch.zeros_like(batch["attention_mask"], dtype=torch.bool)
    compare(model, batch, None)
    compare(model, batch, masked)  # nothing is masked
    masked[0, 0] = masked[-1, lengths[-1] - 1] = True  # [CLS] itself, and a last position
    compare(model, batch, masked)
    compare(model, batch, batch["attention_mask"].bool())  # everything is


@pytest.mark.parametrize("packing", ["off", "on"])
def test_without_masked_positions_there_are_no_states_of_them(encoder: Path, packing: str) -> None:
    model = CrossEncoderModel.from_encoder(encoder)
    model.packing = packing
    scores, states = model.encode(batch_of_tensors(model, *batch_of([3, 5]).values()))
    assert (scores.shape, states.shape) == ((2,), (0, 32))


@given(lengths=lengths_of_sequences, data=st.data())
def test_any_lengths_and_any_masked_positions(encoder: Path, lengths: list[int], data: st.DataObject) -> None:
    batch = batch_of(lengths, data.draw(st.integers(0, 99)))
    flags = data.draw(st.lists(st.booleans(), min_size=sum(lengths), max_size=sum(lengths)))
    masked = batch["attention_mask"].bool()
    masked[masked.clone()] = torch.tensor(flags)
    compare(CrossEncoderModel.from_encoder(encoder, layers=1).double().train(), batch, masked)


def bounds_of(lengths: Sequence[int], longest: int = LONGEST) -> SequenceBounds:
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return SequenceBounds(torch.from_numpy(ends.astype(np.int32)), longest, ends)


@given(data=st.data())
def test_a_call_a_sequence_is_attention_with_a_mask_of_blocks(data: st.DataObject) -> None:
    lengths = data.draw(lengths_of_sequences)
    read = [data.draw(st.integers(0, length)) for length in lengths]
    draw = torch.Generator().manual_seed(3)
    query = torch.randn(sum(read), 2, 4, generator=draw, dtype=torch.float64)
    key, value = torch.randn(2, sum(lengths), 2, 4, generator=draw, dtype=torch.float64)
    bounds = bounds_of(read), bounds_of(lengths)
    assert [b.lengths for b in bounds] == [read, lengths]
    expected, found = (way(query, key, value, *bounds, 0.0) for way in (of_blocks, attend_by_sequence))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("autocast", [True, False])
def test_narrow_numbers_attend_in_single_precision_on_a_cpu(autocast: bool) -> None:
    query, key, value = torch.randn(3, 5, 2, 4, generator=torch.Generator().manual_seed(3)).bfloat16()
    bounds = bounds_of([3, 2])
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        attended = attend_by_sequence(query, key, value, bounds, bounds, 0.0)
    precise = of_blocks(query.double(), key.double(), value.double(), bounds, bounds, 0.0)
    assert torch.equal(attended, precise.bfloat16())


def test_a_gap_in_the_mask_is_left_out_and_keeps_its_position(encoder: Path) -> None:
    batch = batch_of([6, 4])
    batch["attention_mask"][0, 2] = 0
    compare(CrossEncoderModel.from_encoder(encoder).double().eval(), batch, None)


def test_weights_of_word_pieces_are_those_of_padded_sequences(encoder: Path) -> None:
    model = TermWeightRegressor.from_encoder(encoder).double()
    batch = batch_of([3, 12, 1])
    real = batch["attention_mask"].bool()
    found = {}
    for packing in ("off", "on"):
        model.packing = packing
        model.zero_grad(set_to_none=True)
        weights = model(batch["input_ids"], batch["attention_mask"])
        assert torch.equal(weights != 0, real), "nothing weighs outside a sequence"
        weights[real].square().sum().backward()
        gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        found[packing] = [weights[real].detach(), *gradients]
    for one, other in zip(found["off"], found["on"], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("labels", [1, 2])
def test_a_given_bert_scores_the_same(tmp_path: Path, labels: int) -> None:
    model = load_reranker(write_bert(tmp_path / "bert", labels)).double()
    batch = batch_of([3, 12, 1])
    with torch.inference_mode():
        expected = model(**batch)
        model.packing = "on"
        torch.testing.assert_close(model(**batch), expected, rtol=1e-11, atol=1e-11)
    assert layout_of(model).packs


@pytest.mark.parametrize("family", ["distilbert", "albert", "deberta-v3", "roberta", "modernbert"])
def test_other_architectures_are_padded(tmp_path: Path, family: str) -> None:
    if family == "distilbert":
        model = load_reranker(write_distilbert(tmp_path / family))
    else:
        CrossEncoderModel.from_encoder(write_family(tmp_path / family, family)).save(tmp_path / "model")
        model = load_reranker(tmp_path / "model")
    batch = batch_of([3, 12, 1])
    batch["input_ids"].clamp_(max=20)  # which every vocabulary has
    with torch.inference_mode():
        expected = model(**batch)
        model.packing = "on"
        assert torch.equal(model(**batch), expected)
    assert not layout_of(model).packs


def test_dropout_is_applied_in_training_alone(encoder: Path) -> None:
    model = CrossEncoderModel.from_encoder(encoder, dropout=0.5)
    model.packing = "on"
    batch = batch_of([3, 12, 1])
    retained = [model.train()(**batch) for _ in range(2)]
    assert not torch.equal(*retained)
    assert torch.equal(*(model.eval()(**batch) for _ in range(2)))


def test_attention_drops_shares_of_packed_sequences(encoder: Path) -> None:
    """Alone, with the other dropouts at 0: whoever reads only itself reads 0 or twice its value at a rate of 0.5."""
    torch.manual_seed(1)
    value = torch.ones(400, 1, 8)
    bounds = bounds_of([1] * 400, 1)
    found = attend_by_sequence(value, value, value, bounds, bounds, 0.5)
    assert set(found.flatten().tolist()) == {0.0, 2.0}
    assert 0.4 < float(found.mean()) / 2 < 0.6


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_packed_batches_count_real_pieces(lengths: list[int], budget: int) -> None:
    found = list(packed_batches(enumerate(lengths), budget))
    assert sorted(item for batch in found for item in batch.items) == list(range(len(lengths)))
    for batch in found:
        own = [lengths[item] for item in batch.items]
        assert batch.position_count == sum(own)
        assert (batch.length, batch.row_count) == (max(own), len(own))
        assert len(own) == 1 or sum(own) <= budget
    for batch, following in itertools.pairwise(found):  # no batch could have taken the next sequence
        assert batch.position_count + following.length > budget


def test_what_auto_means_on_a_cpu_and_off_everywhere(encoder: Path) -> None:
    model = CrossEncoderModel.from_encoder(encoder)
    assert not layout_of(model).packs  # nobody has asked
    for packing, expected in (("auto", True), ("on", True), ("off", False)):
        put_back = use_fast_paths(model, ComputeConfig(packing=packing), torch.device("cpu"))
        assert layout_of(model).packs == expected
        put_back()
        assert model.packing == "off"


def test_packed_batches_of_a_processor_are_filled_up_in_bf16(encoder: Path) -> None:
    """Each new shape of a product in bf16 is prepared anew; padded batches would be filled up with more than that."""
    model = CrossEncoderModel.from_encoder(encoder)
    for packing, precision, fills_up in (("on", "bf16", True), ("on", "fp32", False), ("off", "bf16", False)):
        model.packing = packing
        with autocast(torch.device("cpu"), ComputeConfig(precision=precision)):
            assert layout_of(model).fills_up == fills_up
    assert not layout_of(model.double()).fills_up
