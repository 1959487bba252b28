"""What can be checked in one's head: kernels, histograms, gates, n-graphs, and whole scores of tiny texts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from small_rankers import ids, ranker, score

from irpretrain.models.neural.fresh import idf, with_drawn
from irpretrain.models.neural.kernels import kernels
from irpretrain.text.ngraphs import frequent_ngraphs, ngraphs_of, number_ngraphs

A, B, C, D = 1, 2, 3, 4
NEAR = 0.8
"""cos(a, c)."""
VECTORS = [[1.0, 0.0], [0.0, 2.0], [NEAR, 0.6], [-3.0, 0.0]]
"""a and b are orthogonal, c is near to a, d is opposite to a."""
WORDS = ("a", "b", "c", "d")


def small(name: str, **changes):
    made = ranker(name, VECTORS, WORDS, **changes)
    with torch.no_grad():
        for parameter_name, parameter in made.named_parameters():
            if not parameter_name.startswith("vectors"):
                parameter.zero_()
    return made


def test_the_eleven_kernels_of_the_paper() -> None:
    means, deviations = kernels(11, 0.1, 1e-3)
    assert means == pytest.approx([1, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9])
    assert deviations == [1e-3, *[0.1] * 10]


def test_knrm_counts_equal_words_in_its_first_kernel() -> None:
    """Three a's in the document: the kernel of exact matches has log 3, scaled by 0.01."""
    made = small("knrm", score="linear")
    with torch.no_grad():
        made.combine.weight[0, 0] = 1.0
    assert score(made, [A], [A, B, A, A]) == pytest.approx(0.01 * math.log(3), abs=1e-6)
    assert score(made, [A], [B, D]) == pytest.approx(0.01 * math.log(1e-10), abs=1e-6)


def test_knrm_counts_similar_words_softly() -> None:
    """cos(a, c) = 0.8 is half a deviation away from both 0.9 and 0.7."""
    made = small("knrm")
    with torch.no_grad():
        made.combine.weight[0, 1] = 1.0
    soft = math.exp(-0.5 * ((NEAR - 0.9) / 0.1) ** 2)
    assert score(made, [A], [C]) == pytest.approx(math.tanh(0.01 * math.log(soft)), abs=1e-6)
    twice = math.tanh(2 * 0.01 * math.log(soft))
    assert score(made, [A, A], [C]) == pytest.approx(twice, abs=1e-6)


def test_conv_knrm_at_the_end_of_a_text_goes_on_with_zeros() -> None:
    """With filters that add the words of a bigram, the last one is its word alone."""
    made = ranker("conv-knrm", [[1.0], [2.0]], ("a", "b"), ngrams=2, filters=1)
    with torch.no_grad():
        made.convolutions[1].weight.fill_(1.0)
        made.convolutions[1].bias.zero_()
    bigrams = made._ngrams(ids([A, B]))[1]
    assert bigrams.squeeze().tolist() == [3.0, 2.0]


def test_drmm_counts_similarities_in_bins() -> None:
    """Five bins: [-1, -0.5), [-0.5, 0), [0, 0.5), [0.5, 1), and equal words (the paper's own example)."""
    made = small("drmm-count", bins=5)
    found = made.histograms(ids([A]), ids([A, B, C, D, C, A]))
    assert found[0, 0].tolist() == [1, 0, 1, 2, 2]
    logs = small("drmm", bins=5).histograms(ids([A]), ids([A, B, C, D, C, A]))
    assert logs[0, 0].tolist() == pytest.approx([math.log(2), 0, math.log(2), math.log(3), math.log(3)])
    shares = small("drmm-vector", bins=5).histograms(ids([A]), ids([A, B, C, D, C, A]))
    assert shares[0, 0].tolist() == pytest.approx([1 / 6, 0, 1 / 6, 1 / 3, 1 / 3])


def test_another_word_with_the_same_vector_is_no_equal_word() -> None:
    made = ranker("drmm-count", [[1.0, 0.0], [1.0, 0.0]], ("a", "b"), bins=5)
    assert made.histograms(ids([A]), ids([B, B, A]))[0, 0].tolist() == [0, 0, 0, 2, 1]


def test_drmm_weighs_words_by_a_softmax_over_their_idf() -> None:
    made = small("drmm-count", bins=5, hidden=[])
    with torch.no_grad():
        made.idf[:] = torch.tensor([0.0, math.log(3), 0.0, 0.0, 0.0])
        made.gate.weight.fill_(1.0)
        made.matching[0].weight[0, 4] = 1.0
    # a weighs 3/4 and has an equal word, b weighs 1/4 and has none
    assert score(made, [A, B], [A, C]) == pytest.approx(0.75 * math.tanh(1), abs=1e-6)
    assert score(made, [], [A]) == 0.0


def test_duet_reads_which_words_are_equal() -> None:
    """With one query word, and a first layer that adds up the row of its matches, the local score is their number."""
    made = small("duet-mixed", query_words=3, document_words=5, hidden=1, matches="binary")
    with torch.no_grad():
        for layer in (made.local_windows, made.local_second, made.local_score):
            layer.weight.fill_(1.0)
        made.local_first.weight.fill_(1.0)
    assert score(made, [A], [B, A, C, A]) == pytest.approx(math.tanh(2), abs=1e-6)
    assert score(made, [A, B], [B, A, C, A]) == pytest.approx(math.tanh(3), abs=1e-6)


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
    filled, lacking = with_drawn(rows, seed=1)
    assert lacking == 1999
    assert filled[0].tolist() == [0.5] * 10
    assert np.std(filled[1:]) == pytest.approx(0.5, rel=0.05)
    assert np.array_equal(filled, with_drawn(rows, seed=1)[0])
    assert not np.array_equal(filled, with_drawn(rows, seed=2)[0])
