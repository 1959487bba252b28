"""Extractive question answering as sequences [CLS] question [SEP] window [SEP] (Devlin et al., 2019, section 4.2).

A text that does not fit is read in windows that overlap by `stride` word pieces, as in transformers' `run_qa.py`. An
answer is a target in every window that holds it whole; the target of other windows is [CLS].
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoModelForQuestionAnswering

from irpretrain.config.experiments import QuestionAnsweringConfig
from irpretrain.contracts import SPAN_QUESTIONS
from irpretrain.text.pair_tokenizer import load_tokenizer
from irpretrain.training.downstream.examples import F1, TRAIN, mean_scores

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
