"""Extractive question answering as sequences [CLS] question [SEP] window [SEP] (Devlin et al., 2019, section 4.2).

A text that does not fit is read in windows that overlap by `stride` word pieces, as in transformers' `run_qa.py`. An
answer is a target in every window that holds it whole; the target of other windows is [CLS].
"""

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoModelForQuestionAnswering

from irpretrain.config.experiments import QuestionAnsweringConfig
from irpretrain.contracts import PER_QUERY, SPAN_QUESTIONS
from irpretrain.errors import MAKE_AGAIN, InputError, refusing_damage
from irpretrain.foundation.atomic import write_csv, write_text
from irpretrain.text.pair_tokenizer import load_tokenizer
from irpretrain.training.downstream.examples import TEST, TRAIN

ROWS_AT_ONCE = 512
# Of google-research/bert's run_squad.py: max_query_length and max_answer_length, in word pieces.
QUESTION_LENGTH = 64
ANSWER_LENGTH = 30


class QuestionAnswering:
    """The questions of a task (SPAN_QUESTIONS) for a model to start from."""

    architecture = AutoModelForQuestionAnswering
    labels = ("start", "end")
    section = "question_answering"

    def __init__(self, model: str | Path, examples: str | Path, options: QuestionAnsweringConfig) -> None:
        self.directory, self.options = Path(model), options
        self.tokenizer = load_tokenizer(self.directory)
        self.counts: dict[str, int] = {}
        self._examples = Path(examples)
        self._features: dict[str, list[dict[str, Any]]] = {}
        self._questions: dict[str, dict[str, dict[str, Any]]] = {}

    def features(self, role: str) -> list[dict[str, Any]]:
        if role not in self._features:
            self._questions[role] = {}
            self._features[role] = [
                window for rows in self._rows(role) for window in self._windows(rows, role)
            ]
        return self._features[role]

    def _rows(self, role: str) -> Iterator[list[dict[str, Any]]]:
        for batch in SPAN_QUESTIONS.stream(self._examples, rows=ROWS_AT_ONCE):
            yield [row for row in batch.to_pylist() if row["role"] == role]

    def _windows(self, rows: list[dict[str, Any]], role: str) -> Iterator[dict[str, Any]]:
        if not rows:
            return
        encoded = self.tokenizer(
            self._cut_questions([row["question"] for row in rows]),
            [row["context"] for row in rows],
            truncation="only_second",
            max_length=self.options.max_length,
            stride=self.options.stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=role != TRAIN,
            return_attention_mask=False,
            split_special_tokens=True,  # "[SEP]" in a text of MRQA is ordinary text
        )
        if role == TRAIN:
            self.counts["questions"] = self.counts.get("questions", 0) + len(rows)
        else:
            self._questions[role] |= {row["question_id"]: row for row in rows}
        for number, question in enumerate(encoded["overflow_to_sample_mapping"]):
            row, window = rows[question], encoded[number]
            start, end = _target(window, zip(row["starts"], row["ends"], strict=True))
            if role == TRAIN and end:
                self.counts["windows_with_answer"] = self.counts.get("windows_with_answer", 0) + 1
            feature: dict[str, Any] = {
                name: np.array(encoded[name][number], np.int32) for name in self._inputs(encoded)
            }
            feature |= {"start_positions": start, "end_positions": end}
            if role != TRAIN:
                feature |= {"question": row["question_id"], "spans": _text_spans(window)}
            yield feature

    def _inputs(self, encoded: Any) -> list[str]:
        return [name for name in self.tokenizer.model_input_names if name in encoded]

    def _cut_questions(self, questions: list[str]) -> list[str]:
        most = min(QUESTION_LENGTH, self.options.max_length // 2)
        encoded = self.tokenizer(
            questions,
            add_special_tokens=False,
            truncation=True,
            max_length=most,
            return_offsets_mapping=True,
            split_special_tokens=True,
        )
        spans = zip(questions, encoded["offset_mapping"], strict=True)
        return [text[: offsets[-1][1]] if len(offsets) == most else text for text, offsets in spans]

    def predictions(self, role: str, outputs: Any) -> dict[str, str]:
        """Return the answer to every question of a role from logits of starts and ends, float32 [windows, pieces]."""
        best = dict.fromkeys(self._questions[role], (-np.inf, 0, 0))
        for feature, starts, ends in zip(self.features(role), *outputs[:2], strict=True):
            score, first, last = best_span(starts, ends, feature["spans"])
            if score > best[feature["question"]][0]:
                spans = feature["spans"]
                best[feature["question"]] = (score, int(spans[first][0]), int(spans[last][1]))
        contexts = {name: row["context"] for name, row in self._questions[role].items()}
        return {name: contexts[name][first:last] for name, (_, first, last) in best.items()}

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        return mean_scores(predictions, {n: row["answers"] for n, row in self._questions[role].items()})

    @staticmethod
    def chosen_by(measures: dict[str, float]) -> float:
        return measures[F1]


def _target(window: Any, spans: Iterator[tuple[int, int]]) -> tuple[int, int]:
    """Return the positions of first and last word piece of the first span that the window holds whole; else [CLS]'s."""
    for begin, end in spans:
        first, last = window.char_to_token(begin, 1), window.char_to_token(end - 1, 1)
        if first is not None and last is not None:
            return first, last
    return 0, 0


def _text_spans(window: Any) -> np.ndarray:
    """Return first and end character of each position, int32 [positions, 2]; -1 outside the text."""
    is_text = np.array([sequence == 1 for sequence in window.sequence_ids])
    return np.where(is_text[:, None], np.array(window.offsets, np.int32), -1)


def best_span(starts: np.ndarray, ends: np.ndarray, spans: np.ndarray) -> tuple[float, int, int]:
    """Return score and positions of the span with the largest sum of logits; of ties the first.

    A span lies in the text and has at most ANSWER_LENGTH word pieces. Positions of logits beyond `spans` (see
    `_text_spans`) are padding.
    """
    size = len(spans)
    outside = np.where(spans[:, 0] < 0, -np.inf, 0)
    sums = (starts[:size] + outside)[:, None] + (ends[:size] + outside)
    length = np.arange(size) - np.arange(size)[:, None]
    sums[(length < 0) | (length >= ANSWER_LENGTH)] = -np.inf
    first, last = np.unravel_index(int(sums.argmax()), sums.shape)
    return float(sums[first, last]), int(first), int(last)


# The measures of tested predictions: of every example, and their means.


# Official measures: F1 and exact match of SQuAD 1.1 and MRQA 2019.


F1, EM = "F1", "EM"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


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
    return means_of(score_answers(predictions, accepted))


def means_of(scored: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return measure → mean over the questions that `score_answers` scored."""
    return {measure: sum(values.values()) / len(values) for measure, values in scored.items()}


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
    accepted = {name: _accepted(description["examples"]) for name, description in tasks.items()}

    def rows() -> Iterator[dict[str, Any]]:
        for run in sorted(runs, key=lambda run: (run["task"], run["model"], run["seed"])):
            task = run["task"]
            answers = accepted[task]
            predictions = _predictions(run["path"], answers, tasks[task]["examples"])
            names = (task, run["model"], run["seed"])
            scored = score_answers(predictions, answers)
            for measure, value in means_of(scored).items():
                means.append((*names, TEST, measure, value, len(answers)))
            key = dict(zip(("dataset", "model", "seed"), names, strict=True))
            key |= {"candidates": NO_CANDIDATES, "regime": REGIME, "fold": 0}
            for measure, values in scored.items():
                for example, value in values.items():
                    yield {**key, "query_id": example, "measure": measure, "value": value}

    written = PER_QUERY.write(per_query, rows())
    write_csv(scores, COLUMNS, means)
    write_text(
        table,
        _markdown(means, {name: description["task"]["label"] for name, description in tasks.items()}, labels),
    )
    return {"runs": len(runs), "rows": written}


def _accepted(path: str | Path) -> dict[str, list[str]]:
    """Return tested example → accepted answers."""
    batches = SPAN_QUESTIONS.stream(path, ["role", "question_id", "answers"])
    rows = (row for batch in batches for row in batch.to_pylist())
    return {row["question_id"]: row["answers"] for row in rows if row["role"] == TEST}


def _predictions(path: str | Path, accepted: Mapping[str, Any], examples: str | Path) -> dict[str, str]:
    with refusing_damage(path, "these are not predictions", MAKE_AGAIN):
        predictions: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
        strange = sorted(predictions.keys() ^ accepted.keys())
    if strange:
        raise InputError(
            path,
            f"{len(strange)} examples are predicted and not tested, or tested and not predicted, such as {strange[0]}",
            remedy=f"Delete it and run the workflow again; it does not belong to {examples}.",
        )
    return predictions


def _markdown(means: Sequence[tuple[Any, ...]], tasks: Mapping[str, str], models: Mapping[str, str]) -> str:
    columns = list(dict.fromkeys((row[0], *row[3:5]) for row in means))
    named = {row[:5]: row[5] for row in means}
    heads = [f"{tasks[task]}, {measure}" for task, _, measure in columns]
    lines = [["Model", "Seed", *heads], ["---", "---:", *["---:"] * len(heads)]]
    for model, seed in dict.fromkeys((row[1], row[2]) for row in means):
        keys = [(task, model, seed, part, measure) for task, part, measure in columns]
        values = [f"{100 * named[key]:z.2f}" if key in named else "not run" for key in keys]
        lines.append([models.get(model, model), str(seed), *values])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
