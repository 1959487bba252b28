"""What SRR and RWI choose of trees, on trees that one sees whole."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.papers import read_preset
from irpretrain.foundation.records import Section
from irpretrain.objectives import rwi, srr
from irpretrain.wikipedia.article import WikiStructureTree, build_tree


def srr_options(preset: str = "paper", **given: Any) -> srr.OPTIONS:
    return srr.OPTIONS(**{"type": "srr", **read_preset(preset)["objectives"]["srr"], **given})


def tree_of(levels: Sequence[int], titles: Sequence[str] = ()) -> tuple[WikiStructureTree, list[int]]:
    """A tree of sections 1, 2, … with these levels below the root "T"; sections are called s1, s2, …"""
    names = list(titles) or [f"s{number}" for number in range(1, len(levels) + 1)]
    rows = [Section(0, "", 0, 1)]
    rows += [
        Section(level, name, n, n + 1) for n, (level, name) in enumerate(zip(levels, names, strict=True), 1)
    ]
    return build_tree("T", rows), [0, *levels]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# T ─ s1 ─ s2, s3 (─ s4) ; T ─ s5, s6
LEVELS = [2, 3, 3, 4, 2, 2]


def test_srr_sets_the_children_of_each_node_against_each_other() -> None:
    tree, levels = tree_of(LEVELS)
    choices = srr.choose(tree, levels, [True] * 7, srr_options(), rng())
    assert [{choice.positive, *choice.negatives} for choice in choices] == [{1, 5, 6}, {2, 3}]


def test_srr_leaves_out_sections_without_enough_text() -> None:
    tree, levels = tree_of(LEVELS)
    competes = [True, True, False, True, True, False, True]
    [choice] = srr.choose(tree, levels, competes, srr_options(), rng())
    assert {choice.positive, *choice.negatives} == {1, 6}
    assert srr.choose(tree, levels, competes, srr_options(minimum_candidates=3), rng()) == []


def test_srr_prefers_each_section_equally_often() -> None:
    tree, levels = tree_of([2, 2, 2])
    stream = rng(5)
    positives = Counter(
        srr.choose(tree, levels, [True] * 4, srr_options(), stream)[0].positive for _ in range(3000)
    )
    assert all(900 < positives[number] < 1100 for number in (1, 2, 3))


def test_srr_as_released_takes_the_first_of_the_deepest_sections_and_all_others() -> None:
    tree, levels = tree_of(LEVELS)
    [choice] = srr.choose(tree, levels, [True] * 7, srr_options("released"), rng())
    assert choice == (2, [1, 3, 4, 5, 6])  # deepest level 4; s2 is the first with level 3 or more


@pytest.mark.parametrize(
    ("levels", "competing"),
    [
        (LEVELS, [1, 2, 3]),  # too few compete
        (LEVELS[:5], [1, 2, 3, 4, 5]),  # needs more than five sections
        ([5, 2, 2, 2, 2, 2], [2, 3, 4, 5, 6]),  # the deepest does not compete
    ],
)
def test_srr_as_released_needs_enough_and_deep_sections(levels: list[int], competing: list[int]) -> None:
    tree, all_levels = tree_of(levels)
    is_eligible = [number in competing for number in range(len(all_levels))]
    assert srr.choose(tree, all_levels, is_eligible, srr_options("released"), rng()) == []


@pytest.mark.parametrize("preset", ["paper", "released"])
@given(
    levels=st.lists(st.integers(2, 5), max_size=9),
    lengths=st.lists(st.booleans(), min_size=10, max_size=10),
    seed=st.integers(0, 99),
    groups=st.none() | st.integers(1, 2),
    most=st.none() | st.integers(1, 2),
)
def test_srr_never_sets_a_section_against_itself(
    preset: str, levels: list[int], lengths: list[bool], seed: int, groups: int | None, most: int | None
) -> None:
    tree, all_levels = tree_of(levels)
    options = srr_options(preset, groups_per_document=groups, most_negatives=most, minimum_sections=0)
    choices = srr.choose(tree, all_levels, lengths[: len(tree.nodes)], options, rng(seed))
    for choice in choices:
        members = [choice.positive, *choice.negatives]
        assert len(set(members)) == len(members) >= 2
        assert all(lengths[number] and number > 0 for number in members)
        assert len(choice.negatives) <= (most or 99)
        if preset == "paper":
            assert len({tree.nodes[number].parent for number in members}) == 1
    assert len(choices) <= (groups or 99)


def test_rwi_by_hand() -> None:
    tree, _ = tree_of([2, 3, 2])  # T ─ s1 ─ s2 ; T ─ s3
    options = rwi.OPTIONS(type="rwi", negatives=9, groups_per_document=None)
    choices = {
        choice.node: {frozenset(q) for q in choice.negatives}
        for choice in rwi.choose(tree, [1, 2, 3], options, rng())
    }
    assert choices == {
        1: {frozenset(["T", "s2"]), frozenset(["T", "s3"])},
        2: {frozenset(["T", "s1", "s3"]), frozenset(["T", "s2", "s3"])},
        3: {frozenset(["T", "s1"]), frozenset(["T", "s2"])},
    }


def test_rwi_needs_another_query() -> None:
    tree, _ = tree_of([2])
    assert rwi.choose(tree, [1], rwi.OPTIONS(type="rwi"), rng()) == []
    twins, _ = tree_of([2, 2], ["same", "same"])
    assert rwi.choose(twins, [1, 2], rwi.OPTIONS(type="rwi"), rng()) == []


@given(
    st.lists(st.integers(2, 5), min_size=1, max_size=9),
    st.lists(st.sampled_from("abcdef"), min_size=9, max_size=9),
    st.integers(1, 4),
    st.none() | st.integers(1, 3),
    st.integers(0, 99),
)
def test_rwi_queries_have_as_many_titles_as_the_path_and_other_ones(
    levels: list[int], names: list[str], count: int, groups: int | None, seed: int
) -> None:
    tree, _ = tree_of(levels, names[: len(levels)])
    options = rwi.OPTIONS(type="rwi", negatives=count, groups_per_document=groups)
    choices = rwi.choose(tree, range(1, len(tree.nodes)), options, rng(seed))
    assert len(choices) <= (groups or 99)
    assert [choice.node for choice in choices] == sorted({choice.node for choice in choices})
    for node, negatives in choices:
        path = tree.path(node)
        assert len(path) == tree.nodes[node].depth + 1  # a query of depth n (the root's is 1) has n titles
        assert 1 <= len(negatives) <= count
        assert len({tuple(sorted(titles)) for titles in (path, *negatives)}) == 1 + len(negatives)
        for titles in negatives:
            assert titles[0] == "T"
            assert len(titles) == len(path)
            others = Counter(titles[1:])
            assert not others - Counter(node.title for node in tree.nodes[1:])
