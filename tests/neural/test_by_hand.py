"""What can be checked in one's head: kernels, histograms, gates, n-graphs, and whole scores of tiny texts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from small_rankers import ids, ranker, score

from irpretrain.models.neural.knrm import DEVIATIONS, MEANS
from irpretrain.models.neural.registry import draw_missing_vectors, idf
from irpretrain.text.vocabulary import frequent_ngraphs, ngraphs_of, number_ngraphs

A, B, C, D = 1, 2, 3, 4
NEAR = 0.8
"""cos(a, c)."""
VECTORS = [[1.0, 0.0], [0.0, 2.0], [NEAR, 0.6], [-3.0, 0.0]]
"""a and b are orthogonal, c is near to a, d is opposite to a."""
WORDS = ("a", "b", "c", "d")


def small(name: str):
    made = ranker(name, VECTORS, WORDS)
    with torch.no_grad():
        for parameter_name, parameter in made.named_parameters():
            if not parameter_name.startswith("vectors"):
                parameter.zero_()
    return made


def test_the_eleven_kernels_of_the_paper() -> None:
    assert MEANS[0] == 1
    assert MEANS[1:] == pytest.approx([(left + left + 0.2) / 2 for left in np.arange(0.8, -1.1, -0.2)])
    assert (1e-3, *[0.1] * 10) == DEVIATIONS


def test_knrm_counts_equal_words_in_its_first_kernel() -> None:
    """Three a's in the document: the kernel of exact matches has log 3, scaled by 0.01."""
    made = small("knrm")
    with torch.no_grad():
        made.combine.weight[0, 0] = 1.0
    assert score(made, [A], [A, B, A, A]) == pytest.approx(math.tanh(0.01 * math.log(3)), abs=1e-6)
    assert score(made, [A], [B, D]) == pytest.approx(math.tanh(0.01 * math.log(1e-10)), abs=1e-6)


def test_knrm_counts_similar_words_softly() -> None:
    """cos(a, c) = 0.8 is half a deviation away from both 0.9 and 0.7."""
    made = small("knrm")
    with torch.no_grad():
        made.combine.weight[0, 1] = 1.0
    soft = math.exp(-0.5 * ((NEAR - 0.9) / 0.1) ** 2)
    assert score(made, [A], [C]) == pytest.approx(math.tanh(0.01 * math.log(soft)), abs=1e-6)
    twice = math.tanh(2 * 0.01 * math.log(soft))
    assert score(made, [A, A], [C]) == pytest.approx(twice, abs=1e-6)


def test_drmm_counts_similarities_in_bins() -> None:
    """Of 29 bins over [-1, 1), -1 is in the first, 0 in the middle and 0.8 in the 27th; a 30th has equal words."""
    histogram = small("drmm").histograms(ids([A]), ids([A, B, C, D, C, A, A]))[0, 0]
    expected = [0.0] * 30
    expected[0] = expected[14] = math.log(2)
    expected[26], expected[29] = math.log(3), math.log(4)
    assert histogram.tolist() == pytest.approx(expected)


def test_another_word_with_the_same_vector_is_no_equal_word() -> None:
    made = ranker("drmm", [[1.0, 0.0], [1.0, 0.0]], ("a", "b"))
    histogram = made.histograms(ids([A]), ids([B, B, A]))[0, 0]
    assert histogram.tolist() == pytest.approx([*[0] * 28, math.log(3), math.log(2)])


def test_drmm_weighs_words_by_a_softmax_over_their_idf() -> None:
    made = small("drmm")
    with torch.no_grad():
        made.idf[:] = torch.tensor([0.0, math.log(3), 0.0, 0.0, 0.0])
        made.gate.weight.fill_(1.0)
        made.matching[0].weight[0, 29] = 1.0
        made.matching[1].weight[0, 0] = 1.0
    # a weighs 3/4 and has an equal word, b weighs 1/4 and has none
    matched = math.tanh(math.tanh(math.log(2)))
    assert score(made, [A, B], [A, C]) == pytest.approx(0.75 * matched, abs=1e-6)
    assert score(made, [], [A]) == 0.0


def sum_up_matches(made) -> None:
    """Give the first unit of every layer of the local model the sum of its inputs' first units."""
    with torch.no_grad():
        made.local_windows.weight[0] = 1.0
        made.local_first.weight[0, ::300] = 1.0
        made.local_second.weight[0, 0] = 1.0


def test_duet_reads_which_words_are_equal() -> None:
    made = small("duet")
    sum_up_matches(made)
    with torch.no_grad():
        made.local_score.weight[0, 0] = 1.0
    squash = math.tanh
    two = squash(squash(squash(squash(2))))
    assert score(made, [A], [B, A, C, A]) == pytest.approx(two, abs=1e-6)
    both = squash(squash(squash(squash(2) + squash(1))))
    assert score(made, [A, B], [B, A, C, A]) == pytest.approx(both, abs=1e-6)


def test_duet_v2_weighs_matches_by_idf_over_the_largest_idf() -> None:
    """a has half of the largest idf: two matches count 1, and b's count 1 each; the score is a tenth."""
    made = small("duet-v2")
    sum_up_matches(made)
    with torch.no_grad():
        made.idf[:] = torch.tensor([0.0, 2.0, 4.0, 1.0, 1.0])
        for layer in (made.network_first, made.network_second, made.network_score):
            layer.weight[0, 0] = 1.0
    assert score(made, [A], [B, A, C, A]) == pytest.approx(0.1, abs=1e-6)
    assert score(made, [A, B], [B, A, C, A, B]) == pytest.approx(0.3, abs=1e-6)


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
