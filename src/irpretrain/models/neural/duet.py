"""Duet: Mitra, Diaz, Craswell, "Learning to Match Using Local and Distributed Representations of Text for Web Search",
WWW 2017; its second version: Mitra, Craswell, "An Updated Duet Model for Passage Re-ranking", arXiv 1903.07666, 2019.

Both texts have fixed lengths, n_q and n_d words, cut or filled up with padding. Every layer has `hidden` units; a is
the activation. The local model reads which words are equal:

    X_ij = 1 (or idf) where q_i = d_j;   u_i = a(W_0 X_i);   h_local = a(W_2 a(W_1 [u_1 … u_{n_q}]))

The distributed model reads windows of words, each a bag of frequent character n-graphs or its vector:

    e_q = a(V_1 max_t a(C_q [x_t … x_{t+w−1}]))
    e_d,p = a(V_2 max_{p ≤ t < p + pooling} a(C_d [x_t … x_{t+w−1}])),   p = 1 … n_d − w − pooling + 2
    h_distributed = a(W_4 a(W_3 [e_q ∘ e_d,1 …]))

Score, version 1 (`combination: sum`): tanh(w_l · h_local + b_l) + tanh(w_d · h_distributed + b_d), with dropout on h.
Version 2 (`network`): 0.1 · (w · a(W_6 a(W_5 (h_local + h_distributed))) + b), with dropout before every layer but the
convolutions; the released code has a ReLU around the score too, under which all documents at 0 tie, and ours has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.neural import DuetOptions
from irpretrain.models.neural.ngraph_convolution import NgraphConvolution
from irpretrain.models.neural.ranker import NeuralRanker, WordVectorTable, present
from irpretrain.text.ngraphs import number_ngraphs
from irpretrain.text.vocabulary import Vocabulary

SCALE = 0.1
"""Of the score of version 2."""
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "relu": functional.relu}


class Duet(NeuralRanker):
    """Duet, both versions; a text without words is nothing but padding.

    Args:
        ngraphs: the character n-graphs that the distributed model tells apart; none where it reads word vectors.
    """

    idf: Tensor
    ngraph_numbers: Tensor
    ngraph_offsets: Tensor

    def __init__(
        self,
        options: DuetOptions,
        vocabulary: Vocabulary,
        dimensions: int,
        ngraphs: Sequence[str] = (),
    ) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.sizes = options
        self._ngraphs = list(ngraphs)
        self._activate = ACTIVATIONS[options.activation]
        self._summed = options.combination == "sum"
        hidden = options.hidden
        if options.matches == "idf":
            self.register_buffer("idf", torch.zeros(len(vocabulary) + 1))
        self._add_word_inputs()
        self.local_windows = nn.Linear(options.document_words, hidden)
        self.local_first = nn.Linear(hidden * options.query_words, hidden)
        self.local_second = nn.Linear(hidden, hidden)
        self.query_layer = nn.Linear(hidden, hidden)
        self.document_layer = nn.Linear(hidden, hidden)
        pools = options.document_words - options.window - options.pooling + 2
        self.distributed_first = nn.Linear(hidden * pools, hidden)
        self.distributed_second = nn.Linear(hidden, hidden)
        if self._summed:
            self.local_score, self.distributed_score = nn.Linear(hidden, 1), nn.Linear(hidden, 1)
        else:
            self.network_first, self.network_second = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
            self.network_score = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(options.dropout)

    def _add_word_inputs(self) -> None:
        """Make what turns words into windows: of n-graphs, or of vectors."""
        options, hidden = self.sizes, self.sizes.hidden
        if options.distributed == "words":
            self.vectors = WordVectorTable(
                len(self.vocabulary), self.dimensions, options.embeddings == "trained"
            )
            self.query_windows: nn.Module = nn.Conv1d(self.dimensions, hidden, options.window)
            self.document_windows: nn.Module = nn.Conv1d(self.dimensions, hidden, options.window)
            return
        # Padding, the id 0, is a word without n-graphs.
        numbers, offsets = number_ngraphs(["", *self.vocabulary.words], self._ngraphs, options.ngraph_length)
        empty = int(offsets[1])
        self.register_buffer("ngraph_numbers", torch.from_numpy(numbers[empty:]), persistent=False)
        self.register_buffer(
            "ngraph_offsets", torch.from_numpy(offsets - empty).clamp(min=0), persistent=False
        )
        self.query_windows = NgraphConvolution(len(self._ngraphs), hidden, options.window)
        self.document_windows = NgraphConvolution(len(self._ngraphs), hidden, options.window)

    def facts(self) -> dict[str, Any]:
        """Return what a saved Duet needs beside its options: the n-graphs."""
        return {"ngraphs": self._ngraphs} if self._ngraphs else {}

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the scores of pairs; see `NeuralRanker.scores`."""
        query = _fixed(query, self.sizes.query_words)
        document = _fixed(document, self.sizes.document_words)
        local, distributed = self._local(query, document), self._distributed(query, document)
        if self._summed:
            first, second = (
                self.local_score(self.dropout(local)),
                self.distributed_score(self.dropout(distributed)),
            )
            return (torch.tanh(first) + torch.tanh(second)).squeeze(-1)
        states = self._activate(self.network_first(self.dropout(local) + self.dropout(distributed)))
        states = self._activate(self.network_second(self.dropout(states)))
        return SCALE * self.network_score(self.dropout(states)).squeeze(-1)

    def _local(self, query: Tensor, document: Tensor) -> Tensor:
        equal = (query[:, :, None] == document[:, None, :]) & present(query)[:, :, None]
        matches = equal.float()
        if self.sizes.matches == "idf":
            largest = self.idf.max().clamp(min=torch.finfo(self.idf.dtype).tiny)
            matches = matches * (self.idf / largest)[query][:, :, None]
        states = self._activate(self.local_windows(matches)).flatten(1)
        return self._two_layers(states, self.local_first, self.local_second)

    def _distributed(self, query: Tensor, document: Tensor) -> Tensor:
        of_query = self._activate(self._windows(query, self.query_windows)).amax(dim=1)
        of_query = self._activate(self.query_layer(of_query))
        windows = self._activate(self._windows(document, self.document_windows)).transpose(1, 2)
        pooled = functional.max_pool1d(windows, self.sizes.pooling, stride=1).transpose(1, 2)
        states = self._activate(self.document_layer(pooled)) * of_query[:, None, :]
        return self._two_layers(states.flatten(1), self.distributed_first, self.distributed_second)

    def _windows(self, ids: Tensor, convolution: nn.Module) -> Tensor:
        """Return the convolution over windows of words: float [texts, windows, hidden]."""
        if self.sizes.distributed == "words":
            windows: Tensor = convolution(self.vectors(ids).transpose(1, 2)).transpose(1, 2)
        else:
            windows = convolution(ids, self.ngraph_numbers, self.ngraph_offsets)
        return windows

    def _two_layers(self, states: Tensor, first: nn.Module, second: nn.Module) -> Tensor:
        """Apply two layers; version 2 drops before each of them."""
        for layer in (first, second):
            states = self._activate(layer(states if self._summed else self.dropout(states)))
        return states


def _fixed(ids: Tensor, words: int) -> Tensor:
    """Return ids [texts, words], cut or filled up with padding."""
    return functional.pad(ids[:, :words], (0, max(words - ids.shape[1], 0)))
