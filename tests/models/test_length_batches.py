"""Batches of one padded length: every sequence once, the same shape for the same length, rows filled up on a CPU."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.models.length_batches import length_batches, pad_sequences


def batches(lengths, longest, tokens, device="cpu"):
    items = list(enumerate(lengths))
    return list(length_batches(items, longest, lambda length: max(tokens // length, 1), torch.device(device)))


@pytest.mark.parametrize(("device", "rows"), [("cpu", [2, 4, 4]), ("cuda", [1, 4, 1])])
def test_batches_by_hand(device, rows):
    """8 and fewer positions have 8, 9 to 12 have 12, the most there are; 32 positions a batch."""
    found = batches([3, 8, 9, 5, 2, 1], 12, 32, device)
    assert [(batch.length, batch.items) for batch in found] == [(12, [2]), (8, [0, 1, 3, 4]), (8, [5])]
    assert [batch.row_count for batch in found] == rows


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 200))
def test_the_shape_of_a_sequence_depends_on_its_length_alone(lengths, tokens):
    found = batches(lengths, 40, tokens)
    assert Counter(item for batch in found for item in batch.items) == Counter(range(len(lengths)))
    assert [batch.length for batch in found] == sorted((batch.length for batch in found), reverse=True)
    for batch in found:
        assert len(batch.items) <= batch.row_count
        for item in batch.items:
            [alone] = batches([lengths[item]], 40, tokens)
            assert (alone.length, alone.row_count) == (batch.length, batch.row_count)
            assert lengths[item] <= batch.length < lengths[item] + 8


def test_padded_rows():
    ids, attention = pad_sequences([[5, 6], [7, 8, 9]], 3, 4, 1)
    assert ids.tolist() == [[5, 6, 1, 1], [7, 8, 9, 1], [1, 1, 1, 1]]
    assert attention.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0]]
