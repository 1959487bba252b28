"""Representative query prediction (RQP), an objective of HARP (Ma et al., CIKM 2021), a baseline.

A linked document prefers, as its query, the anchor with words of the sentence around it to words of its own.
docs/methods/baselines.md has every detail.
"""

from collections.abc import Iterator
from typing import Literal

from irpretrain.config.base import option
from irpretrain.config.objectives import AnchorOptions
from irpretrain.objectives.anchors import PageDraft, WordDraws, draw_page_words, stream_anchors
from irpretrain.objectives.draws import LinkSource, draw_some
from irpretrain.objectives.groups import Group, Span, group
from irpretrain.objectives.shard import Counts, Shard

NEEDS = frozenset({"statistics", "positions", "graph", "collection"})


class RqpOptions(AnchorOptions):
    """HARP's RQP: for a linked document, its anchor with words around it is preferred to its own words."""

    type: Literal["rqp"] = option(..., "This objective.")


OPTIONS = RqpOptions


def make_groups(shard: Shard, options: RqpOptions, counts: Counts) -> Iterator[Group]:
    """Yield RQP's groups: two literal queries; one whole document, which is linked.

    Counts documents_without_words: linked documents that gave no negative query.
    """
    source, draws = LinkSource(shard), WordDraws(shard)
    drafts = list(counts.tally(draft_groups(shard, options, counts, source, draws)))
    word_lists = draw_page_words(shard, drafts, draws, options.type, counts)
    for draft, negative_words in zip(drafts, word_lists, strict=True):
        if negative_words:
            queries = [draft.text, " ".join(negative_words)]
            yield group(draft.location, queries, draft.documents, sample=draft.sample)


def draft_groups(
    shard: Shard, options: RqpOptions, counts: Counts, source: LinkSource, draws: WordDraws
) -> Iterator[PageDraft]:
    """Yield drafts whose text is the preferred query and whose page is the linked document, which they rank."""
    is_linkable = source.graph.words > 0
    for article, anchors, rng in stream_anchors(shard, options.type, counts, source, is_linkable):
        for sample, anchor in enumerate(draw_some(rng, anchors, options.groups_per_document)):
            query = draws.context_query(rng, article, anchor)
            page_id, stream = source.graph.document_id(anchor.target), f"{article.document_id}/{sample}"
            yield PageDraft(article.location, sample, query, page_id, [Span(page_id)], stream)
