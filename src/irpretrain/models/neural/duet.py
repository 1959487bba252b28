"""Duet and Duet v2, and their convolution over character n-graphs."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.finetuning import POOLING, WINDOW, NeuralConfig
from irpretrain.models.neural.ranker import NeuralRanker, word_mask, word_vectors
from irpretrain.text.vocabulary import Vocabulary, number_ngraphs


class NgraphConvolution(nn.Module):
    """out_t = Σ_k W_k x_{t+k} + b, 0 ≤ k < window; x counts a word's n-graphs; W is [outputs, n-graphs, window].

    The long, sparse vectors x are never made.
    """

    def __init__(self, ngraph_count: int, output_count: int, window: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(output_count, ngraph_count, window))
        self.bias = nn.Parameter(torch.zeros(output_count))

    def forward(self, ids: Tensor, ngraph_ids: Tensor, offsets: Tensor) -> Tensor:
        """Return float [texts, words − window + 1, outputs] for ids, int64 [texts, words].

        The n-graphs of the word with id i are numbers[offsets[i] : offsets[i + 1]].
        """
        output_count, ngraph_count, window = self.weight.shape
        distinct_ids, inverse = torch.unique(ids, return_inverse=True)
        word_offsets, lengths = offsets[distinct_ids], offsets[distinct_ids + 1] - offsets[distinct_ids]
        starts = torch.cumsum(lengths, 0) - lengths
        positions_in_word = torch.arange(int(lengths.sum()), device=ids.device) - torch.repeat_interleave(
            starts, lengths
        )
        word_ngraphs = ngraph_ids[torch.repeat_interleave(word_offsets, lengths) + positions_in_word]
        table = self.weight.permute(1, 2, 0).reshape(ngraph_count, window * output_count)
        word_sums = functional.embedding_bag(word_ngraphs, table, starts, mode="sum")
        word_outputs = functional.embedding(inverse, word_sums).view(*ids.shape, window, output_count)
        window_count = ids.shape[1] - window + 1
        shifted_outputs = [word_outputs[:, shift : shift + window_count, shift] for shift in range(window)]
        return torch.stack(shifted_outputs).sum(dim=0) + self.bias


# Duet: Mitra, Diaz, Craswell, "Learning to Match Using Local and Distributed Representations of Text for Web Search",
# WWW 2017; its second version: Mitra, Craswell, "An Updated Duet Model for Passage Re-ranking", arXiv 1903.07666,
# 2019.
#
# Both texts have fixed lengths, n_q and n_d words, cut or filled up with padding. Every layer has 300 units; a is
# tanh, in version 2 ReLU. The local model reads which words are equal:
#
# X_ij = 1 if q_i = d_j; u_i = a(W_0 X_i); h_local = a(W_2 a(W_1 [u_1 … u_{n_q}]))
#
# In version 2, X_ij is the word's idf over the largest idf. The distributed model reads windows of w = 3 words and
# takes maxima over r = 100 windows. x_t counts the word's character n-graphs, of the 2,000 most frequent ones of up
# to 5 characters; in version 2, x_t is the word's vector:
#
#     e_q = a(V_1 max_t a(C_q [x_t … x_{t+w−1}]))
#     e_d,p = a(V_2 max_{p ≤ t < p+r} a(C_d [x_t … x_{t+w−1}])),   p = 1 … n_d − w − r + 2
#     h_distributed = a(W_4 a(W_3 [e_q ∘ e_d,1 …]))
#
# Score, version 1: tanh(w_l · h_local + b_l) + tanh(w_d · h_distributed + b_d), with dropout 0.2 on h. Version 2: 0.1
# · (w · a(W_6 a(W_5 (h_local + h_distributed))) + b), with dropout 0.5 before every layer but the convolutions; the
# released code has a ReLU around the score too, under which all documents at 0 tie, and ours has none. The sizes are
# the papers'; dropout 0.2 is from the authors' notebook.

# Units of every layer.
HIDDEN_SIZE = 300

# Number of character n-graphs of version 1.
NGRAPH_COUNT = 2000

# Longest n-graph, in characters.
MAX_NGRAPH_LENGTH = 5

# Of the score of version 2.
SCORE_SCALE = 0.1


class Duet(NeuralRanker):
    """Duet; its version is that of the options' type. A text without words is nothing but padding."""

    idf: Tensor
    ngraph_ids: Tensor
    ngraph_offsets: Tensor

    def __init__(
        self,
        options: NeuralConfig,
        vocabulary: Vocabulary,
        dimensions: int,
        ngraphs: Sequence[str] = (),  # the character n-graphs of version 1; none in version 2
    ) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.ngraphs = list(ngraphs)
        self._is_second = options.type == "duet-v2"
        self._activate = functional.relu if self._is_second else torch.tanh
        self._add_word_inputs()
        self.local_windows = nn.Linear(options.document_words, HIDDEN_SIZE)
        self.local_first = nn.Linear(HIDDEN_SIZE * options.query_words, HIDDEN_SIZE)
        self.local_second = nn.Linear(HIDDEN_SIZE, HIDDEN_SIZE)
        self.query_layer = nn.Linear(HIDDEN_SIZE, HIDDEN_SIZE)
        self.document_layer = nn.Linear(HIDDEN_SIZE, HIDDEN_SIZE)
        pool_count = options.document_words - WINDOW - POOLING + 2
        self.distributed_first = nn.Linear(HIDDEN_SIZE * pool_count, HIDDEN_SIZE)
        self.distributed_second = nn.Linear(HIDDEN_SIZE, HIDDEN_SIZE)
        if self._is_second:
            self.network_first = nn.Linear(HIDDEN_SIZE, HIDDEN_SIZE)
            self.network_second = nn.Linear(HIDDEN_SIZE, HIDDEN_SIZE)
            self.network_score = nn.Linear(HIDDEN_SIZE, 1)
        else:
            self.local_score, self.distributed_score = nn.Linear(HIDDEN_SIZE, 1), nn.Linear(HIDDEN_SIZE, 1)
        self.dropout = nn.Dropout(0.5 if self._is_second else 0.2)

    def _add_word_inputs(self) -> None:
        if self._is_second:
            self.register_buffer("idf", torch.zeros(len(self.vocabulary) + 1))
            self.vectors = word_vectors(len(self.vocabulary), self.dimensions, is_trained=True)
            self.query_windows: nn.Module = nn.Conv1d(self.dimensions, HIDDEN_SIZE, WINDOW)
            self.document_windows: nn.Module = nn.Conv1d(self.dimensions, HIDDEN_SIZE, WINDOW)
            return
        # Padding, the id 0, is a word without n-graphs.
        ngraph_ids, offsets = number_ngraphs(["", *self.vocabulary.words], self.ngraphs, MAX_NGRAPH_LENGTH)
        padding_ngraphs = int(offsets[1])
        self.register_buffer("ngraph_ids", torch.from_numpy(ngraph_ids[padding_ngraphs:]), persistent=False)
        self.register_buffer(
            "ngraph_offsets", torch.from_numpy(offsets - padding_ngraphs).clamp(min=0), persistent=False
        )
        self.query_windows = NgraphConvolution(len(self.ngraphs), HIDDEN_SIZE, WINDOW)
        self.document_windows = NgraphConvolution(len(self.ngraphs), HIDDEN_SIZE, WINDOW)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        query = _pad_or_cut(query, self.options.query_words)
        document = _pad_or_cut(document, self.options.document_words)
        local, distributed = self._local(query, document), self._distributed(query, document)
        if self._is_second:
            states = self._activate(self.network_first(self.dropout(local) + self.dropout(distributed)))
            states = self._activate(self.network_second(self.dropout(states)))
            return SCORE_SCALE * self.network_score(self.dropout(states)).squeeze(-1)
        local_score = self.local_score(self.dropout(local))
        distributed_score = self.distributed_score(self.dropout(distributed))
        return (torch.tanh(local_score) + torch.tanh(distributed_score)).squeeze(-1)

    def _local(self, query: Tensor, document: Tensor) -> Tensor:
        is_equal = (query[:, :, None] == document[:, None, :]) & word_mask(query)[:, :, None]
        matches = is_equal.float()
        if self._is_second:
            largest_idf = self.idf.max().clamp(min=torch.finfo(self.idf.dtype).tiny)
            matches = matches * (self.idf / largest_idf)[query][:, :, None]
        states = self._activate(self.local_windows(matches)).flatten(1)
        return self._two_layers(states, self.local_first, self.local_second)

    def _distributed(self, query: Tensor, document: Tensor) -> Tensor:
        query_state = self._activate(self._windows(query, self.query_windows)).amax(dim=1)
        query_state = self._activate(self.query_layer(query_state))
        windows = self._activate(self._windows(document, self.document_windows)).transpose(1, 2)
        pooled = functional.max_pool1d(windows, POOLING, stride=1).transpose(1, 2)
        states = self._activate(self.document_layer(pooled)) * query_state[:, None, :]
        return self._two_layers(states.flatten(1), self.distributed_first, self.distributed_second)

    def _windows(self, ids: Tensor, convolution: nn.Module) -> Tensor:
        if self._is_second:
            windows: Tensor = convolution(self.vectors(ids).transpose(1, 2)).transpose(1, 2)
        else:
            windows = convolution(ids, self.ngraph_ids, self.ngraph_offsets)
        return windows

    def _two_layers(self, states: Tensor, first: nn.Module, second: nn.Module) -> Tensor:
        for layer in (first, second):
            states = self._activate(layer(self.dropout(states) if self._is_second else states))
        return states


def _pad_or_cut(ids: Tensor, word_count: int) -> Tensor:
    return functional.pad(ids[:, :word_count], (0, max(word_count - ids.shape[1], 0)))
