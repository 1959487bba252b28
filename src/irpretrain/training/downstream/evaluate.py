"""The measures of tested predictions: of every example, and their means."""

import json
import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from irpretrain.config.downstream import DownstreamTaskConfig
from irpretrain.contracts import LABELLED_SENTENCES, PER_QUERY, SPAN_QUESTIONS
from irpretrain.corpora.formats.glue import LAYOUTS, Task
from irpretrain.errors import MAKE_AGAIN, InputError, refusing_damage
from irpretrain.foundation.atomic import write_csv, write_text
from irpretrain.training.downstream.examples import MISMATCHED, TEST

# Official measures: GLUE's (Wang et al., 2019, Table 1), and F1 and exact match of SQuAD 1.1 and MRQA 2019.


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


COLUMNS = ("task", "model", "seed", "set", "measure", "value", "examples")

# Of every run: all training examples are used.
REGIME = "full"

# Nothing is re-ranked.
NO_CANDIDATES = ""


def evaluate_downstream(
    # Each a mapping with task, model, seed and path (JSON: example → prediction).
    runs: Sequence[Mapping[str, Any]],
    # Name → task (its section) and examples (SPAN_QUESTIONS or LABELLED_SENTENCES table).
    tasks: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],  # model → its name in the table
    # PER_QUERY table; data sets are tasks, queries are examples. It has the measures that are
    # means over examples: F1, EM, accuracy.
    per_query: str | Path,
    # CSV with `COLUMNS`; every official measure, from 0 to 1 (correlations from -1), of each set: test, and
    # MNLI's mismatched.
    scores: str | Path,
    table: str
    | Path,  # Markdown: one row per model and seed, one column per task, set and measure, in percent
) -> dict[str, Any]:
    """Evaluate predictions and write the measures of each example and their means.

    Raises:
        InputError: predictions lack a tested example, or have another.
    """
    means: list[tuple[Any, ...]] = []
    read = {
        name: _Tested.read(DownstreamTaskConfig(**description["task"]), description["examples"])
        for name, description in tasks.items()
    }

    def rows() -> Iterator[dict[str, Any]]:
        for run in sorted(runs, key=lambda run: (run["task"], run["model"], run["seed"])):
            tested = read[run["task"]]
            predictions = _predictions(run["path"], tested)
            names = (run["task"], run["model"], run["seed"])
            means.extend((*names, *row) for row in tested.measures(predictions))
            key = dict(zip(("dataset", "model", "seed"), names, strict=True))
            key |= {"candidates": NO_CANDIDATES, "regime": REGIME, "fold": 0}
            for measure, values in tested.per_example(predictions).items():
                for example, value in values.items():
                    yield {**key, "query_id": example, "measure": measure, "value": value}

    written = PER_QUERY.write(per_query, rows())
    write_csv(scores, COLUMNS, means)
    write_text(
        table,
        _markdown(means, {name: description["task"]["label"] for name, description in tasks.items()}, labels),
    )
    return {"runs": len(runs), "rows": written}


class _Tested:
    """The tested examples of a task with what is right: accepted answers, or a label; role → example → these."""

    def __init__(
        self, task: DownstreamTaskConfig, wanted: dict[str, dict[str, Any]], path: str | Path
    ) -> None:
        self._task, self._wanted, self.path = task, wanted, path

    @classmethod
    def read(cls, task: DownstreamTaskConfig, path: str | Path) -> Self:
        contract, value = (
            (SPAN_QUESTIONS, "answers") if task.kind == "questions" else (LABELLED_SENTENCES, "label")
        )
        name = contract.columns[1].name
        answers_by_role: dict[str, dict[str, Any]] = {}
        for batch in contract.stream(path, ["role", name, value]):
            for row in batch.to_pylist():
                if row["role"] in (TEST, MISMATCHED):
                    answers_by_role.setdefault(row["role"], {})[row[name]] = row[value]
        return cls(task, answers_by_role, path)

    @property
    def examples(self) -> set[str]:
        return {name for answers in self._wanted.values() for name in answers}

    def measures(self, predictions: dict[str, str]) -> Iterator[tuple[str, str, float, int]]:
        for role, answers in self._wanted.items():
            for measure, value in self._of(role, predictions).items():
                yield role, measure, value, len(answers)

    def _of(self, role: str, predictions: dict[str, str]) -> dict[str, float]:
        answers = self._wanted[role]
        if self._task.sentences is None:
            return mean_scores(predictions, answers)
        predicted = [predictions[name] for name in answers]
        return score_labels(self._task.sentences.task, predicted, list(answers.values()))  # type: ignore[arg-type]

    def per_example(self, predictions: dict[str, str]) -> dict[str, dict[str, float]]:
        """Return measure → example → value, of the measures that are means over the examples."""
        answers = self._wanted[TEST]
        if self._task.sentences is None:
            return score_answers(predictions, answers)
        if not classes_of(self._task.sentences.task):  # type: ignore[arg-type]
            return {}
        return {ACCURACY: {name: float(predictions[name] == label) for name, label in answers.items()}}


def _predictions(path: str | Path, tested: _Tested) -> dict[str, str]:
    with refusing_damage(path, "these are not predictions", MAKE_AGAIN):
        predictions: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
        predictions.keys()
    if predictions.keys() != tested.examples:
        strange = sorted(predictions.keys() ^ tested.examples)
        raise InputError(
            path,
            f"{len(strange)} examples are predicted and not tested, or tested and not predicted, such as {strange[0]}",
            remedy=f"Delete it and run the workflow again; it does not belong to {tested.path}.",
        )
    return predictions


def _markdown(means: Sequence[tuple[Any, ...]], tasks: Mapping[str, str], models: Mapping[str, str]) -> str:
    columns = list(dict.fromkeys((task, part, measure) for task, _, _, part, measure, _, _ in means))
    named = {row[:5]: row[5] for row in means}
    heads = [
        f"{tasks[task]}{'' if part == TEST else f', {part}'}, {measure}" for task, part, measure in columns
    ]
    lines = [["Model", "Seed", *heads], ["---", "---:", *["---:"] * len(heads)]]
    for model, seed in dict.fromkeys((row[1], row[2]) for row in means):
        keys = [(task, model, seed, part, measure) for task, part, measure in columns]
        values = [f"{100 * named[key]:z.2f}" if key in named else "not run" for key in keys]
        lines.append([models.get(model, model), str(seed), *values])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
