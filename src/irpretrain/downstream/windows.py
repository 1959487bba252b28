"""Questions with windows of their texts, as sequences [CLS] question [SEP] window [SEP].

A text that does not fit is read in windows that overlap; each begins `stride` word pieces after the one before (so
called in the code of Devlin et al., 2019). An answer is a target in every window that it lies in whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from irpretrain.config.downstream import QuestionAnsweringConfig
from irpretrain.contracts import SPAN_QUESTIONS
from irpretrain.text.encoder_pieces import EncoderPieces, Pieces
from irpretrain.text.pair_tokenizer import Sequences

ROWS_AT_ONCE = 512
NO_ANSWER = (-1, -1)
"""Target of a window that no answer lies in whole."""


class Question(NamedTuple):
    """A question and its text.

    Attributes:
        name: its identifier.
        question: int32 [pieces]; its word pieces, cut to the longest.
        pieces: of the text, whole; shared by questions on one text.
        context: the text.
        answers: every accepted answer.
        spans: (first character, the one behind the last) of answers in the text.
    """

    name: str
    question: np.ndarray
    pieces: Pieces
    context: str
    answers: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Window(NamedTuple):
    """Word pieces `start` to `end` of the text of a question; targets are word pieces of the text, both within it."""

    question: int
    start: int
    end: int
    first: int = -1
    last: int = -1


@dataclass(frozen=True)
class WindowBatch:
    """Sequences padded to the longest.

    Attributes:
        input_ids, token_type_ids, attention_mask: int64 [sequences, positions].
        starts, ends: int64 [sequences]; position of the answer's first and last piece, 0 where there is none.
        offsets: int64 [sequences]; position of the window's first piece.
    """

    input_ids: np.ndarray
    token_type_ids: np.ndarray
    attention_mask: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    offsets: np.ndarray


def read_questions(
    path: str | Path, role: str, encoder: EncoderPieces, question_length: int
) -> list[Question]:
    """Return the questions of one role of a SPAN_QUESTIONS table, in its order."""
    questions: list[Question] = []
    context = ""
    [pieces] = encoder.encode([context])
    for batch in SPAN_QUESTIONS.stream(path, rows=ROWS_AT_ONCE):
        rows = [row for row in batch.to_pylist() if row["role"] == role]
        asked = encoder.encode([row["question"] for row in rows])
        for row, question in zip(rows, asked, strict=True):
            if row["context"] != context:
                context = str(row["context"])
                [pieces] = encoder.encode([context])
            spans = tuple(zip(row["starts"], row["ends"], strict=True))
            questions.append(
                Question(
                    row["question_id"],
                    question.ids[:question_length],
                    pieces,
                    context,
                    tuple(row["answers"]),
                    spans,
                )
            )
    return questions


def window_bounds(pieces: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Return (first word piece, the one behind the last) of the windows of a text; one window, even of an empty text.

    The windows leave no word piece out: where `stride` is more than `room`, they follow on each other.
    """
    bounds, start = [(0, min(room, pieces))], 0
    while start + room < pieces:
        start += min(stride, room)
        bounds.append((start, min(start + room, pieces)))
    return bounds


def piece_span(pieces: Pieces, span: tuple[int, int]) -> tuple[int, int]:
    """Return the first and the last word piece that a span of characters touches; NO_ANSWER if it touches none."""
    begin, end = span
    first = int(np.searchsorted(pieces.ends, begin, side="right"))
    last = int(np.searchsorted(pieces.starts, end, side="left")) - 1
    return (first, last) if first <= last else NO_ANSWER


def cut_windows(
    questions: Sequence[Question], options: QuestionAnsweringConfig, special: int
) -> list[Window]:
    """Return the windows of all questions, each with the first of the question's spans that lies in it whole.

    Args:
        special: special tokens of a sequence.
    """
    windows = []
    for number, question in enumerate(questions):
        spans = [piece_span(question.pieces, span) for span in question.spans]
        room = options.max_length - special - len(question.question)
        for start, end in window_bounds(len(question.pieces.ids), room, options.stride):
            inside = ((a, b) for a, b in spans if a != NO_ANSWER[0] and start <= a and b < end)
            windows.append(Window(number, start, end, *next(inside, NO_ANSWER)))
    return windows


def pad_pairs(pairs: Sequence[Sequence[np.ndarray]], pad: int) -> Sequences:
    """Return sequences of one or two parts with their special tokens, padded to the longest; the second has type 1."""
    longest = max(sum(map(len, pair)) for pair in pairs)
    ids = np.full((len(pairs), longest), pad, np.int64)
    types, attention = np.zeros_like(ids), np.zeros_like(ids)
    for row, pair in enumerate(pairs):
        joined = np.concatenate(pair)
        ids[row, : len(joined)] = joined
        types[row, len(pair[0]) : len(joined)] = 1
        attention[row, : len(joined)] = 1
    return Sequences(ids, types, attention)


class WindowSequences:
    """Makes batches of windows."""

    def __init__(self, encoder: EncoderPieces, questions: Sequence[Question]) -> None:
        self._encoder, self._questions = encoder, questions

    @staticmethod
    def special(encoder: EncoderPieces) -> int:
        """Return how many special tokens a sequence has."""
        return len(encoder.prefix) + 2 * len(encoder.suffix)

    def batch(self, windows: Sequence[Window]) -> WindowBatch:
        """Return the sequences of some windows."""
        before, after = self._encoder.prefix, self._encoder.suffix
        pairs = []
        for window in windows:
            question = self._questions[window.question]
            head = np.concatenate([before, question.question, after])
            pairs.append([head, np.concatenate([question.pieces.ids[window.start : window.end], after])])
        offsets = np.array([len(head) for head, _ in pairs], np.int64)
        targets = np.array([(w.first - w.start, w.last - w.start) for w in windows], np.int64)
        answered = np.array([w.first >= 0 for w in windows])
        starts, ends = (np.where(answered, targets[:, side] + offsets, 0) for side in (0, 1))
        return WindowBatch(*pad_pairs(pairs, self._encoder.pad), starts, ends, offsets)

    def length(self, window: Window) -> int:
        """Return how many word pieces and special tokens a window's sequence has."""
        question = len(self._questions[window.question].question)
        return self.special(self._encoder) + question + window.end - window.start
