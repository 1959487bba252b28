"""Ranking losses over groups of any number of sequences, the first of which is preferred; and the MLM loss."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor
from torch.nn import functional

from irpretrain.config.training import Loss
from irpretrain.models.length_batches import to_device


def ranking_loss(kind: Loss, scores: Tensor, sizes: Tensor, margin: float = 1.0) -> Tensor:
    """Return the loss of each group, float32 [groups], from raw scores [sequences], group after group.

    With s⁺ the score of a group's first sequence and s₁ … sₘ those of its others:

    - hinge: mean over j of max(0, margin − s⁺ + sⱼ) (PROP, equation 5, on raw scores);
    - pair-softmax: mean over j of 2(1 − σ(s⁺ − sⱼ)), the released PROP's margin loss on the softmax of the two scores
      of a pair, with margin 1, which never saturates;
    - listwise: −log softmax(s)⁺, localised contrastive estimation (LCE).

    A group of one sequence has nothing to rank: its loss is 0. `sizes`, int64 [groups], best lies on the host.
    """
    table, present = _by_group(scores.float(), sizes)
    if kind == "listwise":
        return -functional.log_softmax(table.masked_fill(~present, -torch.inf), dim=1)[:, 0]
    differences = table[:, :1] - table[:, 1:]
    others = present[:, 1:]
    if kind == "hinge":
        losses = functional.relu(margin - differences)
    elif kind == "pair-softmax":
        losses = 2 * torch.sigmoid(-differences)
    else:
        assert_never(kind)
    return (losses * others).sum(dim=1) / others.sum(dim=1).clamp(min=1)


def count_correct_pairs(scores: Tensor, sizes: Tensor) -> tuple[Tensor, int]:
    """Return how many (first, other) pairs are ordered rightly (on the device) and how many there are; no ties."""
    table, present = _by_group(scores.detach().float(), sizes)
    return ((table[:, :1] > table[:, 1:]) & present[:, 1:]).sum(), int(sizes.sum()) - len(sizes)


def mlm_loss_sum(logits: Tensor, labels: Tensor) -> Tensor:
    """Summed cross-entropy (nats; PROP, equation 6) of logits [positions, vocabulary] for labels [positions]."""
    return functional.cross_entropy(logits.float(), labels, reduction="sum")


def _by_group(scores: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores as [groups, largest size], zeros at the end, and where there are scores."""
    largest, smallest = int(sizes.max()), int(sizes.min())
    sizes = to_device(sizes, scores.device)
    present = torch.arange(largest, device=scores.device) < sizes[:, None]
    if smallest == largest:
        return scores.view(-1, largest), present
    firsts = torch.cumsum(sizes, 0) - sizes
    positions = firsts[:, None] + torch.arange(largest, device=scores.device)
    table = scores[positions.clamp(max=len(scores) - 1)]
    return table.masked_fill(~present, 0.0), present
