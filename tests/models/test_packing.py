"""Sequences laid end to end give what padded ones give: scores, losses and gradients, whatever the lengths.

Single precision, absolute tolerance 1e-5 (5e-5 for gradients, which are sums); double precision, 1e-11. The kernel of
variable length itself needs a GPU; here its place is taken by a reference of one attention with a mask of blocks, and
the way of the CPU, a call a sequence, is compared with the same.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from irpretrain.config.training import ComputeConfig
from irpretrain.models import packed
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.length_batches import packed_batches
from irpretrain.models.packed import SequenceBounds, by_kernel, by_sequence, no_kernel, unpacked
from irpretrain.models.reranker import load_reranker
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.training.compute import packs, use_fast_paths
from irpretrain.training.ranking_tasks import mlm_loss_sum, ranking_loss
from tiny_models import VOCABULARY, write_bert, write_distilbert, write_encoder, write_family

LONGEST = 12
lengths_of_sequences = st.lists(st.integers(1, LONGEST), min_size=1, max_size=5)


def of_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    asking: SequenceBounds,
    requested: SequenceBounds,
    dropout: float,
) -> Tensor:
    """One attention over all rows, in which a row sees those of its own sequence: what variable length means."""
    assert dropout == 0
    owners = [
        torch.repeat_interleave(torch.arange(len(bounds.lengths)), bounds.ends.diff().long())
        for bounds in (asking, requested)
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


@pytest.fixture(params=["a call a sequence", "a mask of blocks"])
def attention(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute packed sequences in either way."""
    if request.param == "a mask of blocks":
        monkeypatch.setattr(packed, "by_sequence", of_blocks)


def results(model: CrossEncoderModel, batch: dict[str, Tensor], masked: Tensor | None) -> dict[str, Tensor]:
    """Scores, logits, loss and all gradients of a batch; its sequences are one group."""
    model.zero_grad(set_to_none=True)
    scores, logits = model(**batch, masked=masked)
    loss = scores.sum()
    if len(scores) > 1:
        loss = ranking_loss("listwise", scores, torch.tensor([len(scores)])).sum()
    if masked is not None and masked.any():
        assert logits is not None
        loss = loss + mlm_loss_sum(logits, batch["input_ids"][masked]) / int(masked.sum())
    loss.backward()
    found = {f"gradient of {n}": p.grad for n, p in model.named_parameters() if p.grad is not None}
    found |= {"scores": scores, "loss": loss} | ({} if logits is None else {"logits": logits})
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


@pytest.mark.usefixtures("attention")
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


@given(lengths=lengths_of_sequences, data=st.data())
def test_any_lengths_and_any_masked_positions(encoder: Path, lengths: list[int], data: st.DataObject) -> None:
    batch = batch_of(lengths, data.draw(st.integers(0, 99)))
    flags = data.draw(st.lists(st.booleans(), min_size=sum(lengths), max_size=sum(lengths)))
    masked = batch["attention_mask"].bool()
    masked[masked.clone()] = torch.tensor(flags)
    compare(CrossEncoderModel.from_encoder(encoder, layers=1).double().train(), batch, masked)


@given(data=st.data())
def test_a_call_a_sequence_is_attention_with_a_mask_of_blocks(data: st.DataObject) -> None:
    requested = data.draw(lengths_of_sequences)
    asking = [data.draw(st.integers(0, length)) for length in requested]
    draw = torch.Generator().manual_seed(3)
    query = torch.randn(sum(asking), 2, 4, generator=draw, dtype=torch.float64)
    key, value = torch.randn(2, sum(requested), 2, 4, generator=draw, dtype=torch.float64)
    bounds = [SequenceBounds.of(torch.tensor(lengths), LONGEST) for lengths in (asking, requested)]
    assert [b.lengths for b in bounds] == [asking, requested]
    ways = (of_blocks, of_blocks_on_gpu, by_sequence)
    expected, hosted, found = (way(query, key, value, *bounds, 0.0) for way in ways)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert torch.equal(hosted, expected)


@pytest.mark.parametrize("autocast", [True, False])
def test_narrow_numbers_attend_in_single_precision_on_a_cpu(autocast: bool) -> None:
    query, key, value = torch.randn(3, 5, 2, 4, generator=torch.Generator().manual_seed(3)).bfloat16()
    bounds = SequenceBounds.of(torch.tensor([3, 2]), LONGEST)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        attended = by_sequence(query, key, value, bounds, bounds, 0.0)
    precise = of_blocks(query.double(), key.double(), value.double(), bounds, bounds, 0.0)
    assert torch.equal(attended, precise.bfloat16())


