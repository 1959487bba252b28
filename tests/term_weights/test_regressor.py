"""The model, its loss, and its training."""

import json
import re

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from small_weights import TEXT, weighting, write_targets
from transformers import AutoModelForTokenClassification, BertConfig

from irpretrain.config.term_weights import TermTrainingConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.errors import ConfigError, InputError, IntegrityError
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.sequences import TrainingSequences
from irpretrain.retrieval.term_weights.train import (
    HEAD_DROPOUT,
    TokenRegression,
    squared_errors,
    train_regressor,
    training_steps,
)
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.training.trainer import StepContext, Trainer, fetch_measurements

SETTING = StepContext(torch.device("cpu"), ComputeConfig(device="cpu"), 1)


@pytest.fixture
def targets(tmp_path):
    texts = {
        f"d{n}": (f"word{n:02d} word{n + 20} cab word{n + 40}.", [1.0, 0.0, 0.5, 0.25]) for n in range(12)
    }
    return write_targets(tmp_path / "targets.parquet", texts)


def sequences_of(targets, encoder, **changes):
    return TrainingSequences.read(targets, EncoderPieces(encoder), weighting(**changes), TEXT)


def test_the_loss_is_the_plain_computation(targets, tiny_encoder):
    """The mean over the step's counted positions, and the sum, from the model's own predictions."""
    model = TermWeightRegressor.from_encoder(tiny_encoder).eval()
    sequences = sequences_of(targets, tiny_encoder)
    batch = sequences.batch(0, 4, 1)
    with torch.no_grad():
        predicted = model(torch.from_numpy(batch.input_ids), torch.from_numpy(batch.attention_mask)).numpy()
    # [CLS] word word c ##a ##b word . [SEP]: four words and the full stop, which has target 0.
    wanted = [1, 0, 0.5, 0.25, 0]
    errors = [(p - t) ** 2 for row in predicted for p, t in zip(row[[1, 2, 3, 6, 7]], wanted, strict=True)]
    for reduction, expected in (("mean", np.mean(errors)), ("sum", np.sum(errors))):
        task = TokenRegression(sequences, 4, reduction, 1)
        part = task.read(SETTING, 0)
        passes = [task.micro_batch(model, SETTING, 0, part, some) for some in part.batches.values()]
        micro_batches = [micro.loss(*micro.tensors) for micro in passes]
        loss = sum(float(loss.detach()) for loss, _ in micro_batches)
        fetch_measurements([(part.metrics, measured) for _, measured in micro_batches], torch.zeros(()))()
        assert_allclose([loss, part.metrics.weighted_loss], expected, rtol=1e-5)
        assert part.metrics.target_count == 20
        assert_allclose(part.metrics.record()["mean_squared_error"], np.mean(errors), rtol=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_micro_batches_change_rounding_only(targets, tiny_encoder, reduction):
    sequences = sequences_of(targets, tiny_encoder)
    gradients = []
    for accumulation in (1, 3):
        model = TermWeightRegressor.from_encoder(tiny_encoder)
        model.set_dropout(0, 0)
        setting = StepContext(torch.device("cpu"), ComputeConfig(device="cpu"), accumulation)
        task = TokenRegression(sequences, 6, reduction, 1)
        part = task.read(setting, 0)
        assert len(part.batches) == accumulation
        for batch in part.batches.values():
            micro = task.micro_batch(model, setting, 0, part, batch)
            micro.loss(*micro.tensors)[0].backward()
        gradients.append(model.classifier.classifier.weight.grad.numpy())
    assert_allclose(*gradients, rtol=1e-4, atol=1e-7)


def test_a_short_text_does_not_cut_the_long_one_beside_it(tmp_path, tiny_encoder):
    texts = {"short": ("word01", [1.0]), "long": ("word01 word02 word03", [1.0, 0.5, 0.25])}
    path = write_targets(tmp_path / "two.parquet", texts)
    part = TokenRegression(sequences_of(path, tiny_encoder), 2, "sum", 1).read(SETTING, 0)
    [(_, targets)] = part.batches.values()
    assert np.isfinite(targets).sum() == 4


def test_every_sequence_is_seen_once_an_epoch(targets, tiny_encoder):
    sequences = sequences_of(targets, tiny_encoder)
    seen = [tuple(row) for number in range(3) for row in sequences.batch(number, 4, 1).input_ids]
    assert len(set(seen)) == 12
    again = [tuple(row) for number in range(3, 6) for row in sequences.batch(number, 4, 1).input_ids]
    assert set(again) == set(seen)
    assert again != seen


def test_long_texts_are_cut_or_read_in_windows(tmp_path, tiny_encoder):
    text = " ".join(f"word{n:02d}" for n in range(14))
    path = write_targets(tmp_path / "long.parquet", {"d": (text, [n / 14 for n in range(14)])})
    cut = sequences_of(path, tiny_encoder)  # of 12 positions, 10 are the text's
    assert (len(cut), cut.counts["pieces_not_read"]) == (1, 4)
    whole = sequences_of(path, tiny_encoder, window_overlap=2)
    assert (whole.spans.tolist(), whole.counts["pieces_not_read"]) == ([[0, 10], [4, 14]], 0)


def test_targets_of_other_words_are_refused(tmp_path, tiny_encoder):
    path = write_targets(tmp_path / "bad.parquet", {"d": ("word01 word02", [1.0])})
    with pytest.raises(IntegrityError, match="2 words and 1 targets"):
        sequences_of(path, tiny_encoder)


def test_dropout_is_set_by_position(tiny_encoder):
    model = TermWeightRegressor.from_encoder(tiny_encoder)
    model.set_dropout(0.2, 0.3)
    found = {n: m.p for n, m in model.classifier.named_modules() if isinstance(m, torch.nn.Dropout)}
    assert found.pop("dropout") == 0.3
    assert set(found.values()) == {0.2}
    assert BertConfig().hidden_dropout_prob == HEAD_DROPOUT, "BERT's own"


def test_a_saved_model_is_a_token_classifier_of_hugging_faces(tmp_path, tiny_encoder):
    model = TermWeightRegressor.from_encoder(tiny_encoder, layers=1, seed=3).eval()
    model.save(tmp_path / "model")
    ids, mask = torch.tensor([[2, 30, 31, 3]]), torch.ones(1, 4, dtype=torch.int64)
    theirs = AutoModelForTokenClassification.from_pretrained(tmp_path / "model").eval()
    ours = TermWeightRegressor.load(tmp_path / "model").eval()
    with torch.no_grad():
        expected = model(ids, mask)
        assert torch.equal(ours(ids, mask), expected)
        assert_allclose(theirs(input_ids=ids, attention_mask=mask).logits[..., 0], expected, atol=1e-6)
    assert len(ours.classifier.bert.encoder.layer) == 1


def test_what_cannot_be_used_is_refused(tmp_path, tiny_encoder):
    with pytest.raises(InputError, match=r"there is no config\.json"):
        TermWeightRegressor.from_encoder(tmp_path)
    with pytest.raises(ConfigError, match="9 layers asked for"):
        TermWeightRegressor.from_encoder(tiny_encoder, layers=9)
    assert len(TermWeightRegressor.from_encoder(tiny_encoder, layers=2).classifier.bert.encoder.layer) == 2
    with pytest.raises(InputError, match="missing or of another shape"):
        TermWeightRegressor.load(tiny_encoder)


@pytest.fixture
def train(tmp_path, tiny_encoder, targets):
    def run(name, folds=None, fold=0, **changes):
        options, encoder = weighting(**changes), EncoderConfig(path="tiny", label="tiny")
        outputs = tmp_path / name / "model", tmp_path / name / "metrics.jsonl", tmp_path / "checkpoints"
        counts = train_regressor(tiny_encoder, targets, options, encoder, TEXT, 1, *outputs, folds, fold)
        return tmp_path / name, counts

    return run


def test_all_folds_but_the_tested_one_train(train, tmp_path, capfd):
    """Steps or epochs are given, so a validation fold would choose nothing."""
    folds = tmp_path / "folds.json"
    folds.write_text(json.dumps({"folds": 4, "queries": {f"d{n}": n % 4 + 1 for n in range(12)}}))
    _, counts = train("fold", folds=folds, fold=1)
    assert counts["texts"] == 9
    assert re.search(r", loss \S+, \S+ tokens/s,", capfd.readouterr().err)
    folds.write_text(json.dumps({"folds": 4, "queries": {f"d{n}": 1 for n in range(12)}}))
    with pytest.raises(InputError, match="there is no text to train on"):
        train("none", folds=folds, fold=1)


def test_the_regressor_learns_a_small_set_by_heart(train, monkeypatch):
    monkeypatch.setattr("irpretrain.retrieval.term_weights.train.HEAD_DROPOUT", 0.0)
    steps = {"steps": 150, "batch_size": 12, "optimiser": {"learning_rate": 5e-3}}
    folder, counts = train("learned", training={**steps, "compute": {"device": "cpu"}})
    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    errors = [record["tasks"]["term weights"]["mean_squared_error"] for record in records]
    assert errors[0] > 0.1
    assert errors[-1] < 0.001
    assert (counts["steps"], counts["epochs"], counts["sequences"]) == (150, 150, 12)


def test_a_broken_off_training_ends_as_an_unbroken_one(train, monkeypatch):
    expected, _ = train("whole")
    original = Trainer.begin

    def fail(self, step, *rest):
        if step == 3:
            raise KeyboardInterrupt
        return original(self, step, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "begin", fail)
        with pytest.raises(KeyboardInterrupt):
            train("broken")
    folder, _ = train("broken")
    name = "model/model.safetensors"
    assert (folder / name).read_bytes() == (expected / name).read_bytes()
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 6


def test_errors_are_those_of_words_with_a_target_and_no_device_is_requested_which() -> None:
    """On `meta`, whose tensors have no numbers, whoever asks gets an error."""
    weights = torch.tensor([[0.5, 9.0], [1.0, 0.25]], requires_grad=True)
    targets = torch.tensor([[0.0, float("nan")], [float("nan"), 0.75]])
    errors = squared_errors(weights, targets)
    errors.backward()
    assert errors.item() == 0.5
    assert weights.grad is not None
    assert weights.grad.tolist() == [[1.0, 0.0], [0.0, -1.0]]
    assert squared_errors(weights.detach().to("meta"), targets.to("meta")).shape == ()


def test_epochs_are_whole_steps_of_the_decimals_as_written() -> None:
    """In floating point 0.7 epochs of 10 sequences are more than 7 sequences."""
    assert training_steps(TermTrainingConfig(epochs=0.7, batch_size=1), 10) == 7
    assert training_steps(TermTrainingConfig(epochs=2, batch_size=4), 10) == 5
    assert training_steps(TermTrainingConfig(batch_size=16), 10) == 2, "three epochs by default"
    assert training_steps(TermTrainingConfig(steps=9), 10) == 9
