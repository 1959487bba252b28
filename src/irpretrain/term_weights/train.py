"""Training of DeepCT's token regression, on the trainer that pre-training uses."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from irpretrain.config.base import deciding
from irpretrain.config.term_weights import EPOCHS, TermTrainingConfig, TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.errors import InputError
from irpretrain.evaluation.folds import read_folds, roles
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.provenance import sha256
from irpretrain.term_weights.regression import TokenRegression
from irpretrain.term_weights.sequences import TrainingSequences
from irpretrain.text.encoder_pieces import EncoderPieces
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible, versions
from irpretrain.training.loop import run_steps
from irpretrain.training.metrics import MetricsLog
from irpretrain.training.processes import in_processes, wants_processes
from irpretrain.training.ranks import here
from irpretrain.training.trainer import Trainer

TRAINING_KEYS = {"training", "max_length", "window_overlap"}
"""What of a weighting decides the weights of its model, beside targets, encoder and seed."""


def train_regressor(
    encoder: str | Path,
    targets: str | Path,
    options: TermWeightsConfig,
    encoder_options: EncoderConfig,
    text: TextConfig,
    seed: int,
    output: str | Path,
    metrics: str | Path,
    checkpoints: str | Path,
    folds: str | Path | None = None,
    fold: int = 0,
    title: str = "term weights",
) -> dict[str, Any]:
    """Train a token regression; goes on from the newest checkpoint of the same job.

    With several GPUs, or processes, it is started in each of them (`training.processes`); the first one writes.

    Args:
        encoder: Hugging Face directory of the encoder.
        targets: TERM_TARGETS table.
        seed: of the output layer, data order and dropout.
        output: model directory to write.
        metrics: JSONL file to write, a line a step.
        checkpoints: folder of all jobs' checkpoints.
        folds: what `make_folds` wrote, where queries are weighted by models that have not seen them.
        fold: test fold, from 1; its queries are left out. No fold validates, as nothing is chosen.
        title: what status lines call this job.

    Returns:
        Counts: texts, sequences, words without a word piece, word pieces not read, steps, epochs, word pieces seen.

    Raises:
        TrainingError: loss is not a number, or memory ran out.
        ConfigError, InputError: options or inputs cannot be used.
    """
    arguments = dict(locals())
    training = options.training
    if wants_processes(training.compute):
        return in_processes(train_regressor, arguments, training.compute)
    chosen = None if folds is None else set(roles(read_folds(folds), fold, validates=False).train)
    with reproducible(training.compute) as device:
        model = TermWeightRegressor.from_encoder(encoder, encoder_options.layers, seed)
        model.check_length(options.max_length, "max_length")
        model.set_dropout(training.dropout, training.head_dropout)
        sequences = TrainingSequences.read(targets, EncoderPieces(encoder), options, text, chosen)
        if not len(sequences):
            raise InputError(
                targets, "there is no text to train on", remedy="Give more judged queries, or fewer folds."
            )
        steps = training_steps(training, len(sequences))
        job = here().from_first(
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
            tokens = run_steps(trainer, lambda step: ([task], step), training.log_every, folder, log, title)
            if trainer.ranks.leads:
                model.save(output)
                log.publish(metrics)
            folder.discard()
    epochs = steps * training.batch_size / len(sequences)
    return {**sequences.counts, "steps": steps, "epochs": round(epochs, 4), "tokens": tokens}


def training_steps(training: TermTrainingConfig, sequences: int) -> int:
    """Return the optimiser steps of a training: those given, or the fewest that make up the epochs."""
    if training.steps is not None:
        return training.steps
    # Decimals as they were written: in floating point 0.7 epochs of 10 sequences would be more than 7.
    return math.ceil(Fraction(str(training.epochs or EPOCHS)) * sequences / training.batch_size)