def test_a_gap_in_the_mask_is_left_out_and_keeps_its_position(encoder: Path) -> None:
    batch = batch_of([6, 4])
    batch["attention_mask"][0, 2] = 0
    compare(CrossEncoderModel.from_encoder(encoder).double().eval(), batch, None)


@pytest.mark.usefixtures("attention")
def test_weights_of_word_pieces_are_those_of_padded_sequences(encoder: Path) -> None:
    model = TermWeightRegressor.from_encoder(encoder).double()
    batch = batch_of([3, 12, 1])
    real = batch["attention_mask"].bool()
    found = {}
    for packing in ("off", "on"):
        model.packing = packing
        model.zero_grad(set_to_none=True)
        weights = model(batch["input_ids"], batch["attention_mask"])
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
    assert packs(model)


@pytest.mark.parametrize("family", ["albert", "deberta-v3", "roberta", "modernbert"])
def test_other_families_are_padded(tmp_path: Path, family: str) -> None:
    model = CrossEncoderModel.from_encoder(write_family(tmp_path / family, family))
    model.packing = "on"
    assert not packs(model)


def test_another_architecture_is_padded(tmp_path: Path) -> None:
    model = load_reranker(write_distilbert(tmp_path / "distilbert"))
    batch = batch_of([3, 12, 1])
    with torch.inference_mode():
        expected = model(**batch)
        model.packing = "on"
        assert torch.equal(model(**batch), expected)
    assert not packs(model)


def test_dropout_is_applied_in_training_alone(encoder: Path) -> None:
    model = CrossEncoderModel.from_encoder(encoder, dropout=0.5)
    model.packing = "on"
    batch = batch_of([3, 12, 1])
    retained = [model.train()(**batch)[0] for _ in range(2)]
    assert not torch.equal(*retained)
    assert torch.equal(*(model.eval()(**batch)[0] for _ in range(2)))


def test_attention_drops_shares_of_packed_sequences(encoder: Path) -> None:
    """Alone, with the other dropouts at 0: whoever reads only itself reads 0 or twice its value at a rate of 0.5."""
    torch.manual_seed(1)
    value = torch.ones(400, 1, 8)
    bounds = SequenceBounds.of(torch.ones(400, dtype=torch.int64), 1)
    found = by_sequence(value, value, value, bounds, bounds, 0.5)
    assert set(found.flatten().tolist()) == {0.0, 2.0}
    assert 0.4 < float(found.mean()) / 2 < 0.6


def test_values_return_to_their_positions() -> None:
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    whole = unpacked(values, mask)
    assert whole.tolist() == [[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]]
    assert unpacked(values[:, None] * torch.ones(2), mask).shape == (2, 3, 2)
    whole.sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [1.0, 1.0, 1.0]


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_packed_batches_count_real_pieces(lengths: list[int], budget: int) -> None:
    found = list(packed_batches(enumerate(lengths), budget))
    assert sorted(item for batch in found for item in batch.items) == list(range(len(lengths)))
    for batch in found:
        own = [lengths[item] for item in batch.items]
        assert batch.positions == sum(own)
        assert (batch.length, batch.rows) == (max(own), len(own))
        assert len(own) == 1 or sum(own) <= budget
    for batch, following in itertools.pairwise(found):  # no batch could have taken the next sequence
        assert batch.positions + following.length > budget


def test_what_auto_means_on_a_cpu_and_off_everywhere(encoder: Path) -> None:
    model = CrossEncoderModel.from_encoder(encoder)
    assert not packs(model)  # nobody has asked
    for packing, expected in (("auto", True), ("on", True), ("off", False)):
        put_back = use_fast_paths(model, ComputeConfig(packing=packing), torch.device("cpu"), training=True)
        assert packs(model) == expected
        put_back()
        assert model.packing == "off"


def test_a_model_that_packs_is_saved_as_any(encoder: Path, tmp_path: Path) -> None:
    model = CrossEncoderModel.from_encoder(encoder)
    model.save(tmp_path / "padded")
    model.packing = "on"
    copy.deepcopy(model).save(tmp_path / "packed")
    for name in ("config.json", "model.safetensors"):
        assert (tmp_path / "packed" / name).read_bytes() == (tmp_path / "padded" / name).read_bytes()


