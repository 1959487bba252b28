"""DeepCT's token regression: its loss (equation 2) and its training."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from irpretrain.config.base import deciding
from irpretrain.config.term_weights import TermTrainingConfig, TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.evaluation.folds import read_folds, roles
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_batches import EncoderBatch, PackedBatch
from irpretrain.models.parameters import check_embeddings
from irpretrain.models.term_weight_regressor import TermWeightRegressor, text_batch
from irpretrain.retrieval.term_weights.sequences import MASKED_OUT, TokenBatch, TrainingSequences
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible, versions
from irpretrain.training.graphs import Measurements, MicroBatch
from irpretrain.training.metrics import MetricsLog, TaskMetrics
from irpretrain.training.outputs import publish
from irpretrain.training.processes import in_processes, wants_processes
from irpretrain.training.ranks import current_ranks
from irpretrain.training.trainer import StepContext, TaskStep, Trainer, run_steps


@dataclass
class RegressionMetrics(TaskMetrics):
    SUMMED_FIELDS: ClassVar[tuple[str, ...]] = ("loss", "squared_error")

    loss: float = 0.0  # what was minimised
    squared_error: float = 0.0  # sum over counted word pieces
    target_count: int = field(kw_only=True)  # how many there were in the whole step

    @property
    def weighted_loss(self) -> float:
        """The loss itself: there is one task."""
        return self.loss

    def record(self) -> dict[str, float | None]:
        return {"mean_squared_error": self.squared_error / self.target_count if self.target_count else None}


@dataclass
class TokenRegression:
    sequences: TrainingSequences
    batch_size: int
    reduction: Literal["mean", "sum"]  # mean over the step's counted word pieces, or their sum
    seed: int
    name: str = "term weights"

    def read(self, context: StepContext, step: int) -> TaskStep:
        batch = self.sequences.batch(step, self.batch_size, self.seed)
        metrics = RegressionMetrics(1.0, 0.0, target_count=int(np.isfinite(batch.targets).sum()))
        shares = context.share(len(batch.input_ids))
        batches = {number: self._micro_batch(context, batch, rows) for number, rows in shares.items()}
        tokens = sum(int(batch.attention_mask[rows].sum()) for rows in shares.values())
        return TaskStep(metrics, tokens, batches)

    def _micro_batch(
        self, context: StepContext, batch: TokenBatch, rows: slice
    ) -> tuple[EncoderBatch, np.ndarray]:
        """Return some sequences and the targets of what the model returns of them."""
        length = int(batch.attention_mask[rows].sum(1).max())
        ids, mask, targets = (
            array[rows, :length] for array in (batch.input_ids, batch.attention_mask, batch.targets)
        )
        inputs = text_batch(context.layout, ids, mask, self.sequences.longest)
        if isinstance(inputs, PackedBatch):
            targets = targets[mask.astype(bool)]
            added = [(0, len(inputs.input_ids) - len(targets))]
        else:
            added = [(0, 0), (0, inputs.input_ids.shape[1] - length)]
        return inputs, np.pad(targets, added, constant_values=MASKED_OUT)

    def micro_batch(
        self,
        model: TermWeightRegressor,
        context: StepContext,
        step: int,
        task_step: TaskStep,
        batch: tuple[EncoderBatch, np.ndarray],
    ) -> MicroBatch:
        inputs, targets = batch
        assert isinstance(task_step.metrics, RegressionMetrics)
        loss_scale = 1.0 if self.reduction == "sum" else 1.0 / max(task_step.metrics.target_count, 1)
        tensors = [context.tensor(np.array(loss_scale, np.float32)), context.tensor(targets)]

        def loss(loss_scale: Tensor, targets: Tensor, *flat: Tensor) -> tuple[Tensor, Measurements]:
            with context.autocast():
                weights = model.weights(inputs, *flat)
            errors = squared_errors(weights.float(), targets)
            loss = errors * loss_scale
            return loss, {"squared_error": errors.detach(), "loss": loss.detach()}

        if not isinstance(inputs, PackedBatch):
            return MicroBatch(tensors, loss)
        shape = inputs.shape if context.layout.ends_on_device else None
        return MicroBatch([*tensors, inputs.flat(context.device)], loss, shape)


def squared_errors(weights: Tensor, targets: Tensor) -> Tensor:
    """Return the sum of squared errors where `targets` is a number; float32 of equal shapes."""
    # Picking the counted ones out would ask a GPU how many there are, and wait for it.
    return torch.where(torch.isfinite(targets), weights - targets, 0.0).square().sum()


# Dropout before the linear layer, as in BERT's classifier (google-research/bert, run_classifier.py).
HEAD_DROPOUT = 0.1

# What of a weighting decides the weights of its model, beside targets, encoder and seed.
TRAINING_KEYS = {"training", "max_length", "window_overlap"}


def train_regressor(
    encoder: str | Path,  # Hugging Face directory of the encoder
    targets: str | Path,  # TERM_TARGETS table
    options: TermWeightsConfig,
    encoder_options: EncoderConfig,
    text: TextConfig,
    seed: int,  # of the output layer, data order and dropout
    output: str | Path,  # model directory to write
    metrics: str | Path,  # JSONL file to write, one line per step
    checkpoints: str | Path,  # folder of all jobs' checkpoints
    # What `make_folds` wrote, where queries are weighted by models that have not seen them.
    folds: str | Path | None = None,
    fold: int = 0,  # test fold, from 1; its queries are left out. No fold validates, as nothing is chosen.
    title: str = "term weights",  # name of the job in status lines
) -> dict[str, Any]:
    """Train a token regression; resumes from the newest checkpoint of the same job.

    With several GPUs, or processes, it is started in each of them (`training.processes`); the first one writes.

    Returns:
        Counts: texts, sequences, words without a word piece, word pieces not read, steps, epochs, word pieces seen.

    Raises:
        TrainingError: the loss is NaN, or memory ran out.
        ConfigError, InputError: options or inputs cannot be used.
    """
    arguments = dict(locals())
    training = options.training
    if wants_processes(training.compute):
        return in_processes(train_regressor, arguments, training.compute)
    training_queries = None if folds is None else set(roles(read_folds(folds), fold, validates=False).train)
    with reproducible(training.compute) as device:
        model = TermWeightRegressor.from_encoder(encoder, encoder_options.layers, seed)
        model.check_length(options.max_length, "max_length")
        model.trained_length = options.max_length
        model.set_dropout(training.dropout, HEAD_DROPOUT)
        pieces = EncoderPieces(encoder)
        check_embeddings(model.classifier, pieces.size, encoder)
        sequences = TrainingSequences.read(targets, pieces, options, text, training_queries)
        if not len(sequences):
            remedy = "Give more judged queries, or fewer folds."
            raise InputError(targets, "there is no text to train on", remedy=remedy)
        steps = training_steps(training, len(sequences))
        job = current_ranks().from_first(
            lambda: {
                "stage": "term weights",
                "from": sha256(encoder),
                "targets": sha256(targets),
                "folds": [sha256(folds), fold] if folds is not None else None,
                "options": deciding(options, options.model_dump(include=TRAINING_KEYS)),
                "layers": encoder_options.layers,
                "words": text.word_kind,
                "seed": seed,
                "device": device.type,
                "versions": versions(),
                "output": str(output),
            }
        )
        trainer = Trainer(
            model, training.optimiser, training.compute, device, seed, steps, training.accumulation
        )
        task = TokenRegression(sequences, training.batch_size, training.reduction, seed)
        with Checkpoints(checkpoints, job, title, training.compute.checkpoint_minutes) as folder:
            log = MetricsLog(folder.directory / "metrics.jsonl")
            tokens = run_steps(trainer, [task], training.log_every, folder, log, title)
            if trainer.ranks.leads:
                publish({output: model.write_files}, {metrics: log.publish}, folder)
            folder.discard()
    epochs = steps * training.batch_size / len(sequences)
    return {**sequences.counts, "steps": steps, "epochs": round(epochs, 4), "tokens": tokens}


def training_steps(training: TermTrainingConfig, sequences: int) -> int:
    """Return the optimiser steps of a training: those given, or the fewest that make up the epochs."""
    if training.steps is not None:
        return training.steps
    # Decimals as they were written: in floating point 0.7 epochs of 10 sequences would be more than 7.
    return math.ceil(Fraction(str(training.length_in_epochs)) * sequences / training.batch_size)
