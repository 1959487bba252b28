"""What can be checked in one's head: histograms, n-graphs, idf. `test_ranker_formulas.py` has the scores."""

import math

import numpy as np
import pytest
from small_rankers import ids, ranker

from irpretrain.models.neural.registry import draw_missing_vectors, idf
from irpretrain.text.vocabulary import frequent_ngraphs, ngraphs_of, number_ngraphs

A, B, C, D = 1, 2, 3, 4
VECTORS = [[1.0, 0.0], [0.0, 2.0], [0.8, 0.6], [-3.0, 0.0]]
"""a and b are orthogonal, c is near to a (cosine 0.8), d is opposite to a."""
WORDS = ("a", "b", "c", "d")


def test_drmm_counts_similarities_in_bins() -> None:
    """Of 29 bins over [-1, 1), -1 is in the first, 0 in the middle and 0.8 in the 27th; a 30th has equal words."""
    histogram = ranker("drmm", VECTORS, WORDS).histograms(ids([A]), ids([A, B, C, D, C, A, A]))[0, 0]
    expected = [0.0] * 30
    expected[0] = expected[14] = math.log(2)
    expected[26], expected[29] = math.log(3), math.log(4)
    assert histogram.tolist() == pytest.approx(expected)


def test_another_word_with_the_same_vector_is_no_equal_word() -> None:
    made = ranker("drmm", [[1.0, 0.0], [1.0, 0.0]], ("a", "b"))
    histogram = made.histograms(ids([A]), ids([B, B, A]))[0, 0]
    assert histogram.tolist() == pytest.approx([*[0] * 28, math.log(3), math.log(2)])


def test_the_ngraphs_of_a_word() -> None:
    assert sorted(ngraphs_of("ab", 2)) == ["#", "#", "#a", "a", "ab", "b", "b#"]
    assert "#ab#" in set(ngraphs_of("ab", 5))


def test_the_most_frequent_ngraphs_count_words_as_often_as_they_occur() -> None:
    found = frequent_ngraphs(["ab", "b"], np.array([1, 3]), 4, 2)
    assert found == ["#", "b", "b#", "#b"]  # 8, 4, 4 and 3 times
    numbers, offsets = number_ngraphs(["", "b", "c"], found, 2)
    assert offsets.tolist() == [0, 2, 7, 9]
    assert sorted(numbers[2:7].tolist()) == [0, 0, 1, 2, 3]
    assert numbers[7:].tolist() == [0, 0]


def test_idf_is_the_logarithm_of_documents_over_those_with_the_word() -> None:
    assert idf(np.array([1, 4]), 4).tolist() == pytest.approx([math.log(4), 0])


def test_words_without_a_vector_are_drawn_like_the_others() -> None:
    rows = np.zeros((2000, 10), np.float32)
    rows[0] = 0.5
    filled, lacking = draw_missing_vectors(rows, seed=1)
    assert lacking == 1999
    assert filled[0].tolist() == [0.5] * 10
    assert np.std(filled[1:]) == pytest.approx(0.5, rel=0.05)
    assert np.array_equal(filled, draw_missing_vectors(rows, seed=1)[0])
    assert not np.array_equal(filled, draw_missing_vectors(rows, seed=2)[0])
