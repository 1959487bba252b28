"""Wiki Structure Trees by hand, and the properties that any list of sections must lead to."""

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


EMPTY = ["== A -", "=== B -", "=== C", "== D -", "=== E -", "== F"]
NOTES = ["== A", "=== Notes!", "== Lists!", "=== B", "==== C", "== Notes too"]


@pytest.mark.parametrize(
    ("outline", "options", "nodes"),
    [
        ([], {}, ""),
        # A section hangs on the nearest heading before it that is shallower, whatever levels are jumped over.
        (["== A", "==== B", "=== C", "==== D", "== E"], {}, "A/T B/A C/A D/C E/T"),
        (["==== A", "=== B", "== C"], {}, "A/T B/T C/T"),
        (["== A", "= B", "== C"], {}, "A/T B/T C/B"),
        # Sections without text in them or below are dropped by option.
        (EMPTY, {}, "A/T B/A C/A D/T E/D F/T"),
        (EMPTY, {"drop_empty": True}, "A/T C/A F/T"),
        # Boilerplate is dropped with all below, and its text keeps no empty section.
        (NOTES, {}, "A/T Notes!/A Lists!/T B/Lists! C/B Notes_too/T"),
        (NOTES, {"drop_boilerplate": True}, "A/T Notes_too/T"),
        (["== A -", "=== Notes!"], {"drop_empty": True, "drop_boilerplate": True}, ""),
    ],
)
def test_the_tree_of_an_outline(outline, options, nodes):
    """Nodes below the root as title/parent."""
    tree = build_tree("T", sections(*outline), **options)
    found = [f"{title}/{parent}".replace(" ", "_") for title, parent in shape(tree)]
    assert found == ["T/-", *nodes.split()]
    has_text = {section.heading: section.start < section.end for section in sections(*outline)}
    assert [node.empty for node in tree.nodes[1:]] == [not has_text[node.title] for node in tree.nodes[1:]]


def test_an_empty_lead_stays():
    tree = build_tree("T", [Section(0, "", 0, 0), Section(2, "A", 2, 4)], drop_empty=True)
    assert shape(tree) == [("T", "-"), ("A", "T")]
    assert build_tree("T", [Section(0, "", 0, 0)], drop_empty=True).nodes[0].empty
    with pytest.raises(ValueError, match="lead"):
        build_tree("T", [])


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
