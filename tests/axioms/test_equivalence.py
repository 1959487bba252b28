"""All values against the definitions in plain Python, and what must not change them."""

from pathlib import Path

import pytest
from axiom_cases import make_batch, plain_options, reference, values_of
from hypothesis import given
from hypothesis import strategies as st

WORDS = ["a", "b", "c", "d", "e"]
texts_strategy = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=4)
queries_strategy = st.lists(
    st.tuples(
        st.lists(st.sampled_from([*WORDS, "zebra", "gnu"]), max_size=6).map(" ".join), st.integers(0, 3)
    ),
    min_size=1,
    max_size=6,
)
vectors_strategy = st.fixed_dictionaries({
    word: st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-2, 2)) for word in [*WORDS, "gnu"]
})  # fmt: skip


@given(
    texts=texts_strategy,
    queries=queries_strategy,
    vectors=vectors_strategy,
    missing=st.sampled_from(["worst", "skipped"]),
)
def test_values_are_those_of_the_definitions(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    queries: list[tuple[str, int]],
    vectors: dict[str, tuple[int, int, int]],
    missing: str,
) -> None:
    options = plain_options(missing_terms=missing, stm_3_threshold=0.4567)
    queries = [(query, document % len(texts)) for query, document in queries]
    batch = make_batch(tmp_path_factory.mktemp("case"), texts, queries, options, vectors)
    found = values_of(batch)
    for number, (query, document) in enumerate(queries):
        for column, expected in reference(query, document, texts, options, vectors).items():
            assert found[column][number] == pytest.approx(expected, abs=2e-9), (
                column,
                query,
                texts[document],
            )


@given(
    texts=texts_strategy,
    query=st.lists(st.sampled_from([*WORDS, "zebra", "gnu"]), max_size=6),
    vectors=vectors_strategy,
    data=st.data(),
)
def test_order_and_repetition_of_words_change_no_bit(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    query: list[str],
    vectors: dict[str, tuple[int, int, int]],
    data: st.DataObject,
) -> None:
    other = data.draw(st.permutations(query)) + query[:1]
    queries = [(" ".join(query), 0), (" ".join(other), 0)]
    batch = make_batch(tmp_path_factory.mktemp("case"), texts, queries, None, vectors)
    for column, found in values_of(batch).items():
        assert found[0] == found[1], column


def test_equal_sums_in_another_order_are_equal(tmp_path: Path) -> None:
    # The same three pairs of (tf, df) belong to the terms in another order of their names, and so of their sums.
    texts = ["a b b c c c f e e d d d", "a f", "a f", "a f x", "b e", *["x"] * 7]
    found = values_of(make_batch(tmp_path, texts, [("a b c", 0), ("d e f", 0)]))
    assert found["rep_ql"][0] == found["rep_ql"][1]
    assert found["rep_tfidf"][0] == found["rep_tfidf"][1]
