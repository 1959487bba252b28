"""KNRM: Xiong, Dai, Callan, Liu, Power, "End-to-End Neural Ad-hoc Ranking with Kernel Pooling", SIGIR 2017.

    M_ij = cos(v(q_i), v(d_j)),   f(q, d) = tanh(w · φ(M) + b)

with φ of `kernels`. The word vectors are learned with w and b (section 3.2).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from irpretrain.config.neural import KnrmConfig
from irpretrain.models.neural.kernels import MEANS, KernelPooling
from irpretrain.models.neural.ranker import NeuralRanker, present, similarities, word_vectors
from irpretrain.text.vocabulary import Vocabulary


class Knrm(NeuralRanker):
    """KNRM; of a query without words the score is tanh(b)."""

    def __init__(self, options: KnrmConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = word_vectors(len(vocabulary), dimensions, trained=True)
        self.pooling = KernelPooling()
        self.combine = nn.Linear(len(MEANS), 1)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the scores of pairs; see `NeuralRanker.scores`."""
        similarity = similarities(self.vectors(query), self.vectors(document))
        features = self.pooling(similarity, present(query), present(document))
        return torch.tanh(self.combine(features).squeeze(-1))
