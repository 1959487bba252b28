import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from irpretrain.objectives.draws import RandomDocuments, draw_repeated, draw_some


@given(st.integers(0, 9), st.none() | st.integers(1, 9), st.integers(0, 99))
def test_some_items_are_different_and_in_their_own_order(size: int, most: int | None, seed: int) -> None:
    found = draw_some(np.random.default_rng(seed), list(range(size)), most)
    assert found == sorted(set(found))
    assert len(found) == (size if most is None else min(size, most))


@given(st.integers(1, 9), st.integers(1, 30), st.integers(0, 99))
def test_repeats_begin_when_all_were_taken(size: int, count: int, seed: int) -> None:
    found, repeated = draw_repeated(np.random.default_rng(seed), list(range(size)), count)
    assert len(found) == count
    assert repeated == max(0, count - size)
    assert len(set(found[:size])) == min(size, count)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.sets(st.integers(0, 39), max_size=6),
    st.integers(1, 8),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_random_documents_are_long_enough_not_excluded_and_repeat_only_when_scarce(
    words: list[int], excluded: set[int], count: int, least: int, seed: int
) -> None:
    documents = RandomDocuments(np.array(words, np.int32), least)
    allowed = {number for number, length in enumerate(words) if length >= least} - excluded
    found, repeated = documents.draw(np.random.default_rng(seed), count, excluded)
    assert set(found) <= allowed
    if allowed:
        assert len(found) == count
        assert repeated == max(0, count - len(allowed))
        assert len(set(found)) == count - repeated
    else:
        assert (found, repeated) == ([], 0)


@pytest.mark.parametrize("size", [5, 50])
def test_every_document_is_drawn_equally_often(size: int) -> None:
    documents, rng = RandomDocuments(np.ones(size, np.int32)), np.random.default_rng(3)
    drawn = np.concatenate([documents.draw(rng, 2, {0})[0] for _ in range(4000)])
    counts = np.bincount(drawn, minlength=size)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 1e-4


@pytest.mark.parametrize("size", [4, 5])
def test_of_many_documents_one_is_drawn_until_it_is_allowed(size: int) -> None:
    """Four documents of which one is barred are many: at least half of the draws give another one."""
    for seed in range(20):
        rng, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        while (expected := int(plain.integers(size))) == 0:
            pass
        assert RandomDocuments(np.ones(size, np.int32)).draw(rng, 1, {0}) == ([expected], 0)
