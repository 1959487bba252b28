"""Conv-KNRM: Dai, Xiong, Callan, Liu, "Convolutional Neural Networks for Soft-Matching N-Grams in Ad-hoc Search", WSDM
2018.

    g_i^h = relu(W_h · v(t_i) … v(t_{i+h−1}) + b_h),   M^{h,h'}_ij = cos(g_i^h(q), g_j^h'(d))
    f(q, d) = tanh(w · [φ(M^{h,h'}) for all h, h'] + b)

for h and h' from 1 to 3 words, with φ of `kernels`; a vector g has 128 numbers, as in the paper. At the end of a text,
n-grams are filled up with zero vectors, so that a text of n words has n of each length, whatever it is padded with.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.neural import ConvKnrmConfig
from irpretrain.models.neural.kernels import MEANS, KernelPooling
from irpretrain.models.neural.ranker import NeuralRanker, present, similarities, word_vectors
from irpretrain.text.vocabulary import Vocabulary

NGRAMS = 3
"""Longest n-gram, in words."""
FILTERS = 128
"""Size of an n-gram's vector."""


class ConvKnrm(NeuralRanker):
    """Conv-KNRM; of a query without words the score is tanh(b)."""

    def __init__(self, options: ConvKnrmConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = word_vectors(len(vocabulary), dimensions, trained=True)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dimensions, FILTERS, length) for length in range(1, NGRAMS + 1)
        )
        self.pooling = KernelPooling()
        self.combine = nn.Linear(len(MEANS) * NGRAMS**2, 1)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the scores of pairs; see `NeuralRanker.scores`."""
        there = present(query), present(document)
        features = [
            self.pooling(similarities(of_query, of_document), *there)
            for of_query, of_document in itertools.product(self._ngrams(query), self._ngrams(document))
        ]
        return torch.tanh(self.combine(torch.cat(features, dim=1)).squeeze(-1))

    def _ngrams(self, words: Tensor) -> list[Tensor]:
        """Return the vectors of the n-grams of each length: float [pairs, words, filters]."""
        vectors = self.vectors(words).transpose(1, 2)
        ngrams = []
        for beyond, convolution in enumerate(self.convolutions):
            padded = functional.pad(vectors, (0, beyond))
            ngrams.append(functional.relu(convolution(padded)).transpose(1, 2))
        return ngrams
