"""An article as the rest of the software sees it: plain text, and where its sections and links lie in it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from irpretrain.foundation.records import Link, Role, Section

# Sections of an article, the lead included; a page with more is left out. A column of 16 bits numbers them, and no
# article has a hundredth of them.
MAX_SECTIONS = 32_767


@dataclass(frozen=True, slots=True)
class Article:
    """Plain text of a page with its structure."""

    text: str  # one paragraph, list item or heading a line; no blank lines, no white space around a line
    sections: tuple[Section, ...]  # in the order of the text, disjoint; the first is the lead, always there
    links: tuple[Link, ...]  # likewise; only those to articles (no files, categories, other wikis)
    # Number of formulas, captions, tables and galleries that are shown and left out ("tables left out").
    parts: Mapping[str, int] = field(default_factory=dict, compare=False)
    # Whether the page only lists articles of like name: a template says so, or __DISAMBIG__ stands in it.
    disambiguation: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        # As plain tuples: pickling each section and link by itself would cost more than the rest of the way.
        sections, links = list(map(tuple, self.sections)), list(map(tuple, self.links))
        return _unpack, (self.text, sections, links, self.parts, self.disambiguation)


def _unpack(text: str, sections: list[Any], links: list[Any], *parts_and_kind: Any) -> Article:
    return Article(text, tuple(map(Section._make, sections)), tuple(map(Link._make, links)), *parts_and_kind)


# Wiki Structure Tree: an article's sections as a tree (Su et al., Wikiformer, AAAI 2024, "Simulated Re-ranking").
#
# The root is the title with the abstract (lead section). A section's parent is the nearest heading before it that is
# shallower, so a level that is jumped over (== to ====) leaves nothing out, and a heading shallower than all before
# it is a child of the root.


# Number of the root in every tree.
ROOT = 0
SEE_ALSO: Role = "see-also"
# Roles of sections that are no text about the article's subject.
BOILERPLATE: tuple[Role, ...] = (SEE_ALSO, "boilerplate")


@dataclass(frozen=True, slots=True)
class Node:
    """One section of an article; its number is its place in `WikiStructureTree.nodes`."""

    section: int  # its number among the article's sections
    title: str  # its heading; the article's title for the root
    # start, end: its own text, in characters of the body; equal where it has none.
    start: int
    end: int
    parent: int  # number of the parent, -1 for the root
    depth: int  # edges from the root

    @property
    def empty(self) -> bool:
        """Whether the section has no text of its own."""
        return self.start == self.end


@dataclass(frozen=True)
class WikiStructureTree:
    """The nodes in the order of the text, which is depth first; node 0 is the root."""

    nodes: tuple[Node, ...]

    def children(self, number: int) -> Sequence[int]:
        """Return the numbers of a node's children, in the order of the text."""
        return self._children[number]

    @cached_property
    def _children(self) -> Sequence[Sequence[int]]:
        # Of all nodes in one pass: a page may have thousands.
        children: list[list[int]] = [[] for _ in self.nodes]
        for node_number, node in enumerate(self.nodes[1:], 1):
            children[node.parent].append(node_number)
        return [tuple(child_numbers) for child_numbers in children]

    def path(self, number: int) -> tuple[str, ...]:
        """Return the titles from the root to a node, both included: depth + 1 of them."""
        titles = []
        while number >= 0:
            titles.append(self.nodes[number].title)
            number = self.nodes[number].parent
        return tuple(reversed(titles))

    def leaves(self) -> tuple[int, ...]:
        """Return the numbers of the nodes without children; the root is one where there is nothing else."""
        parents = {node.parent for node in self.nodes}
        return tuple(node_number for node_number in range(len(self.nodes)) if node_number not in parents)


def build_tree(
    title: str, sections: Sequence[Section], drop_empty: bool = False, drop_boilerplate: bool = False
) -> WikiStructureTree:
    """Return the tree of an article.

    Args:
        title: the article's title, which becomes the root's.
        sections: the article's sections in the order of the text, the lead first.
        drop_empty: leave out sections that have no text, neither their own nor in a section below them. An empty
            section with text below stays (its heading is part of their paths); `Node.empty` tells it.
        drop_boilerplate: leave out See Also and boilerplate sections with all below them.

    Raises:
        ValueError: there is no lead section.

    Examples:
        >>> from irpretrain import parse_wikitext
        >>> page = parse_wikitext("Lead.\\n== Use ==\\nIn pies.\\n=== Wine ===\\nIn perry.", "Pear")
        >>> tree = build_tree(page.title, page.sections)
        >>> [tree.path(number) for number in tree.leaves()]
        [('Pear', 'Use', 'Wine')]
    """
    if not sections:
        raise ValueError("an article has at least its lead section")
    parents = section_parents(sections)
    is_dropped = in_roles(sections, BOILERPLATE if drop_boilerplate else ())
    kept_sections = _kept_sections(sections, parents, is_dropped, drop_empty)
    node_of_section: dict[int, int] = {}
    nodes: list[Node] = []
    for section_number in kept_sections:
        section, parent = sections[section_number], node_of_section.get(parents[section_number], -1)
        depth = nodes[parent].depth + 1 if parent >= 0 else 0
        node_of_section[section_number] = len(nodes)
        node_title = section.heading if parent >= 0 else title
        nodes.append(Node(section_number, node_title, section.start, section.end, parent, depth))
    return WikiStructureTree(tuple(nodes))


def section_parents(sections: Sequence[Section]) -> list[int]:
    """Return each section's parent: the nearest before it with a smaller level, else the lead, whose own is -1."""
    parents: list[int] = []
    open_sections: list[int] = []
    for index, section in enumerate(sections):
        while len(open_sections) > 1 and sections[open_sections[-1]].level >= section.level:
            open_sections.pop()
        parents.append(open_sections[-1] if open_sections else -1)
        open_sections.append(index)
    return parents


def in_roles(sections: Sequence[Section], roles: Collection[Role]) -> list[bool]:
    """Say of each section whether it counts as one of the `roles`; the lead never does.

    A section's own role counts; where it has none, that of the nearest section above that has one: an external links
    section below a See Also section is none.
    """
    roles_with_parents: list[Role] = []
    for section, parent in zip(sections, section_parents(sections), strict=True):
        roles_with_parents.append("" if parent < 0 else section.role or roles_with_parents[parent])
    return [role in roles for role in roles_with_parents]


def read_sections(rows: Iterable[Mapping[str, Any]], body: str) -> list[Section]:
    """Return the sections of a row of DOCUMENTS; a document without any is one lead section, the whole body."""
    sections = [Section(row["level"], row["heading"], row["start"], row["end"], row["role"]) for row in rows]
    return sections or [Section(0, "", 0, len(body))]


def _kept_sections(
    sections: Sequence[Section], parents: Sequence[int], is_dropped: Sequence[bool], drop_empty: bool
) -> list[int]:
    has_text = [False] * len(sections)
    for index in reversed(range(len(sections))):
        if not is_dropped[index]:
            has_text[index] |= sections[index].start < sections[index].end
            if has_text[index] and parents[index] >= 0:
                has_text[parents[index]] = True
    return [
        index
        for index in range(len(sections))
        if index == ROOT or (not is_dropped[index] and (has_text[index] or not drop_empty))
    ]
