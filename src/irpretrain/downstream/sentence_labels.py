"""GLUE's tasks: how labelled sentences train a classifier, and how it labels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from irpretrain.config.downstream import SentenceTasksConfig
from irpretrain.contracts import LABELLED_SENTENCES
from irpretrain.corpora.sentences.glue import Task
from irpretrain.downstream.examples import TRAIN
from irpretrain.downstream.losses import OutputMetrics, label_losses
from irpretrain.downstream.order import EpochOrder
from irpretrain.downstream.task_measures import classes_of, score_labels
from irpretrain.downstream.windows import pad_pairs
from irpretrain.models.output_layers import SentenceClassifier
from irpretrain.models.to_device import to_host
from irpretrain.progress import progress
from irpretrain.text.encoder_pieces import EncoderPieces
from irpretrain.text.pair_tokenizer import Sequences
from irpretrain.training.kept_batches import KeptBatches
from irpretrain.training.shares import Share
from irpretrain.training.steps import MicroBatchLoss, PartOf, Setting, StepPart

LENGTH_KEY = "sentence_tasks.max_length"
ROWS_AT_ONCE = 1024
SCORE = "score"
"""Name of the one output of a regression."""


class Example(NamedTuple):
    """A sentence or a pair: identifier, word pieces of each (int32), and its label as it is written."""

    name: str
    texts: tuple[np.ndarray, ...]
    label: str


class SentenceSequences:
    """Makes sequences [CLS] a [SEP], or [CLS] a [SEP] b [SEP]."""

    def __init__(self, encoder: EncoderPieces, max_length: int) -> None:
        self._encoder, self._max_length = encoder, max_length

    def cut(self, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the word pieces that a sequence has room for: the longer sentence loses its end, of equal ones the
        second."""
        room = self._max_length - len(self._encoder.prefix) - len(texts) * len(self._encoder.suffix)
        if len(texts) == 1:
            return [texts[0][:room]]
        first, second = (len(text) for text in texts)
        if first + second > room:
            half = room // 2
            if second <= half:
                first = room - second
            elif first <= room - half:
                second = room - first
            else:
                first, second = room - half, half
        return [texts[0][:first], texts[1][:second]]

    def batch(self, examples: Sequence[Example]) -> Sequences:
        """Return the sequences of some examples."""
        before, after = self._encoder.prefix, self._encoder.suffix
        parts = []
        for example in examples:
            first, *others = self.cut(example.texts)
            parts.append(
                [np.concatenate([before, first, after]), *(np.concatenate([o, after]) for o in others)]
            )
        return pad_pairs(parts, self._encoder.pad)


@dataclass
class LabelTask:
    """The one task of a training: examples with their labels.

    Attributes:
        targets: int64 [examples], numbers of classes; float32 for a regression.
    """

    sequences: SentenceSequences
    examples: Sequence[Example]
    targets: np.ndarray
    order: EpochOrder
    name: str = "labels"

    def read(self, setting: Setting, step: int, number: int) -> PartOf:
        """Read the examples of a step; see `irpretrain.training.steps.StepTask`."""
        places = self.order.places(number)
        batch, targets = (
            self.sequences.batch([self.examples[place] for place in places]),
            self.targets[places],
        )
        lengths = batch.attention_mask.sum(1)
        share = setting.share(len(lengths), lambda: lengths)
        tokens = int(lengths.sum())

        def part_of(model: nn.Module) -> StepPart:
            metrics = OutputMetrics(1.0, 0.0, sequences=len(lengths))
            return StepPart(metrics, tokens, share, self._losses(model, setting, batch, targets, share))

        return part_of

    def _losses(
        self, model: nn.Module, setting: Setting, batch: Sequences, targets: np.ndarray, share: Share
    ) -> Iterator[MicroBatchLoss]:
        for rows in share.slices:
            length = int(batch.attention_mask[rows].sum(1).max())
            expected = setting.tensor(targets[rows])
            with setting.autocast():
                logits = model(
                    setting.tensor(batch.input_ids[rows, :length]),
                    setting.tensor(batch.token_type_ids[rows, :length]),
                    setting.on_host(batch.attention_mask[rows, :length]),
                )
            loss = label_losses(logits, expected).sum() / len(targets)
            measured = {"loss": loss.detach()}
            if not expected.is_floating_point():
                measured["right"] = (logits.argmax(1) == expected).sum()
            yield MicroBatchLoss(loss, measured)


