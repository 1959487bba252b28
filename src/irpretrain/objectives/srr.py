"""Simulated re-ranking (SRR), an objective of Wikiformer (Su et al., AAAI 2024, "Simulated Re-ranking").

Of similar sections, such as the children of one node of the Wiki Structure Tree, the titles on the path to one are the
query; its text is preferred to the others'. docs/methods/wikiformer.md has every detail.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from irpretrain.config.base import Section, option
from irpretrain.objectives.draws import draw_some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.wikipedia.article import WikiStructureTree, build_tree

NEEDS = frozenset({"positions"})


class SrrOptions(Section):
    """Wikiformer's SRR: one section is preferred to others for its path of titles."""

    type: Literal["srr"] = option(..., "This objective.")
    candidates: Literal["siblings", "article"] = option(
        ..., "Sections that compete: the children of one node, or all of the article."
    )
    positive: Literal["random", "deepest-first"] = option(
        ..., "Preferred section: a random one, or the first at the deepest level or one above."
    )
    minimum_words: int = option(
        ..., "Sections with fewer words of their own do not compete.", unit="words", ge=1
    )
    minimum_candidates: int = option(..., "Minimum competing sections.", unit="sections", ge=2)
    minimum_sections: int = option(
        ...,
        "Articles with fewer sections, without the lead, are skipped.",
        unit="sections",
        ge=0,
    )
    groups_per_document: int | None = option(
        None, "Maximum groups per article; null: all.", unit="groups", ge=1
    )
    most_negatives: int | None = option(
        None, "Maximum negatives per group; null: all.", unit="sections", ge=1
    )


OPTIONS = SrrOptions


class SrrChoice(NamedTuple):
    """Nodes of a tree: the preferred one and those that it is preferred to."""

    positive: int
    negatives: list[int]


def make_groups(shard: Shard, options: SrrOptions, counts: Counts) -> Iterator[Group]:
    """Yield SRR's groups: one query, the titles on a path; several documents, spans of sections."""
    for article in shard.articles(counts):
        tree = build_tree(article.title, article.sections, drop_boilerplate=True)
        spans = [article.span(node.start, node.end) for node in tree.nodes]
        is_eligible = [
            span is not None and article.words(node.start, node.end) >= options.minimum_words
            for node, span in zip(tree.nodes, spans, strict=True)
        ]
        rng = shard.stream(options.type, article.document_id)
        levels = [section.level for section in article.sections]
        choices = choose(tree, levels, is_eligible, options, rng)
        if not choices:
            has_too_few = len(tree.nodes) - 1 < max(options.minimum_sections, 1)
            counts.skip("too_few_sections" if has_too_few else "too_few_candidates")
        for sample, choice in enumerate(choices):
            yield group(
                article.location,
                [" ".join(tree.path(choice.positive))],
                [span for node_index in (choice.positive, *choice.negatives) if (span := spans[node_index])],
                sample=sample,
            )


def choose(
    tree: WikiStructureTree,  # the article's tree
    levels: Sequence[int],  # level of each section of the article, by the section's number
    is_eligible: Sequence[bool],  # of each node, whether it has enough text
    options: SrrOptions,
    rng: np.random.Generator,  # the document's random stream
) -> list[SrrChoice]:
    """Return the preferred and the other sections of each group, in the order of the text."""
    if len(tree.nodes) - 1 < options.minimum_sections:
        return []
    max_level = max((levels[node.section] for node in tree.nodes), default=0)
    candidate_sets = []
    for competitors in _competing_sets(tree, options.candidates):
        eligible = [node for node in competitors if is_eligible[node]]
        positives = eligible
        if options.positive == "deepest-first":
            positives = [n for n in eligible if levels[tree.nodes[n].section] >= max_level - 1][:1]
        if len(eligible) >= options.minimum_candidates and positives:
            candidate_sets.append((positives, eligible))
    choices = []
    for positives, eligible in draw_some(rng, candidate_sets, options.groups_per_document):
        positive = positives[int(rng.integers(len(positives)))]
        negatives = [node for node in eligible if node != positive]
        choices.append(SrrChoice(positive, draw_some(rng, negatives, options.most_negatives)))
    return choices


def _competing_sets(tree: WikiStructureTree, candidates: str) -> list[Sequence[int]]:
    """Return the sets of nodes that compete with each other; the root is in none."""
    if candidates == "article":
        return [tuple(range(1, len(tree.nodes)))]
    return [children for node in range(len(tree.nodes)) if (children := tree.children(node))]
