"""Features of pairs: directions, ties, infinity, the gate of STM-2, numbers of vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_values import COLUMNS, random_rows, reference_features, row

from irpretrain.axioms.preferences import (
    DEFINITIONS,
    VECTOR_COUNT,
    all_vectors,
    larger_is_better,
    preferences,
    vector_numbers,
)
from irpretrain.config.axioms import AXIOMS
from irpretrain.foundation.contracts import AXIOM_VALUES
from irpretrain.foundation.errors import IntegrityError


def features(first: dict[str, Any], second: dict[str, Any], threshold: float = 0.05) -> dict[str, int]:
    rows = pa.Table.from_pylist([row(0, 0, **first), row(0, 1, **second)], schema=AXIOM_VALUES.schema)
    found = preferences(larger_is_better(rows), np.array([0]), np.array([1]), threshold)
    assert found.dtype == np.int8
    return dict(zip(AXIOMS, found[0].tolist(), strict=True))


def test_every_axiom_has_a_direction():
    assert tuple(DEFINITIONS) == AXIOMS
    columns = [definition.column for definition in DEFINITIONS.values()]
    assert columns == list(COLUMNS) == AXIOM_VALUES.schema.names[-9:]


@pytest.mark.parametrize(
    ("column", "axiom", "better", "worse"),
    [
        ("rank", "RANK", 1, 2),
        ("rank", "RANK", 50, 0),
        ("rep_ql", "REP-QL", -1.0, -1.5),
        ("rep_tfidf", "REP-TFIDF", 3.0, 2.0),
        ("prox_1", "PROX-1", 1e9, float("inf")),
        ("prox_2", "PROX-2", 1.0, 2.0),
        ("reg", "REG", 2.0, 1.0),
        ("stm_1", "STM-1", 0.9, 0.1),
        ("stm_2", "STM-2", 1.0, 0.5),
        ("stm_3", "STM-3", 1.0, 0.5),
    ],
)
def test_the_better_value_is_preferred_by_its_axiom_alone(column, axiom, better, worse):
    expected = dict.fromkeys(AXIOMS, 0) | {axiom: 1}
    assert features({column: better}, {column: worse}) == expected
    assert features({column: worse}, {column: better}) == expected | {axiom: -1}


@pytest.mark.parametrize("values", [{}, {"rank": 0}, {"prox_1": float("inf")}])
def test_equal_values_are_ties_infinite_ones_too(values):
    assert set(features(values, values).values()) == {0}


@pytest.mark.parametrize(
    ("difference", "threshold", "expected"), [(0.25, 0.5, 1), (0.5, 0.5, 0), (0.75, 0.5, 0), (0.0, 0.0, 0)]
)
def test_stm_2_speaks_where_stm_1_is_closer_than_the_threshold(difference, threshold, expected):
    found = features({"stm_1": 0.0, "stm_2": 1.0}, {"stm_1": difference, "stm_2": 0.5}, threshold)
    assert found["STM-2"] == expected
    assert found["STM-1"] == (-1 if difference else 0)


@given(st.integers(0, 10_000))
def test_features_are_those_of_the_definition_and_change_sign_with_the_order(seed):
    rows = random_rows(np.random.default_rng(seed), 1, 8)
    values = larger_is_better(pa.Table.from_pylist(rows, schema=AXIOM_VALUES.schema))
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(8), np.arange(8)))
    found = preferences(values, first, second, 0.06)
    expected = [reference_features(rows[a], rows[b], 0.06) for a, b in zip(first, second, strict=True)]
    assert found.tolist() == expected
    assert (preferences(values, second, first, 0.06) == -found).all()


def test_numbers_count_all_vectors_and_mirror():
    vectors = all_vectors()
    assert vectors.shape == (VECTOR_COUNT, 9)
    assert len(np.unique(vectors, axis=0)) == VECTOR_COUNT
    assert (vector_numbers(vectors) == np.arange(VECTOR_COUNT)).all()
    assert (vector_numbers(-vectors) == VECTOR_COUNT - 1 - np.arange(VECTOR_COUNT)).all()


def test_what_is_not_a_number_is_refused():
    rows = pa.Table.from_pylist([row(0, 0, reg=float("nan"))], schema=AXIOM_VALUES.schema)
    with pytest.raises(IntegrityError, match="REG of 1 queries is not a number"):
        larger_is_better(rows, Path("values.parquet"))
