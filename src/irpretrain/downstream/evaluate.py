"""The measures of tested predictions: of every example, and their means."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from irpretrain.atomic import write_csv, write_text
from irpretrain.config.downstream import DownstreamTaskConfig
from irpretrain.contracts import LABELLED_SENTENCES, PER_QUERY, SPAN_QUESTIONS
from irpretrain.downstream.examples import MISMATCHED, TEST
from irpretrain.downstream.task_measures import ACCURACY, classes_of, mean_scores, score_answers, score_labels
from irpretrain.errors import InputError

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
    predictions: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
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
        values = [f"{100 * named[key]:.2f}" if key in named else "not run" for key in keys]
        lines.append([models.get(model, model), str(seed), *values])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
