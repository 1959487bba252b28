"""Representative words identification (RWI), an objective of Wikiformer (Su et al., AAAI 2024).

A section prefers, as its query, the titles on the path to it to the article's title followed by as many titles of other
sections. docs/methods/wikiformer.md has every detail.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from irpretrain.config.base import Section, option
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.wikipedia.article import WikiStructureTree, build_tree

NEEDS = frozenset({"positions"})

# Draws a negative query gets before the article counts as having no other.
MAX_TRIES = 50


class RwiOptions(Section):
    """Wikiformer's RWI: a section's own path of titles is preferred to other titles."""

    type: Literal["rwi"] = option(..., "This objective.")
    negatives: int = option(1, "Maximum negatives.", ge=1)
    groups_per_document: int | None = option(
        1, "Maximum sections per article; null: all.", unit="sections", ge=1
    )


OPTIONS = RwiOptions


class RwiChoice(NamedTuple):
    """A node of a tree, and the titles of each negative query."""

    node: int
    negatives: list[tuple[str, ...]]


def make_groups(shard: Shard, options: RwiOptions, counts: Counts) -> Iterator[Group]:
    """Yield RWI's groups: several queries; one document, the span of a section.

    Counts negatives_lacking: missing queries of small articles.
    """
    counts.update(negatives_lacking=0)
    for article in shard.articles(counts):
        tree = build_tree(article.title, article.sections, drop_boilerplate=True)
        spans = [article.span(node.start, node.end) for node in tree.nodes]
        usable_sections = [
            section
            for section, node in enumerate(tree.nodes)
            if section and spans[section] and article.words(node.start, node.end) > 0
        ]
        choices = choose(tree, usable_sections, options, shard.stream(options.type, article.document_id))
        if not choices:
            counts.skip("no_section_with_another_query" if usable_sections else "no_section_with_text")
        for sample, choice in enumerate(choices):
            counts["negatives_lacking"] += options.negatives - len(choice.negatives)
            span = spans[choice.node]
            assert span is not None
            queries = [" ".join(titles) for titles in (tree.path(choice.node), *choice.negatives)]
            yield group(article.location, queries, [span], sample=sample)


def choose(
    tree: WikiStructureTree, usable_sections: Sequence[int], options: RwiOptions, rng: np.random.Generator
) -> list[RwiChoice]:
    """Return some of `usable_sections` (no root), each with its negative queries, without those that have none."""
    choices: list[RwiChoice] = []
    for index in rng.permutation(len(usable_sections)):
        if len(choices) == options.groups_per_document:
            break
        negatives = _negatives(tree, usable_sections[index], options.negatives, rng)
        if negatives:
            choices.append(RwiChoice(usable_sections[index], negatives))
    return sorted(choices)


def _negatives(
    tree: WikiStructureTree, node: int, count: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Return at most `count` queries with as many titles as the node's path, no two of the same titles.

    A path of n titles begins with the article's own; the n − 1 others are those of different nodes, drawn with equal
    probabilities, in the order drawn.
    """
    path = tree.path(node)
    drawn_titles = {tuple(sorted(path))}
    negatives: list[tuple[str, ...]] = []
    for _ in range(MAX_TRIES * count):
        if len(negatives) == count:
            break
        drawn_nodes = rng.choice(len(tree.nodes) - 1, size=len(path) - 1, replace=False) + 1
        titles = (path[0], *(tree.nodes[drawn_node].title for drawn_node in drawn_nodes))
        if (sorted_titles := tuple(sorted(titles))) not in drawn_titles:
            drawn_titles.add(sorted_titles)
            negatives.append(titles)
    return negatives
