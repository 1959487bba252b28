"""Abstract texts identification (ATI), an objective of Wikiformer (Su et al., AAAI 2024).

An article's title prefers the abstract, which is its lead section, to its other sections.
docs/methods/wikiformer.md states everything exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.objectives.boilerplate import Boilerplate
from irpretrain.objectives.draws import some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.wikipedia.tree import build_tree

NEEDS = frozenset({"positions"})


class Options(Section):
    """Wikiformer's ATI: the abstract is preferred to sections for the article's title."""

    type: Literal["ati"] = option(..., "This objective.")
    minimum_words: int = option(
        1, "Sections (and abstracts) with fewer words are not used.", unit="words", ge=1
    )
    most_negatives: int | None = option(
        None, "Maximum negatives per group; null: all.", unit="sections", ge=1
    )
    boilerplate: Boilerplate = "drop"


def make_groups(shard: Shard, options: Options, counts: Counts) -> Iterator[Group]:
    """Yield one group an article: one query, the title; several documents, the lead section first."""
    for article in shard.articles(counts):
        tree = build_tree(article.title, article.sections, drop_boilerplate=options.boilerplate == "drop")
        abstract, *others = (
            article.span(node.start, node.end)
            if article.words(node.start, node.end) >= options.minimum_words
            else None
            for node in tree.nodes
        )
        sections = [span for span in others if span is not None]
        if not article.title.strip():
            counts.skip("no_title")
        elif abstract is None:
            counts.skip("no_abstract")
        elif not sections:
            counts.skip("no_other_section")
        else:
            rng = shard.stream(options.type, article.document_id)
            negatives = some(rng, sections, options.most_negatives)
            yield group(article.place, [article.title], [abstract, *negatives])
