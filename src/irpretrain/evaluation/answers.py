"""Measures of answers to questions: F1 and exact match of the official programs of SQuAD 1.1 and MRQA 2019."""

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.foundation.atomic import write_csv, write_text
from irpretrain.foundation.characters import markdown_escape
from irpretrain.foundation.contracts import PER_QUERY, SPAN_QUESTIONS
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, refusing_damage

# Roles of examples.
TRAIN, CHOOSE, TEST = "train", "choose", "test"

F1, EM = "F1", "EM"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Return an answer as it is compared: lower case, no ASCII punctuation, no articles (a, an, the), single spaces."""
    without_punctuation = answer.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_punctuation).split())


def token_f1(answer: str, accepted: str) -> float:
    """Return the F1 of an answer's words, with repetition, against one accepted answer; 0 if they share none."""
    answer_words, accepted_words = normalised(answer).split(), normalised(accepted).split()
    common = sum((Counter(answer_words) & Counter(accepted_words)).values())
    if common == 0:
        return 0.0
    return 2 * common / (len(answer_words) + len(accepted_words))


def exact_match(answer: str, accepted_answer: str) -> float:
    """Return 1 if both are the same once normalised, else 0."""
    return float(normalised(answer) == normalised(accepted_answer))


def score_answers(
    predictions: Mapping[str, str], accepted_answers: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return measure → question → its value, from 0 to 1: the best of its accepted answers, 0 without prediction."""
    values_by_measure: dict[str, dict[str, float]] = {F1: {}, EM: {}}
    for question_id, answers in accepted_answers.items():
        prediction = predictions.get(question_id)
        for measure, function in ((F1, token_f1), (EM, exact_match)):
            values = [] if prediction is None else [function(prediction, answer) for answer in answers]
            values_by_measure[measure][question_id] = max(values, default=0.0)
    return values_by_measure


def means_of(values_by_measure: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return measure → mean over the questions that `score_answers` scored."""
    return {measure: sum(values.values()) / len(values) for measure, values in values_by_measure.items()}


COLUMNS = ("task", "model", "seed", "set", "measure", "value", "examples")

# Of every run: all training examples are used.
REGIME = "full"

# Nothing is re-ranked.
NO_CANDIDATES = ""


def evaluate_downstream(
    # Each a mapping with task, model, seed and path (JSON: example → prediction).
    runs: Sequence[Mapping[str, Any]],
    # Name → task (its section) and examples (SPAN_QUESTIONS table).
    tasks: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],  # model → its name in the table
    per_query: str | Path,  # PER_QUERY table; data sets are tasks, queries are examples
    scores: str | Path,  # CSV with `COLUMNS`; measures from 0 to 1
    table: str | Path,  # Markdown: one row per model and seed, one column per task and measure, in percent
) -> dict[str, Any]:
    """Evaluate predictions and write the measures of each example and their means.

    Raises:
        InputError: predictions lack a tested example, or have another.
    """
    means: list[tuple[Any, ...]] = []
    answers_by_task = {name: _read_accepted(description["examples"]) for name, description in tasks.items()}

    def rows() -> Iterator[dict[str, Any]]:
        for run in sorted(runs, key=lambda run: (run["task"], run["model"], run["seed"])):
            task, model, seed = run["task"], run["model"], run["seed"]
            answers = answers_by_task[task]
            predictions = _read_predictions(run["path"], answers, tasks[task]["examples"])
            values_by_measure = score_answers(predictions, answers)
            for measure, value in means_of(values_by_measure).items():
                means.append((task, model, seed, TEST, measure, value, len(answers)))
            key = {"dataset": task, "candidates": NO_CANDIDATES, "model": model, "regime": REGIME}
            key |= {"seed": seed, "fold": 0}
            for measure, values in values_by_measure.items():
                for example, value in values.items():
                    yield {**key, "query_id": example, "measure": measure, "value": value}

    row_count = PER_QUERY.write(per_query, rows())
    write_csv(scores, COLUMNS, means)
    write_text(
        table,
        _markdown(means, {name: description["task"]["label"] for name, description in tasks.items()}, labels),
    )
    return {"runs": len(runs), "rows": row_count}


def _read_accepted(path: str | Path) -> dict[str, list[str]]:
    batches = SPAN_QUESTIONS.stream(path, ["role", "question_id", "answers"])
    rows = (row for batch in batches for row in batch.to_pylist() if row["role"] == TEST)
    return {row["question_id"]: row["answers"] for row in rows}


def _read_predictions(
    path: str | Path, accepted_answers: Mapping[str, Any], examples: str | Path
) -> dict[str, str]:
    with refusing_damage(path, "these are not predictions", MAKE_AGAIN):
        predictions: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
        unmatched_examples = sorted(predictions.keys() ^ accepted_answers.keys())
    if unmatched_examples:
        raise InputError(
            path,
            f"{len(unmatched_examples)} examples are predicted and not tested, or tested and not predicted, such as "
            f"{unmatched_examples[0]}",
            remedy=f"Delete it and run the workflow again; it does not belong to {examples}.",
        )
    return predictions


def _markdown(
    means: Sequence[tuple[Any, ...]], task_labels: Mapping[str, str], model_labels: Mapping[str, str]
) -> str:
    columns = list(dict.fromkeys((row[0], *row[3:5]) for row in means))
    value_of_cell = {row[:5]: row[5] for row in means}
    column_heads = [f"{task_labels[task]}, {measure}" for task, _, measure in columns]
    lines = [["Model", "Seed", *column_heads], ["---", "---:", *["---:"] * len(column_heads)]]
    for model, seed in dict.fromkeys((row[1], row[2]) for row in means):
        keys = [(task, model, seed, role, measure) for task, role, measure in columns]
        values = [f"{100 * value_of_cell[key]:z.2f}" if key in value_of_cell else "not run" for key in keys]
        lines.append([model_labels.get(model, model), str(seed), *values])
    return "".join(f"| {' | '.join(map(markdown_escape, line))} |\n" for line in lines)
