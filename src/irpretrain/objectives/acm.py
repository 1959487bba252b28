"""Anchor co-occurrence modelling (ACM), an objective of HARP (Ma et al., CIKM 2021), a baseline.

Two documents are linked in one sentence: the anchor of one, with words of that document, prefers the other document to
a random one. docs/methods/baselines.md states everything exactly.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from typing import Literal

from irpretrain.config.base import option
from irpretrain.config.objectives import AnchorOptions
from irpretrain.objectives.anchors import (
    Anchor,
    PageDraft,
    WordDraws,
    anchor_text,
    draw_page_words,
    stream_anchors,
)
from irpretrain.objectives.draws import LinkSource, RandomDocuments, draw_some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard

NEEDS = frozenset({"statistics", "positions", "graph", "collection"})


class AcmOptions(AnchorOptions):
    """HARP's ACM: for the anchor of one linked document, the sentence's other linked document is preferred."""

    type: Literal["acm"] = option(..., "This objective.")
    negatives: int = option(1, "Random documents.", unit="documents", ge=1)


OPTIONS = AcmOptions


def make_groups(shard: Shard, options: AcmOptions, counts: Counts) -> Iterator[Group]:
    """Yield ACM's groups: one literal query; several whole documents.

    Counts negatives_repeated and documents_without_words.
    """
    drafts = list(counts.tally(draft_groups(shard, options, counts)))
    word_lists = draw_page_words(shard, drafts, WordDraws(shard), options.type, counts)
    for draft, words in zip(drafts, word_lists, strict=True):
        query = " ".join([*words, draft.text])
        yield group(draft.location, [query], draft.documents, sample=draft.sample)


def draft_groups(shard: Shard, options: AcmOptions, counts: Counts) -> Iterator[PageDraft]:
    """Yield drafts whose text is the anchor and whose page is what the anchor links."""
    source = LinkSource(shard)
    random_documents, is_linkable = RandomDocuments(source.drawable_words), source.drawable_words > 0
    counts.update(negatives_repeated=0)
    for article, anchors, rng in stream_anchors(shard, options.type, counts, source, is_linkable):
        drawn_pairs = draw_some(rng, pairs(anchors), options.groups_per_document)
        if not drawn_pairs:
            counts.skip("no_sentence_with_two")
        for sample, (first_anchor, second_anchor) in enumerate(drawn_pairs):
            excluded_nodes = {source.node(article), first_anchor.target, second_anchor.target}
            negatives, repeated_count = random_documents.draw(rng, options.negatives, excluded_nodes)
            if not negatives:
                counts.skip("no_other_documents")
                continue
            counts["negatives_repeated"] += repeated_count
            yield PageDraft(
                article.location,
                sample,
                anchor_text(article, first_anchor),
                source.graph.document_id(first_anchor.target),
                source.whole_documents((second_anchor.target, *negatives)),
                f"{article.document_id}/{sample}",
            )


def pairs(anchors: Sequence[Anchor]) -> list[tuple[Anchor, Anchor]]:
    """Return all pairs of anchors to different documents in one sentence, in the order of the text."""
    anchor_pairs = []
    for _, sentence_anchors in groupby(anchors, key=lambda anchor: anchor.sentence):
        anchor_pairs += [(a, b) for a, b in combinations(sentence_anchors, 2) if a.target != b.target]
    return anchor_pairs
