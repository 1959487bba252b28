"""Official measures: GLUE's (Wang et al., 2019, Table 1), and F1 and exact match of SQuAD 1.1 and MRQA 2019."""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from irpretrain.corpora.formats.glue import LAYOUTS, Task

ACCURACY, F1, MATTHEWS, PEARSON, SPEARMAN = "accuracy", "F1", "Matthews", "Pearson", "Spearman"

# Measures of each task; where there are two, GLUE's score of the task is their mean.
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

# The class whose F1 is measured: paraphrases, duplicates.
POSITIVE = "1"
EM = "EM"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def classes_of(task: Task) -> tuple[str, ...]:
    """Return the labels of a task, whose places are the numbers of its classes; none for a regression."""
    return LAYOUTS[task].labels


def accuracy(predicted: Sequence[str], given: Sequence[str]) -> float:
    return float(np.mean([a == b for a, b in zip(predicted, given, strict=True)]))


def f1(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the F1 of the class POSITIVE: 2 TP / (2 TP + FP + FN); 0 if it neither is nor is predicted."""
    true = sum(a == b == POSITIVE for a, b in zip(predicted, given, strict=True))
    counted = sum(label == POSITIVE for label in (*predicted, *given))
    return 2 * true / counted if counted else 0.0


def matthews(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the correlation of two binary labellings: (TP TN - FP FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)), or 0."""
    pairs = [(a == POSITIVE, b == POSITIVE) for a, b in zip(predicted, given, strict=True)]
    tp, tn = pairs.count((True, True)), pairs.count((False, False))
    fp, fn = pairs.count((True, False)), pairs.count((False, True))
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / root if root else 0.0


def pearson(predicted: Sequence[str], given: Sequence[str]) -> float:
    """Return the linear correlation of numbers; 0 if one side does not vary."""
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


def normalised(answer: str) -> str:
    """Return an answer as it is compared: lower case, no ASCII punctuation, no articles (a, an, the), single spaces."""
    bare = answer.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def token_f1(answer: str, accepted: str) -> float:
    """Return the F1 of an answer's words, with repetition, against one accepted answer; 0 if they share none."""
    answer_words, accepted_words = normalised(answer).split(), normalised(accepted).split()
    common = sum((Counter(answer_words) & Counter(accepted_words)).values())
    if common == 0:
        return 0.0
    return 2 * common / (len(answer_words) + len(accepted_words))


def exact_match(answer: str, accepted: str) -> float:
    """Return 1 if both are the same once normalised, else 0."""
    return float(normalised(answer) == normalised(accepted))


def score_answers(
    predictions: Mapping[str, str], accepted: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return measure → question → its value, from 0 to 1: the best of its accepted answers, 0 without prediction."""
    scored: dict[str, dict[str, float]] = {F1: {}, EM: {}}
    for name, answers in accepted.items():
        predicted = predictions.get(name)
        for measure, function in ((F1, token_f1), (EM, exact_match)):
            values = [] if predicted is None else [function(predicted, answer) for answer in answers]
            scored[measure][name] = max(values, default=0.0)
    return scored


def mean_scores(predictions: Mapping[str, str], accepted: Mapping[str, Sequence[str]]) -> dict[str, float]:
    scored = score_answers(predictions, accepted)
    return {measure: sum(values.values()) / len(values) for measure, values in scored.items()}
