"""Kernel pooling (Xiong et al., SIGIR 2017, section 3.1): how many document words are how similar to each query word.

With similarities M, kernel k of mean μ and deviation σ, and query word i:

    K_k(M_i) = Σ_j exp(−(M_ij − μ_k)² / 2σ_k²)          (soft term frequency)
    φ_k      = Σ_i s · log max(K_k(M_i), 10⁻¹⁰)

The paper's kernels: one counts exact matches, with μ = 1 and σ = 0.001; the means of the other ten are the middles of
equal intervals of [−1, 1], with σ = 0.1. s is 0.01 in the released code, and not in the paper; the paper does not say
what becomes of log 0 either.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

MEANS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9)
DEVIATIONS = (1e-3, *[0.1] * 10)
LOG_SCALE = 0.01
"""Factor of the logarithms (the released code's)."""
SMALLEST = 1e-10
"""Soft term frequencies are at least this (as in the released code)."""


class KernelPooling(nn.Module):
    """Features of a matrix of similarities."""

    means: Tensor
    deviations: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("means", torch.tensor(MEANS), persistent=False)
        self.register_buffer("deviations", torch.tensor(DEVIATIONS), persistent=False)

    def forward(self, similarity: Tensor, query: Tensor, document: Tensor) -> Tensor:
        """Return φ, float [pairs, kernels].

        Args:
            similarity: float [pairs, query words, document words].
            query, document: bool [pairs, words]; where there are words. Others count nothing.
        """
        distance = (similarity.unsqueeze(-1) - self.means) / self.deviations
        soft = torch.exp(-0.5 * distance**2) * document[:, None, :, None]
        logarithms = soft.sum(dim=2).clamp(min=SMALLEST).log() * LOG_SCALE
        return (logarithms * query[:, :, None]).sum(dim=1)