class SentenceLabels:
    """A task's examples, as fine-tuning sees them.

    Args:
        model: directory of the model to start from.
        examples: LABELLED_SENTENCES table.
    """

    def __init__(
        self, model: str | Path, examples: str | Path, task: Task, options: SentenceTasksConfig, seed: int
    ) -> None:
        self._directory, self._examples, self._task = Path(model), Path(examples), task
        self.options, self._seed = options, seed
        self._encoder = EncoderPieces(model)
        self._sequences = SentenceSequences(self._encoder, options.max_length)
        self._classes = classes_of(task)
        self._read: dict[str, list[Example]] = {}

    def model(self) -> SentenceClassifier:
        """Return the encoder with a fresh output layer."""
        labels = list(self._classes) or [SCORE]
        classifier = SentenceClassifier.from_model(self._directory, labels, self.options.dropout, self._seed)
        classifier.check_length(self.options.max_length, LENGTH_KEY)
        return classifier

    def training(self) -> tuple[LabelTask, dict[str, int]]:
        """Return what trains the model, and how many examples there are."""
        examples = self._of(TRAIN)
        if self._classes:
            targets = np.array([self._classes.index(example.label) for example in examples], np.int64)
        else:
            targets = np.array([float(example.label) for example in examples], np.float32)
        order = EpochOrder(len(examples), self.options.batch_size, self._seed)
        return LabelTask(self._sequences, examples, targets, order), {"examples": len(examples)}

    def predict(self, model: nn.Module, role: str, setting: Setting, kept: KeptBatches) -> dict[str, str]:
        """Return the label of every example of a role; of a regression the number, as text. `kept` has what batches
        gave before."""
        examples = sorted(self._of(role), key=lambda example: sum(map(len, example.texts)))
        model.eval()

        def begin(some: list[Example]) -> Callable[[], list[str]]:
            ids, types, attention = self._sequences.batch(some)
            with torch.no_grad(), setting.autocast():
                logits = model(setting.tensor(ids), setting.tensor(types), setting.on_host(attention))
            copied = to_host(logits.float())
            return lambda: self._labels(copied().numpy())

        size = self.options.prediction_batch
        batches = [examples[first : first + size] for first in range(0, len(examples), size)]
        told = progress(batches, "predict", "texts", len(examples), size=len)
        predicted = {
            example.name: label
            for some, labels in kept.results(told, begin, len(examples), setting.device)
            for example, label in zip(some, labels, strict=True)
        }
        return {example.name: predicted[example.name] for example in self._of(role)}

    def _labels(self, outputs: np.ndarray) -> list[str]:
        """What the model says of each example, as text, by its outputs, float32 [examples, outputs]."""
        if not self._classes:
            return [f"{float(row[0]):.6f}" for row in outputs]
        return [self._classes[int(row.argmax())] for row in outputs]

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        """Return the task's official measures."""
        examples = self._of(role)
        predicted = [predictions[example.name] for example in examples]
        return score_labels(self._task, predicted, [example.label for example in examples])

    def _of(self, role: str) -> list[Example]:
        if role not in self._read:
            self._read[role] = list(self._examples_of(role))
        return self._read[role]

    def _examples_of(self, role: str) -> Iterator[Example]:
        for batch in LABELLED_SENTENCES.stream(self._examples, rows=ROWS_AT_ONCE):
            for row in batch.to_pylist():
                if row["role"] == role:
                    pieces = tuple(encoded.ids for encoded in self._encoder.encode(row["texts"]))
                    yield Example(row["example_id"], pieces, row["label"])
