"""Which word pieces a re-ranker's score of one document comes from: integrated gradients.

Sundararajan, Taly and Yan, Axiomatic attribution for deep networks, 2017. Vectors of word pieces go in a straight line
from a baseline's to their own; the gradient of the score is integrated along it (Gauss-Legendre, captum) and summed
over dimensions. Special tokens are the same at both ends and get nothing. The values sum to score(input) −
score(baseline) but for the numerical error, which is reported (`Attribution.residual`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.foundation.errors import SetupError, TrainingError
from irpretrain.models.reranker import Reranker

# Points at which the gradient is taken: captum's usual number.
STEPS = 50

# Word pieces whose gradients are computed together, all steps counted: bounds memory.
PIECES_AT_ONCE = 2048


@dataclass(frozen=True)
class AttributedText:
    text: str  # all of it
    pieces: list[str]  # the vocabulary entries that the model read, in order
    spans: list[tuple[int, int]]  # of each piece, its first character and the end of its last
    values: np.ndarray  # of each piece (float64)
    is_cut: bool  # whether the text has more pieces than were read


@dataclass(frozen=True)
class Attribution:
    """A score and what it is made of."""

    query: AttributedText
    document: AttributedText
    score: float  # of the sequence
    baseline: float  # score of the sequence with all word pieces of both texts replaced

    @property
    def total(self) -> float:
        return float(self.query.values.sum() + self.document.values.sum())

    @property
    def residual(self) -> float:
        """What the sum of all values misses of score - baseline (completeness); 0 for an exact integral."""
        return self.total - (self.score - self.baseline)


def attribute(
    model: Reranker,  # the re-ranker, on its device; its parameters need no gradients afterwards
    # query, document: the texts.
    query: str,
    document: str,
    # max_length, query_length: longest sequence and longest query, in word pieces.
    max_length: int,
    query_length: int,
    steps: int = STEPS,  # points at which the gradient is taken
    # Most word pieces of the document, should the sequence have room for more; None for no limit.
    document_length: int | None = None,
) -> Attribution:
    """Attribute the score of a document to the word pieces of query and document.

    Raises:
        ConfigError: no room is left for the document.
        TrainingError: a value is NaN or infinite.
    """
    tokenizer = model.tokenizer
    encodings = [tokenizer.encode_with_spans(text) for text in (query, document)]
    kept_pieces = tokenizer.cut(encodings[0][0], encodings[1][0][:document_length], max_length, query_length)
    sequence = _sequence(model, kept_pieces)
    baseline_ids = sequence[0].clone()
    text_slices = tokenizer.template.positions(len(kept_pieces[0]), len(kept_pieces[1]))
    for text_slice in text_slices:
        baseline_ids[:, text_slice] = tokenizer.pad_token_id
    embeddings = model.classifier.get_input_embeddings()
    values = integrated_gradients(model, embeddings, sequence, baseline_ids, steps)
    score, baseline_score = end_scores(model, embeddings, sequence, baseline_ids)
    if not np.isfinite([*values, score, baseline_score]).all():
        raise TrainingError("an attribution is not a finite number; the model's scores are broken")
    attributed_texts = [
        AttributedText(
            text,
            [tokenizer.token(piece) for piece in pieces],
            spans[: len(pieces)],
            values[text_slice],
            len(spans) > len(pieces),
        )
        for text, (_, spans), pieces, text_slice in zip(
            (query, document), encodings, kept_pieces, text_slices, strict=True
        )
    ]
    return Attribution(attributed_texts[0], attributed_texts[1], score, baseline_score)


def best_passage(
    model: Reranker,
    query: str,
    passages: Sequence[str],
    max_length: int,
    query_length: int,
    document_length: int | None = None,
) -> int:
    """Return the position of the passage with the highest score; of equal ones the first."""
    tokenizer = model.tokenizer
    query_pieces, *pieces_by_passage = (tokenizer.encode_with_spans(text)[0] for text in (query, *passages))
    scores = []
    for pieces in pieces_by_passage:
        kept_pieces = tokenizer.cut(query_pieces, pieces[:document_length], max_length, query_length)
        with torch.no_grad():
            scores.append(float(model(*_sequence(model, kept_pieces))))
    return int(np.argmax(scores))


def _sequence(model: Reranker, pieces: tuple[np.ndarray, np.ndarray]) -> tuple[Tensor, ...]:
    """Return what the model reads of the word pieces of a query and a document."""
    return tuple(torch.from_numpy(array).to(model.device) for array in model.tokenizer.join([pieces]))


def integrated_gradients(
    model: nn.Module, embeddings: nn.Module, sequence: tuple[Tensor, ...], baseline_ids: Tensor, steps: int
) -> np.ndarray:
    """Return the value of each position (float64 [positions]); SetupError without captum.

    Args:
        model: called with the tensors of `sequence`; returns scores [1].
        embeddings: its layer that turns ids into vectors.
        sequence: ids of the word pieces, int64 [1, positions], and the model's other arguments.
        baseline_ids: ids at the other end, int64 [1, positions].
        steps: points of the integral.
    """
    try:
        from captum.attr import LayerIntegratedGradients
    except ImportError:
        raise SetupError(
            "attributions need the package captum; make run installs requirements.lock"
        ) from None
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    input_ids, *model_arguments = sequence
    method: Any = LayerIntegratedGradients(model, embeddings)
    attributions = method.attribute(
        input_ids,
        baselines=baseline_ids,
        additional_forward_args=tuple(model_arguments) or None,
        n_steps=steps,
        internal_batch_size=max(1, PIECES_AT_ONCE // input_ids.shape[1]),
    )
    values: np.ndarray = attributions.detach().double().sum(dim=-1)[0].cpu().numpy()
    return values


def end_scores(
    model: nn.Module, embeddings: nn.Module, sequence: tuple[Tensor, ...], baseline_ids: Tensor
) -> tuple[float, float]:
    """Return the scores at both ends of the path."""
    with torch.no_grad():
        score = float(model(*sequence))
        # At the baseline only the vectors are replaced: with the baseline's ids, a model that counts positions by
        # what is not padding would not be at the path's end.
        vectors = embeddings(baseline_ids)
        with embeddings.register_forward_hook(lambda *_: vectors):
            return score, float(model(*sequence))
