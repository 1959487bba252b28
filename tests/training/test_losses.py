"""Losses against values computed by hand, and against plain loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.training.ranking_tasks import count_correct_pairs, ranking_loss

TWO_AND_THREE = torch.tensor([2.0, 0.5, 1.0, 1.0, 3.0])
SIZES = torch.tensor([2, 3])


def test_hinge_with_another_margin_by_hand() -> None:
    # First group: 2 - 2 + 0.5. Second: mean of 2 - 1 + 1 and 2 - 1 + 3.
    assert ranking_loss("hinge", TWO_AND_THREE, SIZES, margin=2.0).tolist() == [0.5, 3.0]


def test_pair_softmax_by_hand() -> None:
    scores = torch.tensor([math.log(3), 0.0])  # softmax: 3/4 and 1/4
    (loss,) = ranking_loss("pair-softmax", scores, torch.tensor([2])).tolist()
    assert loss == pytest.approx(2 * (1 - 0.75))
    # The released code: a margin of 1 on the softmax of both scores.
    released = torch.nn.functional.margin_ranking_loss(
        *torch.softmax(scores, 0).reshape(2, 1), torch.ones(1), margin=1.0
    )
    assert loss == pytest.approx(float(released))


def test_a_tie_is_no_right_pair() -> None:
    assert count_correct_pairs(torch.tensor([1.0, 1.0, 2.0, 0.0]), torch.tensor([2, 2])) == 1
    assert count_correct_pairs(TWO_AND_THREE, SIZES) == 1


@given(groups=st.lists(st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=5), min_size=1, max_size=5))
def test_losses_equal_plain_loops(groups: list[list[float]]) -> None:
    scores = torch.tensor([s for group in groups for s in group])
    sizes = torch.tensor([len(group) for group in groups])
    for group, hinge, pair, listwise in zip(
        groups,
        *(ranking_loss(kind, scores, sizes) for kind in ("hinge", "pair-softmax", "listwise")),
        strict=True,
    ):
        first, others = group[0], group[1:]
        hinges = [max(0, 1 - first + s) for s in others]
        softmax = [math.exp(first) / (math.exp(first) + math.exp(s)) for s in others]
        # A group of one costs nothing.
        assert float(hinge) == pytest.approx(np.mean(hinges or [0]), abs=1e-5)
        assert float(pair) == pytest.approx(np.mean([2 * (1 - p) for p in softmax] or [0]), abs=1e-5)
        total = math.log(sum(math.exp(s) for s in group))
        assert float(listwise) == pytest.approx(total - first, abs=1e-5)


def test_gradients_reach_every_score_of_a_group() -> None:
    for kind in ("pair-softmax", "listwise"):
        scores = TWO_AND_THREE.clone().requires_grad_()
        ranking_loss(kind, scores, SIZES).sum().backward()
        assert (scores.grad != 0).all()
        assert torch.isfinite(scores.grad).all()
