"""Losses of documents whose scores come from passages, or from words: equal in one batch and in parts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import ComputeConfig, OptimiserConfig
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.pair_scoring import as_run
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.judged_queries import JudgedGroups, JudgedQuery
from irpretrain.training.ranking_tasks import (
    PassageReader,
    RankingTask,
    SequenceReader,
    best_passages,
    ranking_loss,
)
from irpretrain.training.trainer import StepContext, Trainer

PASSAGES = PassagesConfig(words=6, stride=4)
CPU = torch.device("cpu")


def test_the_best_passage_is_the_one_that_ranks_a_document() -> None:
    draw = np.random.default_rng(1)
    counts = np.array([1, 4, 2])
    scores = draw.normal(size=7).astype(np.float32)
    found = scores[best_passages(scores, counts)]
    pairs = [("q", f"d{document}") for document in np.repeat(range(3), counts)]
    ranked = dict(as_run({"q": []}, pairs, scores)["q"])
    np.testing.assert_allclose(found, [ranked[f"d{document}"] for document in range(3)], rtol=1e-6)
    assert best_passages(np.array([1.0, 2.0, 2.0, 5.0, 5.0]), np.array([3, 2])).tolist() == [1, 3]
    assert best_passages(np.zeros(0), np.zeros(0, np.int64)).tolist() == []


@pytest.fixture
def reader(tiny_encoder: Path, make_store: Callable[..., Path]) -> PassageReader:
    """Of documents of 14 words, whose last ones are those that their query asks for."""
    draw = np.random.default_rng(3)
    documents = {
        f"d{number:02d}": " ".join(f"word{i:02d}" for i in draw.permutation(80)[:14]) for number in range(24)
    }
    store = TokenStore.open([make_store(documents)])
    return PassageReader(BatchBuilder(store, load_tokenizer(tiny_encoder), 12, 2), PASSAGES)


def judged(reader: PassageReader) -> list[JudgedQuery]:
    store = reader.builder.store
    names = store.document_ids.to_pylist()
    queries = []
    for row, name in enumerate(names):
        words = [f"word{int(piece) - 25:02d}" for piece in store.tokens(row)[[-1, -3]]]
        others = np.array([other for other in range(len(names)) if other != row])
        queries.append(JudgedQuery(name, " ".join(words), np.array([row]), others))
    return queries


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_gradients_are_those_of_the_largest_score_of_all_passages(
    reader: PassageReader, tiny_encoder: Path, precision: str
) -> None:
    groups = JudgedGroups(judged(reader), 2, 5, 1)
    setting = StepContext(CPU, ComputeConfig(device="cpu", precision=precision), 1)
    gradients = []
    for is_whole in (True, False):
        model = CrossEncoderModel.from_encoder(tiny_encoder)
        task = RankingTask("judged", groups, reader, "listwise")
        [part] = [task.read(setting, 0)]
        [batch] = part.batches.values()
        if is_whole:
            encoded, _, counts = batch.inputs
            with setting.autocast():
                scores = model.encode(encoded)[0].float().split(counts.tolist())
                documents = torch.stack([of_document.amax() for of_document in scores])
                sizes = torch.from_numpy(batch.group_sizes)
                loss = ranking_loss("listwise", documents, sizes).sum() / len(batch.group_sizes)
        else:
            micro = task.micro_batch(model, setting, 0, part, batch)
            loss, _ = micro.loss(*micro.tensors)
        loss.backward()
        gradients.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    tolerance = {"fp32": 1e-5, "bf16": 2e-2}[precision]
    assert gradients[0].keys() == gradients[1].keys()
    assert any(name.endswith("query.weight") for name in gradients[0]), "the encoder's own weights learn"
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, rtol=tolerance, atol=tolerance)


def test_a_document_in_one_passage_is_learned_as_a_sequence_is(
    reader: PassageReader, tiny_encoder: Path
) -> None:
    """To the last bit of the loss: passages are no other model."""
    long = PassageReader(reader.builder, PassagesConfig(words=99, stride=50))
    losses = []
    for reads in (SequenceReader(reader.builder), long):
        model = CrossEncoderModel.from_encoder(tiny_encoder)
        options = OptimiserConfig(learning_rate=1e-3)
        trainer = Trainer(model, options, ComputeConfig(device="cpu"), CPU, 1, 4)
        task = RankingTask("judged", JudgedGroups(judged(reader), 2, 8, 1), reads, "hinge")
        losses.append([trainer.step(step, [task]).loss for step in range(4)])
    assert losses[0] == losses[1]
