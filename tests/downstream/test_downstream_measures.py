"""Measures of answers and labels, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.corpora.formats.glue import LAYOUTS
from irpretrain.training.downstream import evaluate as glue
from irpretrain.training.downstream.evaluate import exact_match, normalised, score_answers, token_f1


@pytest.mark.parametrize(
    ("answer", "bare"),
    [
        ("The  Cat's  hat!", "cats hat"),
        ("a theatre, an ant", "theatre ant"),
        ("U.S.A", "usa"),
        ("well-known", "wellknown"),
        ("“the”", "“ ”"),  # only ASCII punctuation goes, as in the official evaluations
        ("An", ""),
        ("", ""),
        ("état", "état"),
    ],
)
def test_normalisation(answer, bare):
    assert normalised(answer) == bare


def test_f1_counts_words_with_repetition():
    assert token_f1("new new york", "New York") == pytest.approx(2 * 2 / 5)
    assert token_f1("the Norman dynasty", "Normans") == 0.0
    assert token_f1("10th century", "the 10th century") == 1.0
    assert token_f1("in the 10th", "10th century") == pytest.approx(2 * 1 / 4)


def test_answers_without_words():
    assert (token_f1("", "the"), exact_match("", "the")) == (0.0, 1.0), "as SQuAD's and MRQA's code has it"
    assert (token_f1("", "x"), exact_match("", "x")) == (0.0, 0.0)


def test_the_best_accepted_answer_counts():
    scored = score_answers(
        {"a": "10th century", "b": "x", "d": "not asked"},
        {"a": ["the 10th century AD", "10th century"], "b": ["y", "x z"], "c": ["missing"]},
    )
    assert scored == {
        "F1": {"a": 1.0, "b": pytest.approx(2 / 3), "c": 0.0},
        "EM": {"a": 1.0, "b": 0.0, "c": 0.0},
    }


WORDS = st.lists(st.sampled_from(["the", "cat", "Hat!", "sat", "a"]), max_size=6).map(" ".join)


@given(WORDS, WORDS)
def test_f1_is_symmetric_and_bounded(a, b):
    assert token_f1(a, b) == token_f1(b, a)
    assert 0 <= token_f1(a, b) <= 1
    if exact_match(a, b) and normalised(a):
        assert token_f1(a, b) == 1


# GLUE

PREDICTED, GIVEN = list("11100010"), list("10110000")
"""TP 2, FP 2, FN 1, TN 3."""


def test_binary_measures():
    assert glue.accuracy(PREDICTED, GIVEN) == 5 / 8
    assert glue.f1(PREDICTED, GIVEN) == pytest.approx(4 / 7)
    assert glue.matthews(PREDICTED, GIVEN) == pytest.approx((2 * 3 - 2 * 1) / math.sqrt(4 * 3 * 5 * 4))


def test_nothing_varies():
    assert glue.matthews(list("111"), list("101")) == 0.0
    assert glue.f1(list("00"), list("00")) == 0.0
    assert glue.pearson(["1", "1"], ["1", "2"]) == 0.0


def test_correlations():
    predicted, given_ = ["1", "2", "3", "4"], ["1", "3", "2", "5"]
    # Deviations -1.5 -.5 .5 1.5 and -1.75 .25 -.75 2.25: products 2.625 - .125 - .375 + 3.375 = 5.5.
    assert glue.pearson(predicted, given_) == pytest.approx(5.5 / math.sqrt(5 * 8.75))
    assert glue.spearman(predicted, given_) == pytest.approx(0.8)  # 1 - 6 · 2 / (4 · 15)
    assert glue.spearman(["1", "1", "2"], ["1", "2", "3"]) == pytest.approx(math.sqrt(3) / 2)


@given(st.lists(st.tuples(st.sampled_from("01"), st.sampled_from("01")), min_size=1, max_size=30))
def test_matthews_is_pearson_of_the_labels(pairs):
    predicted, given_ = ([pair[side] for pair in pairs] for side in (0, 1))
    assert glue.matthews(predicted, given_) == pytest.approx(glue.pearson(predicted, given_), abs=1e-12)


def test_correlations_against_scipy():
    from scipy.stats import pearsonr, spearmanr

    predicted, given_ = [0.3, 2.2, 2.2, 4.9, 1.0], [0.0, 3.0, 2.5, 5.0, 2.5]
    texts = [[str(number) for number in side] for side in (predicted, given_)]
    assert glue.pearson(*texts) == pytest.approx(pearsonr(predicted, given_).statistic)
    assert glue.spearman(*texts) == pytest.approx(spearmanr(predicted, given_).statistic)


def test_every_task_has_its_measures():
    assert set(glue.OF_TASK) == set(LAYOUTS)
    assert glue.score_labels("mrpc", PREDICTED, GIVEN) == {"accuracy": 5 / 8, "F1": pytest.approx(4 / 7)}
    assert glue.score_labels("mnli", ["neutral", "x"], ["neutral", "y"]) == {"accuracy": 0.5}
    assert [task for task in LAYOUTS if not glue.classes_of(task)] == ["sts-b"]
