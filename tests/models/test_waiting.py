"""No forward pass asks the device for a number, for which a GPU would first have to do all that it was given.

The device is torch's `meta`, whose tensors have no numbers: whoever asks it for one gets an error.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from irpretrain.config.compute import Packing
from irpretrain.models import packed_encoder
from irpretrain.models.chosen_rows import encode_rows
from irpretrain.models.cross_encoder import CrossEncoder
from irpretrain.models.reranker import load_reranker
from tiny_models import write_family

LENGTHS = [3, 7, 5]
MOST = 7
PACKED = ["electra", "roberta", "modernbert"]
"""Families beside BERT that can be packed."""


def batch(device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids and types on the device; mask, and which positions are chosen, on the host."""
    mask = (torch.arange(MOST)[None] < torch.tensor(LENGTHS)[:, None]).long()
    chosen = torch.zeros_like(mask, dtype=torch.bool)
    chosen[0, 1] = chosen[1, 6] = True
    ids, types = (torch.zeros(mask.shape, dtype=torch.int64, device=device) for _ in range(2))
    return ids, types, mask, chosen


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("encoders")
    return {name: write_family(folder / name, name, with_mlm_head=True) for name in ("bert", *PACKED)}


@pytest.fixture(autouse=True)
def no_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which `meta` does not know."""
    monkeypatch.setattr(packed_encoder, "compute_dtype", lambda encoder: encoder.dtype)


@pytest.mark.parametrize("packing", ["on", "off"])
@pytest.mark.parametrize("predicts", [True, False])
@pytest.mark.parametrize("family", ["bert", *PACKED])
def test_a_cross_encoder(encoders: dict[str, Path], family: str, predicts: bool, packing: Packing) -> None:
    if family != "bert" and packing == "off":
        pytest.skip("transformers asks whether anything is padding")
    model = CrossEncoder.from_encoder(encoders[family]).to("meta")
    model.packing = packing
    ids, types, mask, chosen = batch("meta")
    scores, logits = model(ids, types, mask, chosen if predicts else None)
    assert scores.shape == (3,)
    assert (None if logits is None else len(logits)) == (2 if predicts else None)


@pytest.mark.parametrize("family", ["bert", *PACKED])
def test_a_reranker(encoders: dict[str, Path], family: str, tmp_path: Path) -> None:
    CrossEncoder.from_encoder(encoders[family]).save(tmp_path / "model")
    model = load_reranker(tmp_path / "model").to("meta")
    model.packing = "on"
    assert model(*batch("meta")[:3]).shape == (3,)


@pytest.mark.parametrize("padded", [True, False])
def test_a_mask_on_the_host_is_that_of_transformers(
    encoders: dict[str, Path], padded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    masks = list[Tensor | None]()
    for device in ("cpu", "meta"):
        bert = CrossEncoder.from_encoder(encoders["bert"]).to(device).bert
        assert bert is not None
        ids, types, mask, _ = batch(device)
        mask = mask if padded else torch.ones_like(mask)
        layer = bert.encoder.layer[0]
        monkeypatch.setattr(layer, "forward", lambda hidden, made, _=layer: masks.append(made) or hidden)
        encode_rows(bert, ids, types, mask, torch.zeros(1, dtype=torch.int64, device=device))
    theirs, ours = masks
    if not padded:
        assert theirs is ours is None
        return
    assert theirs is not None
    assert ours is not None
    assert (ours.shape, ours.dtype, ours.stride(2)) == (theirs.shape, theirs.dtype, 0)
