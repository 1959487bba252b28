"""KNRM and Conv-KNRM: kernel pooling over word similarities.

Kernel pooling (Xiong et al., SIGIR 2017, section 3.1): how many document words are how similar to each query word.

With similarities M, kernel k of mean μ and deviation σ, and query word i:

    K_k(M_i) = Σ_j exp(−(M_ij − μ_k)² / 2σ_k²)          (soft term frequency)
    φ_k      = Σ_i s · log max(K_k(M_i), 10⁻¹⁰)

The paper's kernels: one for exact matches, with μ = 1 and σ = 0.001; the means of the other ten are the middles of
equal intervals of [−1, 1], with σ = 0.1. s is 0.01 in the released code; the paper has neither s nor a rule for log 0.
"""

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.finetuning import NeuralConfig
from irpretrain.models.neural.ranker import NeuralRanker, similarities, word_mask, word_vectors
from irpretrain.text.vocabulary import Vocabulary

MEANS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9)
DEVIATIONS = (1e-3, *[0.1] * 10)

# Factor of the logarithms (the released code's).
LOG_SCALE = 0.01

# Soft term frequencies are at least this (as in the released code).
MIN_FREQUENCY = 1e-10


class KernelPooling(nn.Module):
    means: Tensor
    deviations: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("means", torch.tensor(MEANS), persistent=False)
        self.register_buffer("deviations", torch.tensor(DEVIATIONS), persistent=False)

    def forward(self, similarity: Tensor, query_mask: Tensor, document_mask: Tensor) -> Tensor:
        """Return φ, float [pairs, kernels], of similarities [pairs, query words, document words].

        `query_mask` and `document_mask`, bool [pairs, words], mark words; padding counts nothing.
        """
        distance = (similarity.unsqueeze(-1) - self.means) / self.deviations
        soft_matches = torch.exp(-0.5 * distance**2) * document_mask[:, None, :, None]
        log_frequencies = soft_matches.sum(dim=2).clamp(min=MIN_FREQUENCY).log() * LOG_SCALE
        return (log_frequencies * query_mask[:, :, None]).sum(dim=1)


# KNRM: Xiong, Dai, Callan, Liu, Power, "End-to-End Neural Ad-hoc Ranking with Kernel Pooling", SIGIR 2017.
#
# M_ij = cos(v(q_i), v(d_j)), f(q, d) = tanh(w · φ(M) + b)
#
# with φ of `KernelPooling`. The word vectors are learned with w and b (section 3.2).


class Knrm(NeuralRanker):
    """KNRM; of a query without words the score is tanh(b)."""

    def __init__(self, options: NeuralConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = word_vectors(len(vocabulary), dimensions, is_trained=True)
        self.pooling = KernelPooling()
        self.combine = nn.Linear(len(MEANS), 1)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        similarity = similarities(self.vectors(query), self.vectors(document))
        features = self.pooling(similarity, word_mask(query), word_mask(document))
        return torch.tanh(self.combine(features).squeeze(-1))


# Conv-KNRM: Dai, Xiong, Callan, Liu, "Convolutional Neural Networks for Soft-Matching N-Grams in Ad-hoc Search", WSDM
# 2018.
#
#     g_i^h = relu(W_h · v(t_i) … v(t_{i+h−1}) + b_h),   M^{h,h'}_ij = cos(g_i^h(q), g_j^h'(d))
#     f(q, d) = tanh(w · [φ(M^{h,h'}) for all h, h'] + b)
#
# for h and h' from 1 to 3 words, with φ of `KernelPooling`; a vector g has 128 numbers, as in the paper. At the end of
# a text, n-grams are filled up with zero vectors, so that a text of n words has n of each length, whatever it is padded
# with.


# Longest n-gram, in words.
MAX_NGRAM_LENGTH = 3

# Size of an n-gram's vector.
FILTER_COUNT = 128


class ConvKnrm(NeuralRanker):
    """Conv-KNRM; of a query without words the score is tanh(b)."""

    def __init__(self, options: NeuralConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = word_vectors(len(vocabulary), dimensions, is_trained=True)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dimensions, FILTER_COUNT, length) for length in range(1, MAX_NGRAM_LENGTH + 1)
        )
        self.pooling = KernelPooling()
        self.combine = nn.Linear(len(MEANS) * MAX_NGRAM_LENGTH**2, 1)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        masks = word_mask(query), word_mask(document)
        features = [
            self.pooling(similarities(query_ngrams, document_ngrams), *masks)
            for query_ngrams, document_ngrams in itertools.product(
                self._ngrams(query), self._ngrams(document)
            )
        ]
        return torch.tanh(self.combine(torch.cat(features, dim=1)).squeeze(-1))

    def _ngrams(self, words: Tensor) -> list[Tensor]:
        vectors = self.vectors(words).transpose(1, 2)
        return [
            functional.relu(convolution(functional.pad(vectors, (0, added_words)))).transpose(1, 2)
            for added_words, convolution in enumerate(self.convolutions)
        ]


# DRMM: Guo, Fan, Ai, Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016; variant LCH × IDF.
#
# For query word i, h_i is the histogram of its similarities with the document's words: 29 equal bins over [−1, 1) and
# one for equal words, as log-counts ln(1 + n). A network with a hidden layer of 5 units scores it; a gate weighs the
# words by idf = ln(documents / documents with the word):
#
# z_i = tanh(W_2 tanh(W_1 h_i + b_1) + b_2), g_i = exp(w · idf_i) / Σ_j exp(w · idf_j), f(q, d) = Σ_i g_i z_i


# Of a histogram; the last one counts equal words.
BIN_COUNT = 30

# Units of the matching network's hidden layer.
HIDDEN_SIZE = 5


class Drmm(NeuralRanker):
    """DRMM; a query without words has the score 0."""

    idf: Tensor

    def __init__(self, options: NeuralConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__(options, vocabulary, dimensions)
        self.vectors = word_vectors(len(vocabulary), dimensions, is_trained=False)
        self.register_buffer("idf", torch.zeros(len(vocabulary) + 1))
        self.matching = nn.ModuleList([nn.Linear(BIN_COUNT, HIDDEN_SIZE), nn.Linear(HIDDEN_SIZE, 1)])
        self.gate = nn.Linear(1, 1, bias=False)

    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        match_states = self.histograms(query, document)
        for layer in self.matching:
            match_states = torch.tanh(layer(match_states))
        return (self._gates(query) * match_states.squeeze(-1)).sum(dim=1)

    @torch.no_grad()
    def histograms(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the histograms, float32 [pairs, query words, bins]."""
        # In double precision: a similarity must not change its bin with the shape of the product that it comes from.
        cosine = similarities(self.vectors(query).double(), self.vectors(document).double())
        bins = ((cosine + 1) / 2 * (BIN_COUNT - 1)).floor().long().clamp(0, BIN_COUNT - 2)
        bins = bins.masked_fill(query[:, :, None] == document[:, None, :], BIN_COUNT - 1)
        counts = cosine.new_zeros(*query.shape, BIN_COUNT)
        counts.scatter_add_(2, bins, word_mask(document)[:, None, :].expand_as(bins).to(counts.dtype))
        return counts.log1p().float()

    def _gates(self, query: Tensor) -> Tensor:
        is_word = word_mask(query)
        logits = self.gate(self.idf[query].unsqueeze(-1)).squeeze(-1).masked_fill(~is_word, -torch.inf)
        # A query without words has no largest logit to subtract.
        max_logits = logits.amax(dim=1, keepdim=True).clamp(min=torch.finfo(logits.dtype).min)
        weights = torch.exp(logits - max_logits.detach())
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
