"""The contrastive term distribution of a document, spelt out: what the compiled draws are held against."""

import numpy as np

from irpretrain.axioms.contrastive import NO_WORD, ContrastiveModel


def distribution(model: ContrastiveModel, rows: np.ndarray, temperature: float, support: str) -> np.ndarray:
    """Return P(w|θ_contrastive) (equations 3 to 6) of a document by its WORD_COUNTS rows; 0 outside the support."""
    numbers = model.position_of[rows]
    counts = np.bincount(numbers[numbers != NO_WORD], minlength=len(model.words))
    document = (counts + model.mu * model.background) / (counts.sum() + model.mu)
    gamma = document * -np.log(model.background)
    held = counts > 0 if support == "document" else np.full(len(counts), counts.any())
    weights = np.zeros(len(counts))
    if held.any():
        weights[held] = np.exp((gamma[held] - gamma[held].max()) / temperature)
        weights /= weights.sum()
    return weights
