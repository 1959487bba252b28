"""Abstract texts identification (ATI), an objective of Wikiformer (Su et al., AAAI 2024).

An article's title prefers the abstract, which is its lead section, to its other sections.
docs/methods/wikiformer.md states everything exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.config.text import TextConfig
from irpretrain.objectives.boilerplate import Boilerplate

if TYPE_CHECKING:
    from irpretrain.objectives.articles import Article

NEEDS = frozenset({"positions"})


class Options(Section):
    """Wikiformer's ATI: the abstract is preferred to sections for the article's title."""

    type: Literal["ati"] = Field(description="This objective.")
    minimum_words: int = Field(
        1,
        ge=1,
        description="Sections (and abstracts) with fewer words are not used.",
        json_schema_extra={"unit": "words"},
    )
    most_negatives: int | None = Field(
        None,
        ge=1,
        description="Maximum negatives per group, drawn at random; null: all.",
        json_schema_extra={"unit": "sections"},
    )
    boilerplate: Boilerplate = "drop"


def build_groups(
    documents: str | Path,
    statistics: str | Path | None,
    tokens: str | Path,
    graph: str | Path | None,
    options: Options,
    text: TextConfig,
    seed: int,
    output: str | Path,
) -> dict[str, Any]:
    """Write the ATI groups of a corpus shard, one an article: one query, the title; documents, the lead section first.

    Args and returns as for `irpretrain.objectives.srr.build_groups`.
    """
    from irpretrain.objectives.articles import write_groups
    from irpretrain.objectives.draws import some, stream_of
    from irpretrain.objectives.groups import group
    from irpretrain.wikipedia.tree import build_tree

    def groups_of(article: Article, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
        tree = build_tree(article.title, article.sections, drop_boilerplate=options.boilerplate == "drop")
        abstract, *others = (
            article.span(node.start, node.end)
            if article.words(node.start, node.end) >= options.minimum_words
            else None
            for node in tree.nodes
        )
        sections = [span for span in others if span is not None]
        if not article.title.strip():
            skipped["no_title"] += 1
        elif abstract is None:
            skipped["no_abstract"] += 1
        elif not sections:
            skipped["no_other_section"] += 1
        else:
            rng = stream_of(seed, options.type, article.document_id)
            negatives = some(rng, sections, options.most_negatives)
            yield group(article.place, [article.title], [abstract, *negatives])

    return write_groups(documents, tokens, text, output, options.type, groups_of)
