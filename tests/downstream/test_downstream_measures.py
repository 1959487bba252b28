"""Measures of answers, against values worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.evaluation.answers import exact_match, normalised, score_answers, token_f1


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
