"""The last layer at chosen positions equals the same positions of Hugging Face's whole last layer, gradients too."""

from __future__ import annotations

import torch
from transformers import BertConfig, BertModel

from irpretrain.models.packed import encode_rows

SHAPE = (3, 7)


def encoder() -> BertModel:
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=50, max_position_embeddings=9, **sizes)).double().eval()


def inputs() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    attention = torch.ones(SHAPE, dtype=torch.int64)
    attention[1, 4:] = 0
    return {
        "input_ids": torch.randint(50, SHAPE, generator=generator),
        "token_type_ids": torch.randint(2, SHAPE, generator=generator),
        "attention_mask": attention,
    }


def test_values_and_gradients_are_those_of_the_whole_layer() -> None:
    rows = torch.tensor([0, 7, 14, 3, 8, 20])
    whole, part = encoder(), encoder()
    expected = whole(**inputs()).last_hidden_state.reshape(-1, 16)[rows]
    found = encode_rows(part, **inputs(), rows=rows)
    assert torch.allclose(found, expected, atol=1e-12)
    for states in (expected, found):
        torch.tanh(states).square().sum().backward()
    wanted = {name: p.grad for name, p in whole.named_parameters() if p.grad is not None}
    given = {name: p.grad for name, p in part.named_parameters() if p.grad is not None}
    assert wanted.keys() == given.keys()
    assert all(torch.allclose(given[name], gradient, atol=1e-12) for name, gradient in wanted.items())


def test_rows_come_in_the_order_requested_for() -> None:
    model = encoder()
    forward, backward = (
        encode_rows(model, **inputs(), rows=torch.tensor(rows)) for rows in ([2, 15], [15, 2])
    )
    assert torch.allclose(forward, backward.flip(0), atol=1e-12)
