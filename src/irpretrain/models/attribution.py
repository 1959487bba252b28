"""Which word pieces a re-ranker's score of one document comes from: integrated gradients.

Sundararajan, Taly and Yan, Axiomatic attribution for deep networks, 2017. The vectors of the word pieces go in a
straight line from those of a baseline to their own while positions, token types and mask stay; the gradient of the
score is integrated along it (Gauss-Legendre, captum) and summed over the vectors' dimensions. Special tokens are the
same at both ends, so they get nothing. The values sum to score(input) - score(baseline) but for the error of the
numerical integral, which is reported (`Attribution.residual`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.attributions import BaselinePiece
from irpretrain.errors import ConfigError, SetupError, TrainingError
from irpretrain.models.reranker import Reranker

PIECES_AT_ONCE = 2048
"""Word pieces whose gradients are computed together, all steps counted: bounds memory."""


@dataclass(frozen=True)
class AttributedText:
    """One side of a sequence.

    Attributes:
        text: all of it.
        pieces: the vocabulary entries that the model read, in order.
        spans: of each piece, its first character and the end of its last.
        values: of each piece (float64).
        cut: whether the text has more pieces than were read.
    """

    text: str
    pieces: list[str]
    spans: list[tuple[int, int]]
    values: np.ndarray
    cut: bool


@dataclass(frozen=True)
class Attribution:
    """A score and what it is made of.

    Attributes:
        query, document: the two texts.
        score: of the sequence.
        baseline: score of the sequence with all word pieces of both texts replaced.
    """

    query: AttributedText
    document: AttributedText
    score: float
    baseline: float

    @property
    def total(self) -> float:
        """Sum of all values."""
        return float(self.query.values.sum() + self.document.values.sum())

    @property
    def residual(self) -> float:
        """What the sum of all values misses of score - baseline (completeness); 0 for an exact integral."""
        return self.total - (self.score - self.baseline)


def attribute(
    model: Reranker,
    query: str,
    document: str,
    max_length: int,
    query_length: int,
    baseline: BaselinePiece = "pad",
    steps: int = 50,
    longest_document: int | None = None,
) -> Attribution:
    """Attribute the score of a document to the word pieces of query and document.

    Args:
        model: the re-ranker, on its device; its parameters need no gradients afterwards.
        query, document: the texts.
        max_length, query_length: longest sequence and longest query, in word pieces.
        baseline: which piece stands in for each.
        steps: points at which the gradient is taken.
        longest_document: most word pieces of the document, should the sequence have room for more; None for no limit.

    Raises:
        ConfigError: the vocabulary has no such piece, or no room is left for the document.
        TrainingError: a value is not a number.
    """
    tokenizer = model.tokenizer
    stand_in = tokenizer.pad_token_id if baseline == "pad" else tokenizer.mask_token_id
    if stand_in is None:
        raise ConfigError(
            "attributions: baseline mask needs a mask token, which a model's vocabulary lacks; set baseline to pad"
        )
    texts = [tokenizer.encode_with_spans(text) for text in (query, document)]
    read = tokenizer.cut(texts[0][0], texts[1][0][:longest_document], max_length, query_length)
    sequence = tuple(torch.from_numpy(array).to(model.device) for array in tokenizer.join([read]))
    replaced = sequence[0].clone()
    places = tokenizer.places(len(read[0]), len(read[1]))
    for place in places:
        replaced[:, place] = stand_in
    values = integrated_gradients(model, model.embeddings, sequence, replaced, steps)
    score, at_baseline = end_scores(model, model.embeddings, sequence, replaced)
    if not np.isfinite([*values, score, at_baseline]).all():
        raise TrainingError("an attribution is not a finite number; the model's scores are broken")
    sides = [
        AttributedText(
            text,
            [tokenizer.piece(number) for number in pieces],
            spans[: len(pieces)],
            values[place],
            len(spans) > len(pieces),
        )
        for text, (_, spans), pieces, place in zip((query, document), texts, read, places, strict=True)
    ]
    return Attribution(sides[0], sides[1], score, at_baseline)


def integrated_gradients(
    model: nn.Module, embeddings: nn.Module, sequence: tuple[Tensor, ...], baseline: Tensor, steps: int
) -> np.ndarray:
    """Return the value of each position (float64 [positions]).

    Args:
        model: called with the tensors of `sequence`; returns scores [1].
        embeddings: the layer of it that turns ids into vectors.
        sequence: ids of the word pieces, int64 [1, positions], and what else the model is called with.
        baseline: ids at the other end, int64 [1, positions].
        steps: points of the integral.

    Raises:
        SetupError: captum is not installed.
    """
    try:
        from captum.attr import LayerIntegratedGradients
    except ImportError:
        raise SetupError(
            "attributions need the package captum; make run installs requirements.lock"
        ) from None
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    inputs, *others = sequence
    method: Any = LayerIntegratedGradients(model, embeddings)
    attributions = method.attribute(
        inputs,
        baselines=baseline,
        additional_forward_args=tuple(others) or None,
        n_steps=steps,
        internal_batch_size=max(1, PIECES_AT_ONCE // inputs.shape[1]),
    )
    values: np.ndarray = attributions.detach().double().sum(dim=-1)[0].cpu().numpy()
    return values


def end_scores(
    model: nn.Module, embeddings: nn.Module, sequence: tuple[Tensor, ...], baseline: Tensor
) -> tuple[float, float]:
    """Return the scores at both ends of the path.

    At the baseline only the vectors are replaced: a model that counts positions by what is not padding would not be at
    the path's end if it were given the ids.
    """
    with torch.no_grad():
        score = float(model(*sequence))
        with _vectors_of(embeddings, baseline):
            return score, float(model(*sequence))


@contextmanager
def _vectors_of(embeddings: nn.Module, ids: Tensor) -> Iterator[None]:
    vectors = embeddings(ids)
    handle = embeddings.register_forward_hook(lambda *_: vectors)
    try:
        yield
    finally:
        handle.remove()
