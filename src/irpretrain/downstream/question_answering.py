"""Extractive question answering: how windows train a span reader, and how it answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from irpretrain.config.downstream import QuestionAnsweringConfig
from irpretrain.downstream.examples import TRAIN
from irpretrain.downstream.losses import OutputMetrics, span_losses
from irpretrain.downstream.order import EpochOrder
from irpretrain.downstream.task_measures import mean_scores
from irpretrain.downstream.windows import (
    Question,
    Window,
    WindowBatch,
    WindowSequences,
    cut_windows,
    read_questions,
)
from irpretrain.models.output_layers import SpanReader
from irpretrain.models.to_device import to_host
from irpretrain.progress import progress
from irpretrain.text.encoder_pieces import EncoderPieces, Pieces
from irpretrain.training.kept_batches import KeptBatches
from irpretrain.training.shares import Share
from irpretrain.training.steps import MicroBatchLoss, PartOf, Setting, StepPart

LENGTH_KEY = "question_answering.max_length"


class Candidate(NamedTuple):
    """A span of word pieces of a text, both ends included, and the sum of its two logits."""

    first: int
    last: int
    score: float


def best_span(starts: np.ndarray, ends: np.ndarray, longest: int) -> Candidate | None:
    """Return the span of at most `longest` word pieces with the largest sum of start and end logit; None without any.

    The search is exact. Of equal sums the shortest span counts, then the first.

    Args:
        starts, ends: float32 [pieces]; the logits of a window's word pieces, those of question and special tokens
            left out.
        longest: most word pieces.
    """
    best: Candidate | None = None
    for more in range(min(longest, len(starts))):
        sums = starts[: len(starts) - more] + ends[more:]
        place = int(np.argmax(sums))
        score = float(sums[place])
        if best is None or score > best.score:
            best = Candidate(place, place + more, score)
    return best


def answer_text(context: str, pieces: Pieces, span: Candidate) -> str:
    """Return the characters of a text that its word pieces `span.first` to `span.last` stand for."""
    return context[int(pieces.starts[span.first]) : int(pieces.ends[span.last])]


@dataclass
class SpanTask:
    """The one task of a training: windows with the positions of their answers."""

    sequences: WindowSequences
    windows: Sequence[Window]
    order: EpochOrder
    name: str = "question answering"

    def read(self, setting: Setting, step: int, number: int) -> PartOf:
        """Read the windows of a step; see `irpretrain.training.steps.StepTask`."""
        batch = self.sequences.batch([self.windows[place] for place in self.order.places(number)])
        lengths = batch.attention_mask.sum(1)
        share = setting.share(len(lengths), lambda: lengths)
        tokens = int(lengths.sum())

        def part_of(model: nn.Module) -> StepPart:
            metrics = OutputMetrics(1.0, 0.0, sequences=len(lengths))
            return StepPart(metrics, tokens, share, self._losses(model, setting, batch, share))

        return part_of

    def _losses(
        self, model: nn.Module, setting: Setting, batch: WindowBatch, share: Share
    ) -> Iterator[MicroBatchLoss]:
        for rows in share.slices:
            length = int(batch.attention_mask[rows].sum(1).max())
            ids, types = (
                setting.tensor(array[rows, :length]) for array in (batch.input_ids, batch.token_type_ids)
            )
            attention = setting.on_host(batch.attention_mask[rows, :length])
            starts, ends = setting.tensor(batch.starts[rows]), setting.tensor(batch.ends[rows])
            with setting.autocast():
                start_logits, end_logits = model(ids, types, attention)
            losses = span_losses(start_logits, end_logits, attention, starts, ends)
            loss = losses.sum() / len(batch.starts)
            right = (start_logits.argmax(1) == starts) & (end_logits.argmax(1) == ends)
            yield MicroBatchLoss(loss, {"loss": loss.detach(), "right": right.sum()})


class QuestionAnswering:
    """A task's questions, as fine-tuning sees them.

    Args:
        model: directory of the model to start from.
        examples: SPAN_QUESTIONS table.
    """

    def __init__(
        self, model: str | Path, examples: str | Path, options: QuestionAnsweringConfig, seed: int
    ) -> None:
        self._directory, self._examples = Path(model), Path(examples)
        self.options, self._seed = options, seed
        self._encoder = EncoderPieces(model)
        self._special = WindowSequences.special(self._encoder)
        self._read: dict[str, list[Question]] = {}

    def model(self) -> SpanReader:
        """Return the encoder with a fresh output layer."""
        reader = SpanReader.from_encoder(self._directory, self.options.dropout, self._seed)
        reader.check_length(self.options.max_length, LENGTH_KEY)
        return reader

    def training(self) -> tuple[SpanTask, dict[str, int]]:
        """Return what trains the model, and counts of questions and windows."""
        questions = self._questions(TRAIN)
        cut = cut_windows(questions, self.options, self._special)
        answered = [window for window in cut if window.first >= 0]
        used = answered if self.options.without_answer == "drop" else cut
        used = [window for window in used if window.end > window.start]
        counts = {
            "questions": len(questions),
            "windows": len(cut),
            "windows_with_answer": len(answered),
            "questions_without_window_with_answer": len(questions) - len({w.question for w in answered}),
            "windows_used": len(used),
        }
        sequences = WindowSequences(self._encoder, questions)
        return SpanTask(sequences, used, EpochOrder(len(used), self.options.batch_size, self._seed)), counts

    def predict(self, model: nn.Module, role: str, setting: Setting, kept: KeptBatches) -> dict[str, str]:
        """Return the answer to every question of a role; empty where its text is. `kept` has what batches gave
        before."""
        questions = self._questions(role)
        sequences = WindowSequences(self._encoder, questions)
        best: dict[int, Candidate] = {}
        for window, span in self._spans(model, setting, sequences, questions, kept):
            earlier = best.get(window.question)
            if earlier is None or (span.score, -span.first) > (earlier.score, -earlier.first):
                best[window.question] = span
        return {
            question.name: answer_text(question.context, question.pieces, best[number])
            if number in best
            else ""
            for number, question in enumerate(questions)
        }

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        """Return the means over questions; the first is what chooses."""
        return mean_scores(predictions, {q.name: q.answers for q in self._questions(role)})

    def _questions(self, role: str) -> list[Question]:
        if role not in self._read:
            options = self.options
            self._read[role] = read_questions(self._examples, role, self._encoder, options.question_length)
        return self._read[role]

    def _spans(
        self,
        model: nn.Module,
        setting: Setting,
        sequences: WindowSequences,
        questions: list[Question],
        kept: KeptBatches,
    ) -> Iterator[tuple[Window, Candidate]]:
        """Yield the best span of every window that has word pieces, in word pieces of its text."""
        windows = [w for w in cut_windows(questions, self.options, self._special) if w.end > w.start]
        # Windows of a length together, so that little is computed for padding.
        windows.sort(key=sequences.length)
        model.eval()

        def begin(some: list[Window]) -> Callable[[], list[Candidate | None]]:
            batch = sequences.batch(some)
            ids, types = setting.tensor(batch.input_ids), setting.tensor(batch.token_type_ids)
            with torch.no_grad(), setting.autocast():
                logits = model(ids, types, setting.on_host(batch.attention_mask))
            copied = [to_host(side.float()) for side in logits]
            places = [
                slice(offset, offset + window.end - window.start)
                for window, offset in zip(some, batch.offsets.tolist(), strict=True)
            ]

            def wait() -> list[Candidate | None]:
                starts, ends = (copy().numpy() for copy in copied)
                longest = self.options.answer_length
                return [
                    best_span(starts[row, place], ends[row, place], longest)
                    for row, place in enumerate(places)
                ]

            return wait

        size = self.options.prediction_batch
        batches = [windows[first : first + size] for first in range(0, len(windows), size)]
        told = progress(batches, "predict", "parts of texts", len(windows), size=len)
        for some, spans in kept.results(told, begin, len(windows), setting.device):
            for window, span in zip(some, spans, strict=True):
                if span is not None:
                    first, last, score = span
                    yield window, Candidate(first + window.start, last + window.start, score)
