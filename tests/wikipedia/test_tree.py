"""Wiki Structure Trees by hand, and the properties that any list of sections must lead to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation.records import Section
from irpretrain.wikipedia.article import (
    WikiStructureTree,
    build_tree,
    in_roles,
    read_sections,
    section_parents,
)

ROLES = {"Lists!": "see-also", "Notes!": "boilerplate"}


def sections(*outline: str) -> list[Section]:
    """Sections of an outline: "== History" has text, "== History -" has none; the lead comes by itself.

    Headings are in no language: "Lists!" is a See Also section, "Notes!" boilerplate.
    """
    found = [Section(0, "", 0, 5)]
    for number, line in enumerate(outline, 1):
        marks, _, heading = line.partition(" ")
        start = 10 * number
        empty = heading.endswith("-")
        found.append(
            Section(
                len(marks),
                heading.rstrip("-").strip(),
                start,
                start if empty else start + 5,
                ROLES.get(heading.rstrip(" -"), ""),
            )
        )
    return found


def shape(tree: WikiStructureTree) -> list[tuple[str, str]]:
    """(title, parent's title) of every node."""
    return [(node.title, tree.nodes[node.parent].title if node.parent >= 0 else "-") for node in tree.nodes]


def test_an_article_with_sections_and_subsections():
    tree = build_tree("Tea", sections("== History", "=== China", "=== Europe", "==== Ports", "== Uses"))
    assert shape(tree) == [
        ("Tea", "-"),
        ("History", "Tea"),
        ("China", "History"),
        ("Europe", "History"),
        ("Ports", "Europe"),
        ("Uses", "Tea"),
    ]
    assert [node.depth for node in tree.nodes] == [0, 1, 2, 2, 3, 1]
    assert tree.children(0) == (1, 5)
    assert tree.children(1) == (2, 3)
    assert tree.children(5) == ()
    assert tree.path(0) == ("Tea",)
    assert tree.path(4) == ("Tea", "History", "Europe", "Ports")
    assert tree.leaves() == (2, 4, 5)
    assert (tree.nodes[4].section, tree.nodes[4].start, tree.nodes[4].end) == (4, 40, 45)


def test_children_of_many_sections():
    tree = build_tree("T", sections(*["== A", "=== B", "=== C"] * 5_000))
    assert len(tree.children(0)) == 5_000
    assert all(tree.children(1 + 3 * n) == (2 + 3 * n, 3 + 3 * n) for n in range(5_000))


def test_only_a_lead():
    tree = build_tree("Tea", sections())
    assert shape(tree) == [("Tea", "-")]
    assert tree.leaves() == (0,)
    with pytest.raises(ValueError, match="lead"):
        build_tree("Tea", [])


def test_level_jumps_attach_to_the_nearest_shallower_heading():
    down = build_tree("T", sections("== A", "==== B", "=== C", "==== D", "== E"))
    assert shape(down) == [("T", "-"), ("A", "T"), ("B", "A"), ("C", "A"), ("D", "C"), ("E", "T")]
    deep_first = build_tree("T", sections("==== A", "=== B", "== C"))
    assert shape(deep_first) == [("T", "-"), ("A", "T"), ("B", "T"), ("C", "T")]
    top_level = build_tree("T", sections("== A", "= B", "== C"))
    assert shape(top_level) == [("T", "-"), ("A", "T"), ("B", "T"), ("C", "B")]


def test_sections_without_text_in_them_or_below_are_dropped_by_option():
    outline = sections("== A -", "=== B -", "=== C", "== D -", "=== E -", "== F")
    assert len(build_tree("T", outline).nodes) == 7
    tree = build_tree("T", outline, drop_empty=True)
    assert shape(tree) == [("T", "-"), ("A", "T"), ("C", "A"), ("F", "T")]
    assert [node.empty for node in tree.nodes] == [False, True, False, False]
    assert [node.section for node in tree.nodes] == [0, 1, 3, 6]


def test_an_empty_lead_stays():
    tree = build_tree("T", [Section(0, "", 0, 0), Section(2, "A", 2, 4)], drop_empty=True)
    assert shape(tree) == [("T", "-"), ("A", "T")]
    assert build_tree("T", [Section(0, "", 0, 0)], drop_empty=True).nodes[0].empty


def test_boilerplate_is_dropped_with_all_below():
    outline = sections("== A", "=== Notes!", "== Lists!", "=== B", "==== C", "== Notes too")
    tree = build_tree("T", outline, drop_boilerplate=True)
    assert shape(tree) == [("T", "-"), ("A", "T"), ("Notes too", "T")]
    assert len(build_tree("T", outline).nodes) == 7
    assert in_roles(outline, ["see-also"]) == [False, False, False, True, True, True, False]


def test_the_nearest_role_decides():
    outline = sections(
        "== Lists!", "=== A", "=== Notes!", "==== B", "==== Lists!", "=== C", "== Notes!", "=== Lists!"
    )
    within_lists = [
        section.heading
        for section, inside in zip(outline, in_roles(outline, ["see-also"]), strict=True)
        if inside
    ]
    assert within_lists == ["Lists!", "A", "Lists!", "C", "Lists!"]
    assert all(in_roles(outline, ["see-also", "boilerplate"])[1:])


def test_text_in_boilerplate_keeps_no_empty_section():
    tree = build_tree("T", sections("== A -", "=== Notes!"), drop_empty=True, drop_boilerplate=True)
    assert shape(tree) == [("T", "-")]


def test_the_lead_is_never_boilerplate():
    assert in_roles([Section(0, "", 0, 1, "boilerplate")], ["boilerplate"]) == [False]


def test_rows_of_the_table():
    row = {"level": 2, "heading": "Notes", "start": 0, "end": 3, "role": "boilerplate"}
    assert read_sections([row], "abc def") == [Section(2, "Notes", 0, 3, "boilerplate")]
    assert read_sections([], "abc def") == [Section(0, "", 0, 7)]


OUTLINES = st.lists(
    st.tuples(st.integers(1, 7), st.sampled_from(["A", "B", "Notes!", "Lists!"]), st.booleans()), max_size=14
).map(
    lambda rows: [
        Section(0, "", 0, 1),
        *(Section(level, name, 9, 9 + full, ROLES.get(name, "")) for level, name, full in rows),
    ]
)


@given(OUTLINES)
def test_parents_are_the_nearest_shallower_sections(outline):
    parents = section_parents(outline)
    assert parents[0] == -1
    for number in range(1, len(outline)):
        shallower = [n for n in range(number) if outline[n].level < outline[number].level]
        assert parents[number] == max(shallower)


@given(OUTLINES, st.booleans(), st.booleans())
def test_any_tree_is_sound(outline, drop_empty, drop_boilerplate):
    tree = build_tree("T", outline, drop_empty, drop_boilerplate)
    parents = section_parents(outline)
    assert tree.nodes[0].parent == -1
    reached = [0]
    for number in reached:
        reached += tree.children(number)
    assert sorted(reached) == list(range(len(tree.nodes))), "every node is below the root, once"
    for number, node in enumerate(tree.nodes[1:], 1):
        assert node.parent < number
        assert node.depth == tree.nodes[node.parent].depth + 1
        assert tree.nodes[node.parent].section == parents[node.section], "no node changes its parent"
        assert tree.path(number) == (*tree.path(node.parent), node.title)
        assert len(tree.path(number)) == node.depth + 1
        assert not (drop_boilerplate and node.title in ROLES)
    if drop_empty:
        assert not any(tree.nodes[leaf].empty for leaf in tree.leaves() if leaf)
    if not drop_empty and not drop_boilerplate:
        assert [node.section for node in tree.nodes] == list(range(len(outline)))
    assert [node.section for node in tree.nodes] == sorted({node.section for node in tree.nodes})
