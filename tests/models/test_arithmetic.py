"""Operations of a training step: by hand, and as torch counts those that it does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from irpretrain.models.arithmetic import HEAD_ALONE, TRAINED, EncoderSize, EncoderWork
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from tiny_models import VOCABULARY

LENGTHS = np.array([3, 12, 1])


def test_by_hand() -> None:
    """Two layers of 4 units with 8 in between and 10 word pieces; sequences of 3 and 2, of which 2 and 1 are read."""
    size = EncoderSize(layers=2, hidden=4, intermediate=8, vocabulary=10)
    work = EncoderWork(np.array([3, 2]), np.array([2, 1]), pooled=2, predicted=1, encoder=3, score=1, mlm=2)
    first = 5 * (4 * 16 + 2 * 32) + 2 * 4 * (9 + 4)  # 5 positions; attention of 3 on 3 and 2 on 2
    last = 5 * 2 * 16 + 3 * (2 * 16 + 2 * 32) + 2 * 4 * (2 * 3 + 1 * 2)  # keys, values of 5, the rest of 3
    score, mlm = 2 * (16 + 4), 16 + 40
    assert size.operations(work) == 2 * (3 * (first + last) + score + 2 * mlm)


def test_a_bert_base_token_is_six_times_its_parameters() -> None:
    """The usual estimate, of a text that is read whole, with the attention beside it: 12 layers of 12 x 512 x 768."""
    size = EncoderSize(12, 768, 3072, 30522)
    lengths = np.array([512])
    expected = 6 * 12 * (4 * 768**2 + 2 * 768 * 3072) + 12 * 12 * 512 * 768
    assert size.operations(EncoderWork(lengths, lengths)) == 512 * expected


def test_a_model_without_bert_has_no_size() -> None:
    assert EncoderSize.of(torch.nn.Linear(2, 2)) is None


def counted(call) -> int:
    """What torch counts of a call, with attention written out as products."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


@pytest.fixture(autouse=True)
def _plain_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch counts its own products only."""
    monkeypatch.setattr("irpretrain.models.linear._usable", lambda *given: False)


@pytest.mark.parametrize("kind", ["ranking and MLM", "ranking alone", "MLM alone", "the MLM head by itself"])
def test_a_step_of_a_cross_encoder_is_what_torch_counts(tiny_encoder: Path, kind: str) -> None:
    model = CrossEncoderModel.from_encoder(tiny_encoder).train()
    model.packing = "on"
    mask = torch.from_numpy((np.arange(12)[None] < LENGTHS[:, None]).astype(np.int64))
    masked = torch.zeros_like(mask, dtype=torch.bool)
    masked[0, 1] = masked[1, 2] = masked[1, 11] = True
    ranks, predicts, reaches = kind.startswith("ranking"), kind != "ranking alone", "by itself" not in kind

    def step() -> None:
        given = masked if predicts else None
        scores, logits = model(mask, mask * 0, mask, given, mlm_trains_encoder=reaches)
        loss = scores.sum() if ranks else 0.0
        (loss + (logits.square().sum() if predicts else 0.0)).backward()

    read = 1 + (masked.sum(1).numpy() if predicts else 0)
    work = EncoderWork(
        LENGTHS,
        read * np.ones(3, np.int64),
        pooled=3,
        predicted=int(masked.sum()) if predicts else 0,
        encoder=TRAINED if ranks or reaches else 1,
        score=TRAINED if ranks else 1,
        mlm=TRAINED if reaches else HEAD_ALONE,
    )
    size = EncoderSize.of(model)
    assert size == EncoderSize(2, 32, 64, len(VOCABULARY))
    assert size.operations(work) == counted(step)


def test_a_step_of_a_token_regression_is_what_torch_counts(tiny_encoder: Path) -> None:
    model = TermWeightRegressor.from_encoder(tiny_encoder)
    model.packing = "on"
    mask = torch.from_numpy((np.arange(12)[None] < LENGTHS[:, None]).astype(np.int64))
    size = EncoderSize.of(model)
    assert size is not None
    work = EncoderWork(LENGTHS, LENGTHS, weighed=int(LENGTHS.sum()))
    assert size.operations(work) == counted(lambda: model(mask, mask)[mask.bool()].square().sum().backward())
