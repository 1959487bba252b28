"""GLUE's official measures (Wang et al., 2019, Table 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from irpretrain.corpora.sentences.glue import LAYOUTS, Task

ACCURACY, F1, MATTHEWS, PEARSON, SPEARMAN = "accuracy", "F1", "Matthews", "Pearson", "Spearman"
OF_TASK: dict[Task, tuple[str, ...]] = {
    "cola": (MATTHEWS,),
    "sst-2": (ACCURACY,),
    "mrpc": (ACCURACY, F1),
    "sts-b": (PEARSON, SPEARMAN),
    "qqp": (ACCURACY, F1),
    "mnli": (ACCURACY,),
    "qnli": (ACCURACY,),
    "rte": (ACCURACY,),
}
"""Measures of each task; where there are two, GLUE's score of the task is their mean."""
POSITIVE = "1"
"""The class whose F1 is measured: paraphrases, duplicates."""


def classes_of(task: Task) -> tuple[str, ...]:
    """Return the labels of a task, whose places are the numbers of its classes; none for a regression."""
    return LAYOUTS[task].labels


def accuracy(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the share of equal labels."""
    return float(np.mean([a == b for a, b in zip(predicted, given, strict=True)]))


def f1(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the F1 of the class POSITIVE: 2 TP / (2 TP + FP + FN); 0 where it neither is nor is predicted."""
    true = sum(a == b == POSITIVE for a, b in zip(predicted, given, strict=True))
    counted = sum(label == POSITIVE for label in (*predicted, *given))
    return 2 * true / counted if counted else 0.0


def matthews(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the correlation of two binary labellings: (TP TN - FP FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)), 0 where
    the root is."""
    pairs = [(a == POSITIVE, b == POSITIVE) for a, b in zip(predicted, given, strict=True)]
    tp, tn = pairs.count((True, True)), pairs.count((False, False))
    fp, fn = pairs.count((True, False)), pairs.count((False, True))
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / root if root else 0.0


def pearson(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the linear correlation of numbers; 0 where one side does not vary."""
    a, b = _numbers(predicted, given)
    return _correlation(a, b)


def spearman(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the linear correlation of ranks, equal numbers sharing their mean rank."""
    from scipy.stats import rankdata

    a, b = _numbers(predicted, given)
    return _correlation(rankdata(a), rankdata(b))


def _numbers(predicted: Sequence[str], labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([float(text) for text in predicted]), np.array([float(text) for text in labels])


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    norm = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm else 0.0


_FUNCTIONS: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    ACCURACY: accuracy,
    F1: f1,
    MATTHEWS: matthews,
    PEARSON: pearson,
    SPEARMAN: spearman,
}


def score_labels(task: Task, predicted: Sequence[str], given: Sequence[str]) -> dict[str, float]:
    """Return the task's measures of predicted labels (numbers as text, for a regression) against the given ones."""
    return {measure: _FUNCTIONS[measure](predicted, given) for measure in OF_TASK[task]}
