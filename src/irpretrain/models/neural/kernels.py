"""Kernel pooling (Xiong et al., SIGIR 2017, section 3.1): how many document words are how similar to each query word.

With similarities M, kernel k of mean μ and deviation σ, and query word i:

    K_k(M_i) = Σ_j exp(−(M_ij − μ_k)² / 2σ_k²)          (soft term frequency)
    φ_k      = Σ_i s · log max(K_k(M_i), 10⁻¹⁰)

s is 0.01 in the released code, and not in the paper; the paper does not say what becomes of log 0 either.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from irpretrain.config.neural import KernelConfig

SMALLEST = 1e-10
"""Soft term frequencies are at least this (as in the released code)."""


class KernelPooling(nn.Module):
    """Features of a matrix of similarities."""

    means: Tensor
    deviations: Tensor

    def __init__(self, options: KernelConfig) -> None:
        super().__init__()
        means, deviations = kernels(options.kernels, options.sigma, options.exact_sigma)
        self.register_buffer("means", torch.tensor(means), persistent=False)
        self.register_buffer("deviations", torch.tensor(deviations), persistent=False)
        self._scale = options.log_scale

    def forward(self, similarity: Tensor, query: Tensor, document: Tensor) -> Tensor:
        """Return φ, float [pairs, kernels].

        Args:
            similarity: float [pairs, query words, document words].
            query, document: bool [pairs, words]; where there are words. Others count nothing.
        """
        distance = (similarity.unsqueeze(-1) - self.means) / self.deviations
        soft = torch.exp(-0.5 * distance**2) * document[:, None, :, None]
        logarithms = soft.sum(dim=2).clamp(min=SMALLEST).log() * self._scale
        return (logarithms * query[:, :, None]).sum(dim=1)


def kernels(number: int, sigma: float, exact_sigma: float) -> tuple[list[float], list[float]]:
    """Return means and deviations: of exact matches first, then the middles of number − 1 equal intervals of [−1, 1],
    falling. Of 11 they are 1, 0.9, 0.7, … −0.9."""
    width = 2 / (number - 1)
    means = [1.0, *(1 - width / 2 - width * place for place in range(number - 1))]
    return means, [exact_sigma, *[sigma] * (number - 1)]
