"""The area under the ROC curve against its definition, and its interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.evaluation.significance import area, area_with_interval


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_area_is_the_share_of_ordered_pairs(cases):
    positive = [score for score, label in cases if label]
    negative = [score for score, label in cases if not label]
    found = area([score for score, _ in cases], [label for _, label in cases])
    if not positive or not negative:
        assert math.isnan(found)
        return
    wins = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    assert found == pytest.approx(wins / (len(positive) * len(negative)))


def test_the_interval_covers_the_value_and_resamples_documents():
    rng = np.random.default_rng(0)
    labels = rng.random(600) < 0.5
    scores = labels + rng.normal(size=600)
    single = area_with_interval(scores, labels, np.arange(600), 400, np.random.default_rng(1))
    assert single.low < single.mean < single.high
    # Ten of these cases, 60 copies of each in one document: few independent cases, so a wide interval.
    few = np.tile(np.arange(10), 60)
    copied = area_with_interval(scores[few], labels[few], few, 400, np.random.default_rng(1))
    assert copied.high - copied.low > 3 * (single.high - single.low)


def test_documents_bear_any_number():
    scores, labels = [0.1, 0.9, 0.4, 0.8], [False, True, False, True]
    found = area_with_interval(scores, labels, [70, 5, 5, 70], 50, np.random.default_rng(1))
    assert found == (1.0, 1.0, 1.0)
