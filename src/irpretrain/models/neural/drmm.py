"""DRMM: Guo, Fan, Ai, Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016; variant LCH × IDF.

For query word i, h_i is the histogram of its similarities with the document's words: 29 equal bins over [−1, 1) and one
for equal words, as log-counts ln(1 + n). A network with a hidden layer of 5 units scores it; a gate weighs the words by
idf = ln(documents / documents with the word):

    z_i = tanh(W_2 tanh(W_1 h_i + b_1) + b_2),   g_i = exp(w · idf_i) / Σ_j exp(w · idf_j),   f(q, d) = Σ_i g_i z_i
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from irpretrain.config.finetuning import NeuralConfig
from irpretrain.models.neural.ranker import NeuralRanker, present, similarities, word_vectors
from irpretrain.text.vocabulary import Vocabulary

# Of a histogram; the last one counts equal words.
BINS = 30

# Units of the matching network's hidden layer.
HIDDEN = 5


class Drmm(NeuralRanker):
    """DRMM; a query without words has the score 0."""

    idf: Tensor

    def __init__(self, options: NeuralConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = word_vectors(len(vocabulary), dimensions, trained=False)
        self.register_buffer("idf", torch.zeros(len(vocabulary) + 1))
        self.matching = nn.ModuleList([nn.Linear(BINS, HIDDEN), nn.Linear(HIDDEN, 1)])
        self.gate = nn.Linear(1, 1, bias=False)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        matched = self.histograms(query, document)
        for layer in self.matching:
            matched = torch.tanh(layer(matched))
        return (self._gates(query) * matched.squeeze(-1)).sum(dim=1)

    @torch.no_grad()
    def histograms(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the histograms, float32 [pairs, query words, bins]."""
        # In double precision: a similarity must not change its bin with the shape of the product that it comes from.
        cosine = similarities(self.vectors(query).double(), self.vectors(document).double())
        bins = ((cosine + 1) / 2 * (BINS - 1)).floor().long().clamp(0, BINS - 2)
        bins = bins.masked_fill(query[:, :, None] == document[:, None, :], BINS - 1)
        counts = cosine.new_zeros(*query.shape, BINS)
        counts.scatter_add_(2, bins, present(document)[:, None, :].expand_as(bins).to(counts.dtype))
        return counts.log1p().float()

    def _gates(self, query: Tensor) -> Tensor:
        """Return the weights of a query's words, float [pairs, query words]; 0 for padding."""
        there = present(query)
        logits = self.gate(self.idf[query].unsqueeze(-1)).squeeze(-1).masked_fill(~there, -torch.inf)
        # A query without words has no largest logit to subtract.
        largest = logits.amax(dim=1, keepdim=True).clamp(min=torch.finfo(logits.dtype).min)
        weights = torch.exp(logits - largest.detach())
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
