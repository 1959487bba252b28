"""Integer weights: rounding, roots, and everything that is no plain weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from irpretrain.foundation.contracts import TERM_VECTORS, TERM_WEIGHTS
from irpretrain.retrieval.term_weights.integers import (
    LARGEST_WEIGHT,
    integer_weights,
    weighted_terms,
    write_vectors,
)
from irpretrain.retrieval.weighted_index import LONGEST_DOCUMENT

NAN, INF = np.nan, np.inf


def counted(**changes):
    return {"not_a_number": 0, "negative": 0, "zero": 0, "overflow": 0} | changes


def test_weights_by_hand():
    given = np.array([0.25, 1.0, 0.004, 1.5, 0.0, 0.125, 0.375], np.float32)
    assert integer_weights(given, 100, False)[0].tolist() == [25, 100, 0, 150, 0, 12, 38]
    assert integer_weights(given, 100, True)[0].tolist() == [50, 100, 6, 122, 0, 35, 61]


@pytest.mark.parametrize("root", [False, True])
def test_what_is_no_plain_weight_is_defined_and_counted(root):
    given = np.array([NAN, -0.5, -1e-9, -INF, INF, 3e38, 0.0, 1.0], np.float32)
    found, counts = integer_weights(given, 100, root)
    assert found.tolist() == [0, 0, 0, 0, LARGEST_WEIGHT, LARGEST_WEIGHT, 0, 100]
    assert counts == counted(not_a_number=1, negative=3, zero=1, overflow=2)


@given(arrays(np.float32, st.integers(0, 20)), st.floats(0.01, 1e6), st.booleans())
def test_integers_lie_within_their_bounds_and_every_zero_is_counted(weights, scale, root):
    found, counts = integer_weights(weights, scale, root)
    assert ((found >= 0) & (found <= LARGEST_WEIGHT)).all()
    assert (found == 0).sum() == counts["not_a_number"] + counts["negative"] + counts["zero"]


def row(position, terms):
    listed = [{"term": term, "weight": weight} for term, weight in terms.items()]
    return {"part": 0, "position": position, "document_id": f"d{position}", "terms": listed}


def test_a_text_that_loses_all_terms_stays_known(tmp_path):
    rows = [row(0, {"a": 0.5, "b": -1}), row(1, {"a": 0.001, "c": NAN}), row(2, {}), row(3, {"b": 1})]
    TERM_WEIGHTS.write(tmp_path / "w", rows)
    counts = write_vectors(tmp_path / "w", 100, False, tmp_path / "v")
    found = TERM_VECTORS.read(tmp_path / "v").to_pylist()
    assert found == [row(0, {"a": 50}), row(1, {}), row(2, {}), row(3, {"b": 100})]
    assert counts == counted(texts=4, texts_without_terms=2, terms=2, not_a_number=1, negative=1, zero=1)


@pytest.mark.parametrize("terms", [1, 1000, 1001, 3333])
def test_infinite_weights_of_any_text_fit_an_index(tmp_path, terms):
    names = [f"w{number:04}" for number in range(terms)]
    TERM_WEIGHTS.write(tmp_path / "w", [row(0, dict.fromkeys(names, INF)), row(1, {"a": INF, "b": 1})])
    counts = write_vectors(tmp_path / "w", 100, False, tmp_path / "v")
    assert counts == counted(texts=2, texts_without_terms=0, terms=terms + 2, overflow=terms + 1)
    many, few = TERM_VECTORS.read(tmp_path / "v")["terms"].to_pylist()
    assert {term["weight"] for term in many} == {min(LARGEST_WEIGHT, 10_000_000 // terms)}
    assert sum(term["weight"] for term in many) <= LONGEST_DOCUMENT
    assert few == [{"term": "a", "weight": 10_000}, {"term": "b", "weight": 100}]


def test_repeats_take_the_largest_weight_and_terms_are_sorted():
    weights, read = np.array([0.5, 0.25, 1, 9], np.float32), np.array([True, True, True, False])
    found = weighted_terms(["b", "a", "b", "c"], weights, read)
    assert found == ([{"term": "a", "weight": 0.25}, {"term": "b", "weight": 1.0}], 1)


def test_minus_infinity_is_a_weight():
    """It is no sign for a word that was not read."""
    found = weighted_terms(["a", "b", "b"], np.array([-INF, -INF, 0.5], np.float32))
    assert found == ([{"term": "a", "weight": -INF}, {"term": "b", "weight": 0.5}], 0)


@pytest.mark.parametrize("values", [[NAN, 1.0], [1.0, NAN]])
def test_a_weight_that_is_no_number_is_not_hidden_by_a_repeat(values):
    [entry] = weighted_terms(["a", "a"], np.array(values, np.float32))[0]
    assert np.isnan(entry["weight"])
