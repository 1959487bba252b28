"""Conv-KNRM: Dai, Xiong, Callan, Liu, "Convolutional Neural Networks for Soft-Matching N-Grams in Ad-hoc Search", WSDM
2018.

    g_i^h = relu(W_h · v(t_i) … v(t_{i+h−1}) + b_h),   M^{h,h'}_ij = cos(g_i^h(q), g_j^h'(d))
    f(q, d) = tanh(w · [φ(M^{h,h'}) for all h, h'] + b)

for h and h' from 1 to `ngrams`, with φ of `kernels`. At the end of a text, n-grams are filled up with zero vectors, so
that a text of n words has n of each length, whatever it is padded with.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.neural import ConvKnrmConfig
from irpretrain.models.neural.kernels import KernelPooling
from irpretrain.models.neural.ranker import NeuralRanker, WordVectorTable, present, similarities
from irpretrain.text.vocabulary import Vocabulary


class ConvKnrm(NeuralRanker):
    """Conv-KNRM; of a query without words the score is tanh(b)."""

    def __init__(self, options: ConvKnrmConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = WordVectorTable(len(vocabulary), dimensions, options.embeddings == "trained")
        lengths = range(1, options.ngrams + 1)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dimensions, options.filters, length) for length in lengths
        )
        self.pooling = KernelPooling(options)
        self._pairs = [(a, b) for a in range(options.ngrams) for b in range(options.ngrams)]
        if not options.cross_match:
            self._pairs = [(a, b) for a, b in self._pairs if a == b]
        self.combine = nn.Linear(options.kernels * len(self._pairs), 1)
        self._tanh = options.score == "tanh"

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the scores of pairs; see `NeuralRanker.scores`."""
        of_query, of_document = self._ngrams(query), self._ngrams(document)
        there = present(query), present(document)
        features = [self.pooling(similarities(of_query[a], of_document[b]), *there) for a, b in self._pairs]
        score = self.combine(torch.cat(features, dim=1)).squeeze(-1)
        return torch.tanh(score) if self._tanh else score

    def _ngrams(self, words: Tensor) -> list[Tensor]:
        """Return the vectors of the n-grams of each length: float [pairs, words, filters]."""
        vectors = self.vectors(words).transpose(1, 2)
        ngrams = []
        for beyond, convolution in enumerate(self.convolutions):
            padded = functional.pad(vectors, (0, beyond))
            ngrams.append(functional.relu(convolution(padded)).transpose(1, 2))
        return ngrams
