"""CEDR-KNRM: KNRM's kernels over every layer of the encoder, beside [CLS] (MacAvaney, Yates, Cohan, Goharian, "CEDR:
Contextualized Embeddings for Document Ranking", SIGIR 2019).

    M^l_ij = cos(h^l(q_i), h^l(d_j)),   l = 0 (embeddings) … layers
    φ_kl   = Σ_i log(Σ_j exp(−(M^l_ij − μ_k)² / 2σ_k²) + 10⁻⁶)
    f      = w · [φ, h^last([CLS])] + b

q_i and d_j are word pieces without special tokens. Kernels, their means and deviations, which are trained too, and 10⁻⁶
are the released code's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import BertConfig

from irpretrain.models.neural.kernels import DEVIATIONS, MEANS
from irpretrain.models.parameters import initialise

SMALLEST = 1e-6
"""Added to a soft term frequency before its logarithm."""


class CedrKnrmHead(nn.Module):
    """Scores from the hidden states of all layers.

    Args:
        config: of the encoder.
        seed: of the fresh parameters; they depend on nothing else.
    """

    def __init__(self, config: BertConfig, seed: int) -> None:
        super().__init__()
        self.means = nn.Parameter(torch.tensor(MEANS))
        self.deviations = nn.Parameter(torch.tensor(DEVIATIONS))
        features = len(MEANS) * (config.num_hidden_layers + 1) + config.hidden_size
        with torch.random.fork_rng(devices=[]):  # the draws are replaced; see `initialise`
            self.combine = nn.Linear(features, 1)
        initialise(self, {"combine.weight", "combine.bias"}, config.initializer_range, seed)

    def forward(self, layers: Sequence[Tensor], token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return scores, float [sequences]; always in single precision, as `NeuralRanker` does and for its reason.

        Args:
            layers: hidden states, embeddings first, each float [sequences, positions, hidden size].
            token_type_ids, attention_mask: int64 [sequences, positions].
        """
        query, document = text_positions(token_type_ids, attention_mask)
        longest = int(query.sum(1).max())
        asked = query[:, 1 : 1 + longest]
        with torch.autocast(query.device.type, enabled=False):
            features = [self._kernels(hidden.float(), asked, document) for hidden in layers]
            return self.combine(torch.cat([*features, layers[-1][:, 0].float()], dim=1)).squeeze(-1)

    def _kernels(self, hidden: Tensor, asked: Tensor, document: Tensor) -> Tensor:
        """Return the features of one layer, float [sequences, kernels]."""
        directions = nn.functional.normalize(hidden, dim=-1, eps=1e-9)
        similarity = directions[:, 1 : 1 + asked.shape[1]] @ directions.transpose(1, 2)
        logarithms = []
        for mean, deviation in zip(self.means, self.deviations, strict=True):
            soft = torch.exp(-0.5 * ((similarity - mean) / deviation) ** 2) * document[:, None]
            logarithms.append(((soft.sum(2) + SMALLEST).log() * asked).sum(1))
        return torch.stack(logarithms, dim=1)


def text_positions(token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return where query and document stand without special tokens, bool [sequences, positions] each: each position of
    a text that the next one follows in the same text, but [CLS]."""
    real, second = attention_mask.bool(), token_type_ids.bool()
    query, document = real & ~second, real & second
    following = nn.functional.pad(torch.stack([query, document]), (0, 1))[:, :, 1:]
    query, document = query & following[0], document & following[1]
    query[:, 0] = False
    return query, document
