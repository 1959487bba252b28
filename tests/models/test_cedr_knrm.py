"""CEDR-KNRM against its formula, spelt out word piece by word piece from Hugging Face's hidden states."""

import math
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel

from irpretrain.foundation.errors import InputError
from irpretrain.models.cross_encoder import CedrKnrmHead, CrossEncoderModel
from irpretrain.models.packed import batch_of_tensors
from irpretrain.models.reranker import load_reranker

QUERIES = ["word01 cab", "word02", ""]
TEXTS = ["word03 bad", "word04 word05 word06 word01 word02", "word07"]


def by_hand(model: CrossEncoderModel, encoder: Path, query: str, text: str) -> float:
    assert model.cedr is not None
    sequence = AutoTokenizer.from_pretrained(encoder)(query, text, return_tensors="pt")
    pieces = len(sequence["input_ids"][0])
    end = int(sequence["token_type_ids"][0].tolist().index(1)) - 1  # [SEP] behind the query
    bert = BertModel.from_pretrained(encoder).eval()
    with torch.no_grad():
        layers = bert(**sequence, output_hidden_states=True).hidden_states
    features = []
    for hidden in layers:
        for mean, deviation in zip(model.cedr.means.tolist(), model.cedr.deviations.tolist(), strict=True):
            total = 0.0
            for requested in hidden[0, 1:end]:
                similar = [
                    torch.cosine_similarity(requested, h, 0).item() for h in hidden[0, end + 1 : pieces - 1]
                ]
                soft = sum(math.exp(-0.5 * ((value - mean) / deviation) ** 2) for value in similar)
                total += math.log(soft + 1e-6)
            features.append(total)
    weights = model.cedr.combine.weight[0].tolist()
    features += layers[-1][0, 0].tolist()
    return sum(w * f for w, f in zip(weights, features, strict=True)) + model.cedr.combine.bias.item()


def scored(model: CrossEncoderModel, encoder: Path) -> torch.Tensor:
    sequences = AutoTokenizer.from_pretrained(encoder)(QUERIES, TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        return model.eval()(**sequences)


def test_scores_are_those_of_the_formula(tiny_encoder: Path, tmp_path: Path) -> None:
    """In one padded batch, a query without a word among them; and again from a saved model."""
    model = CrossEncoderModel.from_encoder(tiny_encoder, "cedr-knrm", seed=3)
    expected = [by_hand(model, tiny_encoder, *pair) for pair in zip(QUERIES, TEXTS, strict=True)]
    assert scored(model, tiny_encoder).tolist() == pytest.approx(expected, rel=1e-3)
    model.save(tmp_path / "model")
    assert torch.equal(
        scored(CrossEncoderModel.load(tmp_path / "model"), tiny_encoder), scored(model, tiny_encoder)
    )


def test_all_of_it_is_trained_and_masked_pieces_are_predicted(tiny_encoder: Path) -> None:
    model = CrossEncoderModel.from_encoder(tiny_encoder, "cedr-knrm")
    sequences = AutoTokenizer.from_pretrained(tiny_encoder)(QUERIES, TEXTS, padding=True, return_tensors="pt")
    masked = torch.zeros_like(sequences["input_ids"], dtype=torch.bool)
    masked[0, 2] = masked[1, 3] = True
    scores, states = model.encode(batch_of_tensors(model, *sequences.values(), masked))
    assert states.shape == (2, 32)
    scores.sum().backward()
    assert model.cedr is not None
    assert all(parameter.grad is not None for parameter in model.cedr.parameters())
    assert model.encoder.embeddings.word_embeddings.weight.grad is not None


def test_what_reads_other_heads_refuses_it(tiny_encoder: Path, tmp_path: Path) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder, "cedr-knrm").save(tmp_path / "model")
    with pytest.raises(InputError, match="come from all layers"):
        load_reranker(tmp_path / "model")
    (tmp_path / "model/cedr_knrm.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="weights cannot be read"):
        CrossEncoderModel.load(tmp_path / "model")


def test_the_head_computes_in_single_precision_under_autocast() -> None:
    """In bfloat16 most scores would tie, and the kernel of exact matches, 0.001 wide, would tell none."""
    head = CedrKnrmHead(BertConfig(hidden_size=8, num_hidden_layers=1), 1)
    layers = torch.randn(2, 3, 9, 8, generator=torch.Generator().manual_seed(1))
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1, 1]]).expand(3, -1)
    expected = head([*layers], types, torch.ones_like(types))
    with torch.autocast("cpu", torch.bfloat16):
        scores = head([*layers], types, torch.ones_like(types))
    assert torch.equal(scores, expected)
