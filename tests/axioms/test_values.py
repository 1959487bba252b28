"""Values of the axioms on documents of about five words, checked by hand."""

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

# Two documents of four and two words: df a 2, b 1, c 1; Σ df + |V| = 4 + 3 = 7; N = 2; μ = 6 words / 2 documents = 3.
# P(a|C) = 3/7, P(b|C) = P(c|C) = 2/7, of an unknown word 1/7; |D| + μ = 7.
TWO = ["a b a a", "a c"]
EAST, NORTH, NEARLY_EAST = (1.0, 0.0), (0.0, 1.0), (2.0, 1.0)
VECTORS: Vectors = {"a": EAST, "b": NEARLY_EAST, "c": NORTH, "d": (2.0, 2.0)}


@pytest.mark.parametrize(
    ("axiom", "query", "texts", "expected"),
    [
        ("rep_ql", "a b", TWO, (math.log((3 + 9 / 7) / 7) + math.log((1 + 6 / 7) / 7)) / 2),
        ("rep_ql", "c", TWO, math.log((0 + 6 / 7) / 7)),
        ("rep_ql", "zebra", TWO, math.log((3 / 7) / 7)),
        # Idf of a is ln(3/3) = 0, of b ln(3/2), of the unknown zebra ln(3/1) with tf 0.
        ("rep_tfidf", "a b zebra", TWO, math.log(1.5) / 3),
        ("prox_1", "a b", ["b x x a"], 2.0),
        ("prox_1", "a b", ["a b x a"], 0.5),  # between b and the two a: 0 and 1
        ("prox_1", "a b c", ["a b x c"], 1.0),  # a b: 0, a c: 2, b c: 1
        ("prox_1", "a a", ["x a x a"], 0.0),
        ("prox_1", "a b", ["a x"], math.inf),
        ("prox_1", "a b", [""], math.inf),
        ("prox_1", "", ["a x"], math.inf),
        ("prox_2", "b b a", ["x a x b a"], 2.0),  # 1 and 3
        ("prox_2", "a c", ["a x"], math.inf),
        ("prox_2", "", ["a x"], math.inf),
        # a with b + c = (2, 2): 0.71; b with a + c = (1, 1): 0.95; c with a + b = (3, 1): 0.32.
        ("reg", "a b c", ["a b b c c c x"], 3),
        # a with b + d = (4, 3): 0.8; b with a + d = (3, 2): 0.99; d with a + b = (3, 1): 0.89.
        ("reg", "a b d", ["a a b d"], 2),
        # A word without a vector is least similar to others that agree.
        ("reg", "a b x", ["a b x x"], 2),
        # One term counts itself, of two the rarer one.
        ("reg", "a", ["a a c x x"], 2),
        ("reg", "a c", ["a a c x x"], 1),
        ("reg", "c a", ["a a c x x"], 1),
        ("reg", "a zebra", ["a a c x x"], 0),
        ("reg", "", ["a a c x x"], 0),
        # The document is (1, 3), the query (1, 0); x has no vector.
        ("stm_1", "a", ["a c c c x"], 1 / math.sqrt(10)),
        ("stm_1", "a a c", ["c a x"], 1.0),
        ("stm_1", "x", ["a c x"], 0.0),
        ("stm_1", "", ["a c x"], -1.0),
        ("stm_2", "a b zebra c", TWO, 0.5),
        ("stm_2", "", TWO, 0.0),
        # Cosines with (1, 0): a 1, b 0.89, c 0, x none.
        ("stm_3", "a b c x", ["a x x", "b c"], 0.5),
    ],
)
def test_a_value_by_hand(tmp_path: Path, axiom: str, query: str, texts: list[str], expected: float) -> None:
    assert value(tmp_path, axiom, query, texts) == pytest.approx(expected, abs=1e-9)


def value(folder: Path, axiom: str, query: str, texts: list[str], **options: Any) -> float:
    """Return the value of a query for the first document."""
    batch = make_batch(folder, texts, [(query, 0)], plain_options(**options), VECTORS)
    return float(values_of(batch)[axiom][0])


@pytest.mark.parametrize(("threshold", "share"), [(0.9, 0.25), (1.0, 0.0)])
def test_stm_3_counts_what_is_above_its_threshold(tmp_path: Path, threshold: float, share: float) -> None:
    texts = ["a x x", "b c"]
    assert value(tmp_path, "stm_3", "a b c x", texts, stm_3_threshold=threshold) == share


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
    vectors = {"the": NORTH, "cat": EAST, "mat": EAST}
    batch = make_batch(
        tmp_path, texts, [("the cat on a mat", 0)], plain_options(stop_list="inquery"), vectors
    )
    found = values_of(batch)
    assert batch.term_counts.tolist() == [2]
    assert batch.documents.lengths.tolist() == [2]
    assert found["prox_1"].tolist() == [2.0]  # "of the"
    assert found["prox_2"].tolist() == [2.5]  # 1 and 4
    assert found["stm_1"].tolist() == [1.0]
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


def test_the_cosine_of_single_precision_vectors_has_double_precision() -> None:
    """0.1 and 0.3 have no end in binary, so a product rounded to 24 bits would show at the tenth digit."""
    one, other = np.array([0.1, 0.3], np.float32), np.array([0.7, 0.2], np.float32)
    (a, b), (c, d) = map(float, one), map(float, other)
    expected = (a * c + b * d) / math.sqrt((a * a + b * b) * (c * c + d * d))
    assert cosine(one, other) == to_grid(expected)
    assert cosine(one, one.astype(np.float64)) == cosine(one, one) == 1.0


def test_a_query_without_terms_wins_nowhere(tmp_path: Path) -> None:
    vectors = {"a": EAST, "b": (-1.0, 0.0)}
    queries = [("", 0), ("a", 0), ("b", 0), ("zebra", 0), ("a zebra", 0)]
    batch = make_batch(tmp_path, ["a x", "b"], queries, None, vectors)
    found = larger_is_better(pa.table(values_of(batch) | {"rank": np.zeros(5, np.int32)}))
    assert (found[0] <= found).all()
