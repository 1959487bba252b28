"""A convolution over words that are bags of character n-graphs, without ever making their long, sparse vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class NgraphConvolution(nn.Module):
    """out_t = Σ_k W_k x_{t+k} + b, for k from 0 to window − 1, where x is how often a word holds each n-graph.

    W is kept as a `Conv1d` has it: [outputs, n-graphs, window].
    """

    def __init__(self, ngraphs: int, outputs: int, window: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, ngraphs, window))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, ids: Tensor, numbers: Tensor, offsets: Tensor) -> Tensor:
        """Return float [texts, words − window + 1, outputs].

        Args:
            ids: int64 [texts, words].
            numbers, offsets: the n-graphs of the word with id i are numbers[offsets[i] : offsets[i + 1]].
        """
        outputs, ngraphs, window = self.weight.shape
        different, places = torch.unique(ids, return_inverse=True)
        first, lengths = offsets[different], offsets[different + 1] - offsets[different]
        starts = torch.cumsum(lengths, 0) - lengths
        within = torch.arange(int(lengths.sum()), device=ids.device) - torch.repeat_interleave(
            starts, lengths
        )
        flat = numbers[torch.repeat_interleave(first, lengths) + within]
        table = self.weight.permute(1, 2, 0).reshape(ngraphs, window * outputs)
        summed = functional.embedding_bag(flat, table, starts, mode="sum")
        parts = functional.embedding(places, summed).view(*ids.shape, window, outputs)
        positions = ids.shape[1] - window + 1
        shifted = [parts[:, place : place + positions, place] for place in range(window)]
        return torch.stack(shifted).sum(dim=0) + self.bias
