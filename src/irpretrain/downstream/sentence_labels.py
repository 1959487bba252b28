"""GLUE's tasks: sentences, or pairs of them, with labels (Devlin et al., 2019, section 4.1)."""

from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoModelForSequenceClassification

from irpretrain.config.downstream import SentenceTasksConfig
from irpretrain.contracts import LABELLED_SENTENCES
from irpretrain.corpora.formats.glue import Task
from irpretrain.downstream.task_measures import classes_of, score_labels
from irpretrain.text.pair_tokenizer import load_tokenizer


class SentenceLabels:
    """The examples of a task (LABELLED_SENTENCES) for a model to start from."""

    architecture = AutoModelForSequenceClassification
    section = "sentence_tasks"

    def __init__(
        self, model: str | Path, examples: str | Path, task: Task, options: SentenceTasksConfig
    ) -> None:
        self.directory, self.options = Path(model), options
        self.tokenizer = load_tokenizer(self.directory)
        self.counts: dict[str, int] = {}
        self.labels = classes_of(task) or ("score",)
        self._examples, self._task = Path(examples), task
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._features: dict[str, list[dict[str, Any]]] = {}

    def features(self, role: str) -> list[dict[str, Any]]:
        if role not in self._features:
            rows = LABELLED_SENTENCES.read(self._examples).to_pylist()
            self._rows[role] = [row for row in rows if row["role"] == role]
            self._features[role] = [self._feature(row) for row in self._rows[role]]
        return self._features[role]

    def _feature(self, row: dict[str, Any]) -> dict[str, Any]:
        encoded = self.tokenizer(
            *row["texts"],
            truncation=True,
            max_length=self.options.max_length,
            return_attention_mask=False,
            split_special_tokens=True,
        )
        label = self.labels.index(row["label"]) if classes_of(self._task) else float(row["label"])
        return {**encoded, "labels": label}

    def predictions(self, role: str, outputs: Any) -> dict[str, str]:
        """Return the label (or a regression's number) of every example of a role, from float32 [examples, labels]."""
        names = [row["example_id"] for row in self._rows[role]]
        if classes_of(self._task):
            chosen = [self.labels[label] for label in outputs.argmax(1)]
        else:
            chosen = [f"{value:.6f}" for value in np.ravel(outputs)]
        return dict(zip(names, chosen, strict=True))

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        rows = self._rows[role]
        predicted = [predictions[row["example_id"]] for row in rows]
        return score_labels(self._task, predicted, [row["label"] for row in rows])

    @staticmethod
    def chosen_by(measures: dict[str, float]) -> float:
        """Return what chooses an epoch: GLUE's score of the task, the mean of its measures."""
        return sum(measures.values()) / len(measures)
