"""Integrated gradients: exact on a linear model, equal to a loop of our own, and complete on a tiny BERT."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from irpretrain.foundation.errors import TrainingError
from irpretrain.models.attribution import attribute, end_scores, integrated_gradients
from irpretrain.models.reranker import Reranker, load_reranker
from tiny_models import write_bert, write_roberta

QUERY, DOCUMENT = "word01 cab", "word03 bad word04 word05"


class Linear(nn.Module):
    """Score = Σ weight(position) · Σ vector(id)."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors = nn.Embedding(4, 2)
        self.vectors.weight.data = torch.tensor([[0.0, 0.0], [1.0, 2.0], [-1.0, 0.5], [4.0, 4.0]])
        self.weights = torch.tensor([1.0, 10.0, 0.0, -2.0])

    def forward(self, ids: Tensor) -> Tensor:
        return (self.vectors(ids).sum(dim=2) * self.weights).sum(dim=1)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Reranker:
    return load_reranker(write_bert(tmp_path_factory.mktemp("bert") / "model", 1))


@pytest.mark.parametrize("steps", [2, 7])
def test_a_linear_model_is_exact(steps: int) -> None:
    model, ids, baseline = Linear(), torch.tensor([[1, 2, 3, 3]]), torch.tensor([[0, 0, 0, 1]])
    values = integrated_gradients(model, model.vectors, (ids,), baseline, steps)
    # Sums of the vectors are 0, 3, -0.5, 8; the third position has no influence.
    assert values == pytest.approx([1 * (3 - 0), 10 * (-0.5 - 0), 0, -2 * (8 - 3)], abs=1e-5)
    assert values[2] == 0
    assert end_scores(model, model.vectors, (ids,), baseline) == (3 - 5 - 16, -6)


def test_a_tiny_bert_is_complete(bert: Reranker) -> None:
    attribution = attribute(bert, QUERY, DOCUMENT, 30, 8, steps=64)
    assert abs(attribution.score - attribution.baseline) > 0.05
    assert attribution.total == pytest.approx(attribution.score - attribution.baseline, abs=1e-4)
    assert attribution.residual == pytest.approx(0, abs=1e-4)
    assert attribution.query.pieces == ["word01", "c", "##a", "##b"]
    assert attribution.document.spans[1:4] == [(7, 8), (8, 9), (9, 10)]
    coarse = attribute(bert, QUERY, DOCUMENT, 30, 8, steps=2)
    assert abs(coarse.residual) > abs(attribution.residual)


def test_a_piece_without_influence_has_exactly_nothing(tmp_path: Path) -> None:
    model = load_reranker(write_bert(tmp_path / "model", 1))
    [[idle]] = model.tokenizer.encode(["word04"])
    weights = model.classifier.get_input_embeddings().weight.data
    weights[idle] = weights[0]  # as the baseline's, so that it never moves
    values = attribute(model, QUERY, DOCUMENT, 30, 8).document.values
    assert values[4] == 0
    assert (np.delete(values, 4) != 0).all()


def test_two_labels_and_another_architecture_are_complete(tmp_path: Path) -> None:
    for name, directory in (
        ("two", write_bert(tmp_path / "2", 2)),
        ("roberta", write_roberta(tmp_path / "r")),
    ):
        attribution = attribute(load_reranker(directory), QUERY, DOCUMENT, 30, 8, steps=200)
        assert abs(attribution.score - attribution.baseline) > 0.01, name
        assert attribution.residual == pytest.approx(0, abs=1e-3), name


def test_steps_in_several_batches_change_rounding_only(
    bert: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = attribute(bert, QUERY, DOCUMENT, 30, 8).document.values
    monkeypatch.setattr("irpretrain.models.attribution.PIECES_AT_ONCE", 40)
    assert attribute(bert, QUERY, DOCUMENT, 30, 8).document.values == pytest.approx(whole, abs=1e-6)


def test_what_is_cut_is_reported(bert: Reranker) -> None:
    attribution = attribute(bert, "word01 " * 9, "word02 " * 30, 12, 4)
    assert (len(attribution.query.pieces), attribution.query.is_cut) == (4, True)
    assert (len(attribution.document.pieces), attribution.document.is_cut) == (5, True)
    assert not attribute(bert, "word01", "word02", 12, 4).document.is_cut
    assert len(attribute(bert, "word01", "word02 " * 30, 30, 4, document_length=3).document.pieces) == 3


def test_broken_weights_are_refused(tmp_path: Path) -> None:
    model = load_reranker(write_bert(tmp_path / "model", 1))
    model.classifier.classifier.weight.data.fill_(float("nan"))
    with pytest.raises(TrainingError, match="not a finite number"):
        attribute(model, QUERY, DOCUMENT, 30, 8)
