"""DRMM: Guo, Fan, Ai, Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016.

For each query word i, h_i is the histogram of its similarities with the document's words: bins − 1 equal bins over
[−1, 1) and one that counts equal words, as log-counts ln(1 + n). A small network scores it, a gate weighs the words:

    z_i = tanh(… tanh(W h_i + b) …),   g_i = exp(w · x_i) / Σ_j exp(w · x_j),   f(q, d) = Σ_i g_i z_i

x_i is the word's idf, ln(documents / documents that hold it), or its vector.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from irpretrain.config.neural import DrmmConfig
from irpretrain.models.neural.ranker import NeuralRanker, WordVectorTable, present, similarities
from irpretrain.text.vocabulary import Vocabulary


class Drmm(NeuralRanker):
    """DRMM; a query without words has the score 0."""

    idf: Tensor

    def __init__(self, options: DrmmConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = WordVectorTable(len(vocabulary), dimensions, trained=False)
        self.register_buffer("idf", torch.zeros(len(vocabulary) + 1))
        sizes = [options.bins, *options.hidden, 1]
        self.matching = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.gate = nn.Linear(1 if options.gate == "idf" else dimensions, 1, bias=False)
        self._bins, self._kind, self._by_idf = options.bins, options.histogram, options.gate == "idf"

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the scores of pairs; see `NeuralRanker.scores`."""
        matched = self.histograms(query, document)
        for layer in self.matching:
            matched = torch.tanh(layer(matched))
        return (self._gates(query) * matched.squeeze(-1)).sum(dim=1)

    @torch.no_grad()
    def histograms(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the histograms, float32 [pairs, query words, bins]."""
        # In double precision: a similarity must not change its bin with the shape of the product that it comes from.
        cosine = similarities(self.vectors(query).double(), self.vectors(document).double())
        bins = ((cosine + 1) / 2 * (self._bins - 1)).floor().long().clamp(0, self._bins - 2)
        bins = bins.masked_fill(query[:, :, None] == document[:, None, :], self._bins - 1)
        there = present(document)
        counts = cosine.new_zeros(*query.shape, self._bins)
        counts.scatter_add_(2, bins, there[:, None, :].expand_as(bins).to(counts.dtype))
        if self._kind == "log-count":
            counts = counts.log1p()
        elif self._kind == "normalised":
            counts = counts / there.sum(dim=1).clamp(min=1)[:, None, None]
        return counts.float()

    def _gates(self, query: Tensor) -> Tensor:
        """Return the weights of a query's words, float [pairs, query words]; 0 for padding."""
        there = present(query)
        inputs = self.idf[query].unsqueeze(-1) if self._by_idf else self.vectors(query)
        logits = self.gate(inputs).squeeze(-1).masked_fill(~there, -torch.inf)
        # A query without words has no largest logit to subtract.
        largest = logits.amax(dim=1, keepdim=True).clamp(min=torch.finfo(logits.dtype).min)
        weights = torch.exp(logits - largest.detach())
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
