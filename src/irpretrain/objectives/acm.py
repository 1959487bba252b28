"""Anchor co-occurrence modelling (ACM), an objective of HARP (Ma et al., CIKM 2021), a baseline.

Two documents are linked in one sentence: the anchor of one, with words of that document, prefers the other document to
a random one. docs/methods/baselines.md states everything exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from irpretrain.config.text import TextConfig
from irpretrain.objectives.anchors import Anchor, AnchorOptions

if TYPE_CHECKING:
    from irpretrain.objectives.articles import Article

NEEDS = frozenset({"statistics", "positions", "graph", "collection"})


class Options(AnchorOptions):
    """HARP's ACM: the anchor of one linked document prefers the other document of the sentence to random ones."""

    type: Literal["acm"] = Field(description="This objective.")
    negatives: int = Field(
        1,
        ge=1,
        description="Random documents as negatives.",
        json_schema_extra={"unit": "documents"},
    )


class Draft(NamedTuple):
    """A group that still lacks the words of the document that its query is about."""

    place: tuple[int, int]
    sample: int
    anchor: str
    about: str
    ranked: tuple[str, ...]
    stream: str


def build_groups(
    documents: str | Path,
    statistics: str | Path,
    tokens: str | Path,
    graph: str | Path,
    options: Options,
    text: TextConfig,
    seed: int,
    output: str | Path,
    collection: Sequence[str | Path],
) -> dict[str, Any]:
    """Write the ACM groups of a corpus shard: one query, literal; several whole documents.

    Args and returns as for `irpretrain.objectives.rqp.build_groups`, and negatives_repeated.
    """
    from irpretrain.contracts import GROUPS
    from irpretrain.objectives.anchors import WordDraws, anchor_text, find_anchors
    from irpretrain.objectives.articles import draft_groups
    from irpretrain.objectives.draws import RandomDocuments, some, stream_of
    from irpretrain.objectives.groups import Span, group
    from irpretrain.objectives.link_source import LinkSource
    from irpretrain.objectives.page_words import draw_page_words

    source, draws = LinkSource.open(graph, documents), WordDraws(statistics, options, text)
    others, usable = RandomDocuments(source.drawable), source.drawable > 0
    extra: Counter[str] = Counter()

    def drafts_of(article: Article, skipped: Counter[str]) -> Iterator[Draft]:
        links = source.links(article)
        anchors = [] if links is None else find_anchors(article, links, usable)
        rng = stream_of(seed, options.type, article.document_id)
        chosen = some(rng, pairs(anchors), options.groups_per_document)
        if not chosen:
            skipped["no_links" if not anchors else "no_sentence_with_two"] += 1
        for sample, (first, second) in enumerate(chosen):
            excluded = {source.node(article), first.target, second.target}
            negatives, repeated = others.draw(rng, options.negatives, excluded)
            if not negatives:
                skipped["no_other_documents"] += 1
                continue
            extra["negatives_repeated"] += repeated
            yield Draft(
                article.place,
                sample,
                anchor_text(article, first),
                source.document_id(first.target),
                tuple(source.document_id(node) for node in (second.target, *negatives)),
                f"{article.document_id}/{sample}",
            )

    drafts, counts = draft_groups(documents, tokens, text, options.type, drafts_of)
    wanted = ((draft.about, draft.stream) for draft in drafts)
    words = draw_page_words(collection, wanted, draws, seed, options.type)

    def rows() -> Iterator[dict[str, Any]]:
        for number, draft in enumerate(drafts):
            query = " ".join([*words.get(number, []), draft.anchor])
            yield group(draft.place, [query], [Span(name) for name in draft.ranked], sample=draft.sample)

    groups = GROUPS.write(output, rows())
    return {
        **counts,
        "groups": groups,
        "sequences": sum(len(draft.ranked) for draft in drafts),
        "negatives_repeated": extra["negatives_repeated"],
        "documents_without_words": sum(not words.get(number) for number in range(len(drafts))),
    }


def pairs(anchors: Sequence[Anchor]) -> list[tuple[Anchor, Anchor]]:
    """Return all pairs of anchors to different documents in one sentence, in the order of the text."""
    found = []
    for _, run in groupby(anchors, key=lambda anchor: anchor.sentence):
        found += [(a, b) for a, b in combinations(run, 2) if a.target != b.target]
    return found