class Gpu:
    """Makes torch say that there is one, of which a test decides what it can do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int] = (9, 0)) -> None:
        monkeypatch.setattr(torch.backends.cuda, "is_flash_attention_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA Made-up")
        self.device = SimpleNamespace(type="cuda")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, None),
        ({"dtype": torch.float16}, None),
        ({"dtype": torch.float32}, "no single precision"),
        ({"head": 20}, "heads of 20"),
        ({"head": 264}, "heads of 264"),
        ({"dropout": 0.1}, "no dropout, and the encoder's attention has 0.1"),
        ({"capability": (7, 5)}, "NVIDIA Made-up is older than Ampere"),
    ],
)
def test_why_the_kernel_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], reason: str | None
) -> None:
    given = {"dtype": torch.bfloat16, "head": 64, "dropout": 0.0, "capability": (9, 0)} | options
    gpu: Any = Gpu(monkeypatch, given.pop("capability")).device
    found = no_kernel(gpu, **given)
    assert found is None if reason is None else found is not None and reason in found
    assert no_kernel(torch.device("cpu"), torch.bfloat16, 64, 0.0) == "it needs a GPU"


def test_the_kernel_takes_what_it_is_given() -> None:
    """Its shapes and gradients, as torch states them; nothing is computed."""
    with FakeTensorMode():
        query, key, value = (
            torch.empty(n, 2, 32, dtype=torch.bfloat16, requires_grad=True) for n in (4, 10, 10)
        )
        asking, requested = (
            SequenceBounds(torch.empty(4, dtype=torch.int32), 9, torch.empty(3, dtype=torch.int64))
            for _ in range(2)
        )
        found = by_kernel(query, key, value, asking, requested, 0.0)
        assert (found.shape, found.dtype) == (query.shape, torch.bfloat16)
        found.float().sum().backward()
        assert [one.grad.shape for one in (query, key, value)] == [query.shape, key.shape, value.shape]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch's kernel of variable length needs a GPU")
def test_the_kernel_is_attention_with_a_mask_of_blocks() -> None:
    """In bfloat16, whose numbers have 8 bits: values and gradients within 2e-2 of those in single precision."""
    device = torch.device("cuda")
    if reason := no_kernel(device, torch.bfloat16, 32, 0.0):
        pytest.skip(f"this GPU lacks it: {reason}")
    lengths = torch.tensor([1, 7, 130, 64], device=device)
    some = torch.tensor([1, 2, 40, 1], device=device)
    requested = SequenceBounds.of(lengths, 130)
    for asking in (requested, SequenceBounds.of(some, 130)):
        draw = torch.Generator(device).manual_seed(5)
        shapes = [sum(bounds.lengths) for bounds in (asking, requested, requested)]
        given = [torch.randn(rows, 4, 32, device=device, generator=draw) for rows in shapes]
        found, expected = [], []
        for way, dtype, into in (
            (by_kernel, torch.bfloat16, found),
            (of_blocks_on_gpu, torch.float32, expected),
        ):
            inputs = [one.to(dtype).requires_grad_() for one in given]
            out = way(*inputs, asking, requested, 0.0)
            out.float().sin().sum().backward()
            into += [out, *(one.grad for one in inputs)]
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one.float(), other, rtol=2e-2, atol=2e-2)


def of_blocks_on_gpu(*arguments: Any) -> Tensor:
    """The reference, on the host."""
    query, key, value, asking, requested, dropout = arguments
    hosted = [
        SequenceBounds(bounds.ends.cpu(), bounds.longest, bounds.device_lengths.cpu())
        for bounds in (asking, requested)
    ]
    return of_blocks(query.cpu(), key.cpu(), value.cpu(), *hosted, dropout).to(query.device)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch's kernel of variable length needs a GPU")
def test_a_model_on_a_gpu_scores_like_one_on_the_cpu(encoder: Path) -> None:
    """bfloat16 against single precision: within 0.1 of scores whose spread is of the order of 1."""
    model = CrossEncoderModel.from_encoder(encoder).eval()
    batch = batch_of([3, 12, 1, 7])
    with torch.inference_mode():
        expected = model(**batch)[0]
        model.cuda().packing = "auto"
        moved = {name: tensor.cuda() for name, tensor in batch.items()}
        with torch.autocast("cuda", torch.bfloat16):
            if not packs(model):
                pytest.skip("this GPU has no attention of variable length")
            found = model(**moved)[0]
    torch.testing.assert_close(found.float().cpu(), expected, rtol=0, atol=0.1)
