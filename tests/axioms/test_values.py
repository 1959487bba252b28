"""Values of the axioms on documents of about five words, checked by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from axiom_cases import Vectors, make_batch, plain_options, values_of

from irpretrain.axioms.batch import UNKNOWN, to_grid
from irpretrain.axioms.definitions import cosine
from irpretrain.axioms.preferences import larger_is_better


def value(
    folder: Path,
    axiom: str,
    query: str,
    texts: list[str],
    vectors: Vectors | None = None,
    **options: Any,
) -> float:
    """Return the value of a query for the first document."""
    batch = make_batch(folder, texts, [(query, 0)], plain_options(**options), vectors)
    return float(values_of(batch)[axiom][0])


# Two documents of four and two words: df a 2, b 1, c 1; Σ df + |V| = 4 + 3 = 7.
TWO = ["a b a a", "a c"]


@pytest.mark.parametrize(
    ("query", "probabilities"),
    [
        # μ = 6 words / 2 documents = 3, P(a|C) = 3/7 and P(b|C) = P(c|C) = 2/7; |D| + μ = 7.
        pytest.param("a b", [(3 + 9 / 7) / 7, (1 + 6 / 7) / 7], id="mean of two terms"),
        pytest.param("c", [(0 + 6 / 7) / 7], id="a term that the document lacks"),
        pytest.param("zebra", [(3 / 7) / 7], id="an unknown word has document frequency 0"),
    ],
)
def test_rep_ql_is_the_mean_logarithm_of_the_smoothed_probability(
    tmp_path: Path, query: str, probabilities: list[float]
) -> None:
    expected = sum(map(math.log, probabilities)) / len(probabilities)
    assert value(tmp_path, "rep_ql", query, TWO) == pytest.approx(expected, abs=1e-9)


def test_rep_tfidf_is_the_mean_of_tf_idf(tmp_path: Path) -> None:
    # N + 1 = 3: idf of a is ln(3/3) = 0, of b ln(3/2), of the unknown zebra ln(3/1) with tf 0.
    assert value(tmp_path, "rep_tfidf", "a b zebra", TWO) == pytest.approx(math.log(1.5) / 3, abs=1e-9)


@pytest.mark.parametrize(
    ("query", "document", "words_between"),
    [
        ("a b", "b x x a", 2.0),
        ("a b", "a b x a", 0.5),  # between b and the two a: 0 and 1
        ("a b c", "a b x c", 1.0),  # a b: 0, a c: 2, b c: 1
        ("a a", "x a x a", 0.0),
        ("a b", "a x", math.inf),
        ("a b", "", math.inf),
        ("", "a x", math.inf),
    ],
)
def test_prox_1_counts_the_words_between(
    tmp_path: Path, query: str, document: str, words_between: float
) -> None:
    assert value(tmp_path, "prox_1", query, [document]) == words_between


@pytest.mark.parametrize(
    ("query", "document", "mean_position"),
    [
        ("b b a", "x a x b a", 2.0),  # 1 and 3
        ("a c", "a x", math.inf),
        ("", "a x", math.inf),
    ],
)
def test_prox_2_averages_first_positions(
    tmp_path: Path, query: str, document: str, mean_position: float
) -> None:
    assert value(tmp_path, "prox_2", query, [document]) == mean_position


@pytest.mark.parametrize(
    ("query", "prox_1", "prox_2"),
    [("a b c", 1.0, 1.0), ("a c", 0.0, 0.0), ("c", math.inf, math.inf), ("", math.inf, math.inf)],
)
def test_missing_terms_can_be_skipped(tmp_path: Path, query: str, prox_1: float, prox_2: float) -> None:
    batch = make_batch(tmp_path, ["a x b"], [(query, 0)], plain_options(missing_terms="skipped"))
    found = values_of(batch)
    assert (found["prox_1"][0], found["prox_2"][0]) == (prox_1, prox_2)


def test_stop_words_are_positions_but_no_terms(tmp_path: Path) -> None:
    texts = ["the cat of the mat"]
    batch = make_batch(tmp_path, texts, [("the cat on a mat", 0)], plain_options(stop_list="inquery"))
    found = values_of(batch)
    assert batch.term_counts.tolist() == [2]
    assert batch.documents.lengths.tolist() == [2]
    assert found["prox_1"].tolist() == [2.0]  # "of the"
    assert found["prox_2"].tolist() == [2.5]  # 1 and 4
    assert found["stm_2"].tolist() == [1.0]


def test_stems_are_terms_also_of_words_that_the_collection_lacks(tmp_path: Path) -> None:
    texts = ["runs run cats"]
    options = plain_options(stemming="porter")
    batch = make_batch(tmp_path, texts, [("running run", 0), ("runs cat dogs dog", 0)], options)
    assert batch.term_counts.tolist() == [1, 3]
    assert batch.queries.terms.tolist() == [1, 0, 1, UNKNOWN]
    assert values_of(batch)["stm_2"].tolist() == [1.0, pytest.approx(2 / 3)]
    assert batch.search_terms[0].tolist() == [1, 1, 1, 0]
    assert batch.search_terms[1].tolist() == [0, 2, 4]


EAST, NORTH, NEARLY_EAST = (1.0, 0.0), (0.0, 1.0), (2.0, 1.0)


def test_reg_counts_the_term_that_is_least_like_the_others(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": NEARLY_EAST, "c": NORTH}
    # a with b + c = (2, 2): 0.71; b with a + c = (1, 1): 0.95; c with a + b = (3, 1): 0.32.
    assert value(tmp_path, "reg", "a b c", ["a b b c c c x"], vectors) == 3
    # A vector's length does not matter.
    assert value(tmp_path, "reg", "a b c", ["a b b c c c x"], vectors | {"c": (0.0, 0.1)}) == 3


def test_reg_of_one_term_is_its_frequency_and_of_two_the_smaller_one(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": NORTH}
    texts = ["a a b x x"]
    batch = make_batch(
        tmp_path, texts, [("a", 0), ("a b", 0), ("b a", 0), ("a zebra", 0), ("", 0)], None, vectors
    )
    assert values_of(batch)["reg"].tolist() == [2, 1, 1, 0, 0]


def test_a_word_without_vector_is_least_similar_to_others_that_agree(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": NEARLY_EAST}
    assert value(tmp_path, "reg", "a b x", ["a b x x"], vectors) == 2


def test_stm_1_is_the_cosine_of_the_mean_vectors(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": NORTH}
    # The document a b b b is (1, 3); the query a is (1, 0); x has no vector.
    found = value(tmp_path / "1", "stm_1", "a", ["a b b b x"], vectors)
    assert found == pytest.approx(1 / math.sqrt(10), abs=1e-9)
    assert value(tmp_path / "2", "stm_1", "a a b", ["b a x"], vectors) == pytest.approx(1.0, abs=1e-9)
    assert value(tmp_path / "3", "stm_1", "x", ["a b x"], vectors) == 0.0
    assert value(tmp_path / "4", "stm_1", "", ["a b x"], vectors) == -1.0


def test_the_cosine_of_single_precision_vectors_has_double_precision() -> None:
    """0.1 and 0.3 have no end in binary, so a product rounded to 24 bits would show at the tenth digit."""
    one, other = np.array([0.1, 0.3], np.float32), np.array([0.7, 0.2], np.float32)
    (a, b), (c, d) = map(float, one), map(float, other)
    expected = (a * c + b * d) / math.sqrt((a * a + b * b) * (c * c + d * d))
    assert cosine(one, other) == to_grid(expected)
    assert cosine(one, one.astype(np.float64)) == cosine(one, one) == 1.0


def test_stm_1_leaves_out_stop_words(tmp_path: Path) -> None:
    vectors = {"the": NORTH, "cat": EAST, "dog": EAST}
    options = {"stop_list": "inquery"}
    assert value(tmp_path, "stm_1", "the cat", ["the the dog", "cat"], vectors, **options) == 1.0


def test_stm_2_is_the_share_of_terms_that_occur(tmp_path: Path) -> None:
    batch = make_batch(tmp_path, TWO, [("a b zebra c", 0), ("", 0)])
    assert values_of(batch)["stm_2"].tolist() == [0.5, 0]


def test_stm_3_is_the_share_of_words_near_the_document(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": NORTH, "c": NEARLY_EAST}
    texts = ["a x x", "b c"]
    # Cosines with (1, 0): a 1, b 0, c 0.89, x none.
    assert value(tmp_path / "1", "stm_3", "a b c x", texts, vectors) == 0.5
    assert value(tmp_path / "2", "stm_3", "a b c x", texts, vectors, stm_3_threshold=0.9) == 0.25
    assert value(tmp_path / "3", "stm_3", "a", texts, vectors, stm_3_threshold=1.0) == 0.0


def test_a_query_without_terms_wins_nowhere(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": (-1.0, 0.0)}
    queries = [("", 0), ("a", 0), ("b", 0), ("zebra", 0), ("a zebra", 0)]
    batch = make_batch(tmp_path, ["a x", "b"], queries, None, vectors)
    found = larger_is_better(pa.table(values_of(batch) | {"rank": np.zeros(5, np.int32)}))
    assert (found[0] <= found).all()
