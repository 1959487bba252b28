"""Axioms as features: values of a document, and preferences between two documents of a query."""

import numpy as np
import pytest

from irpretrain import Collection, Options
from irpretrain.foundation.errors import ConfigError

VECTORS = {"minimum_count": 1, "dimensions": 4}
AXIOMS = ["rank", "rep_ql", "rep_tfidf", "prox_1", "prox_2", "reg", "stm_1", "stm_2", "stm_3"]
TEXTS = {
    "a": "apple pie with apple juice",
    "b": "an apple tree",
    "c": "juice of an apple tree",
    "d": "apple tree and old juice",
    "e": "pear",
}
QUERIES = ["apple juice", "apple", "pear juice", "zebra", "the", ""]


@pytest.fixture(scope="module")
def fruit() -> Collection:
    return Collection(TEXTS, Options(word_vectors=VECTORS))


def test_values_are_finite_or_missing(fruit: Collection) -> None:
    values = fruit.axioms([(query, name) for query in QUERIES for name in TEXTS])
    assert {str(kind) for kind in values[AXIOMS].dtypes} == {"float64"}
    assert not np.isinf(values[AXIOMS].to_numpy()).any()
    assert not (values["rank"] == 0).any()


def test_what_is_missing(fruit: Collection) -> None:
    values = fruit.axioms([("apple juice", "a"), ("apple juice", "b"), ("apple", "e"), ("the", "a")])
    lacking, without_terms = values.iloc[1], values.iloc[3]
    assert values.iloc[0][AXIOMS].notna().all()
    assert (values.iloc[0]["prox_1"], values.iloc[0]["prox_2"]) == (1.5, 2.0)
    assert lacking.index[lacking.isna()].tolist() == ["prox_1", "prox_2"]
    assert np.isnan(values.iloc[2]["rank"])  # no term of the query: not retrieved
    assert without_terms[AXIOMS].isna().all()


def test_a_rank_beyond_the_depth_is_missing() -> None:
    fruit = Collection(TEXTS, Options(word_vectors=VECTORS, axioms={"rank_depth": 1}))
    ranks = fruit.axioms([("apple", name) for name in TEXTS])["rank"]
    assert ranks.dropna().tolist() == [1.0]


def prefers(collection: Collection, query: str, first: str, second: str) -> dict[str, int]:
    (row,) = collection.axiom_preferences([(query, first, second)])[AXIOMS].to_dict("records")
    return row


def test_preferences_by_hand(fruit: Collection) -> None:
    # Between "apple" and "juice" are two words in c and three in d; their first places are 0 and 3 in c, 0 and 4 in d.
    found = prefers(fruit, "apple juice", "c", "d")
    assert found.items() >= {"prox_1": 1, "prox_2": 1, "rep_tfidf": 0, "reg": 0, "stm_2": 0}.items()
    # a holds both words, b only "apple": nothing is said of distances.
    found = prefers(fruit, "apple juice", "a", "b")
    expected = {"prox_1": 0, "prox_2": 0, "rank": 1, "rep_ql": 1, "rep_tfidf": 1, "reg": 1}
    assert found.items() >= expected.items()
    assert prefers(fruit, "the", "a", "b") == dict.fromkeys(AXIOMS, 0)


def test_documents_that_lack_the_same_term_are_compared_by_the_others(fruit: Collection) -> None:
    found = prefers(fruit, "apple juice zebra", "c", "a")
    assert found["prox_1"] == prefers(fruit, "apple juice", "c", "a")["prox_1"] == -1
    assert prefers(fruit, "apple juice tree", "a", "c")["prox_1"] == 0


def test_a_document_beyond_the_depth_is_behind_every_other_one() -> None:
    fruit = Collection(TEXTS, Options(word_vectors=VECTORS, axioms={"rank_depth": 1}))
    assert prefers(fruit, "pear", "e", "a")["rank"] == 1
    assert prefers(fruit, "pear", "a", "e")["rank"] == -1
    assert prefers(fruit, "pear", "a", "b")["rank"] == 0


def test_the_other_order_is_the_opposite_preference(fruit: Collection) -> None:
    pairs = [(query, first, second) for query in QUERIES for first in TEXTS for second in TEXTS]
    found = fruit.axiom_preferences(pairs)
    other = fruit.axiom_preferences([(query, second, first) for query, first, second in pairs])
    assert {str(kind) for kind in found[AXIOMS].dtypes} == {"int8"}
    assert set(np.unique(found[AXIOMS])) == {-1, 0, 1}
    np.testing.assert_array_equal(found[AXIOMS], -other[AXIOMS])
    same = found[found["first"] == found["second"]]
    assert not same[AXIOMS].to_numpy().any()


def test_no_pairs_and_numbers_as_identifiers() -> None:
    fruit = Collection(["apple pie", "pear pie"], Options(word_vectors=VECTORS))
    assert len(fruit.axiom_preferences([])) == 0
    found = fruit.axiom_preferences([("pear", 1, 0)])
    assert found[["query", "first", "second"]].to_numpy().tolist() == [["pear", "1", "0"]]
    assert found["stm_2"].tolist() in ([0], [1])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("apple", "a")], "pair 0: a query and two document identifiers are needed, not ('apple', 'a')"),
        (
            [("apple", "a", "b"), "apple"],
            "pair 1: a query and two document identifiers are needed, not 'apple'",
        ),
        ([("apple", "a", "z")], "pair 0: the collection has no document 'z'"),
        ("apple", "pairs: give a list, not 'apple'"),
    ],
)
def test_wrong_pairs(fruit: Collection, pairs: object, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        fruit.axiom_preferences(pairs)  # type: ignore[arg-type]
    assert str(caught.value) == message
