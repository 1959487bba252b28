"""Representative document prediction (RDP), an objective of HARP (Ma et al., CIKM 2021), a baseline.

Of two documents that a sentence links, the sentence prefers the one whose anchor carries more of its meaning.
docs/methods/baselines.md has every detail.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from irpretrain.config.base import option
from irpretrain.config.objectives import AnchorOptions
from irpretrain.objectives.acm import pairs as linked_pairs
from irpretrain.objectives.anchors import Anchor, AnchorWeights, anchor_text, stream_anchors
from irpretrain.objectives.draws import LinkSource, draw_some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard

NEEDS = frozenset({"statistics", "positions", "graph"})


class RdpOptions(AnchorOptions):
    """HARP's RDP: of two linked documents, the sentence prefers the one whose anchor carries more of its meaning."""

    type: Literal["rdp"] = option(..., "This objective.")


OPTIONS = RdpOptions


def make_groups(shard: Shard, options: RdpOptions, counts: Counts) -> Iterator[Group]:
    """Yield RDP's groups: one query, the span of a sentence; two whole documents."""
    source, anchor_weights = LinkSource(shard), AnchorWeights(shard)
    is_linkable = source.graph.words > 0
    for article, anchors, rng in stream_anchors(shard, options.type, counts, source, is_linkable):
        weights = [anchor_weights.weight(anchor_text(article, anchor)) for anchor in anchors]
        drawn_pairs = draw_some(rng, pairs(anchors, weights), options.groups_per_document)
        if not drawn_pairs:
            counts.skip("no_sentence_with_two")
        for sample, (preferred, other) in enumerate(drawn_pairs):
            query = article.span(*preferred.sentence)
            if query is None:
                counts.skip("beyond_token_store")
                continue
            ranked_documents = source.whole_documents((preferred.target, other.target))
            yield group(article.location, [query], ranked_documents, sample=sample)


def pairs(anchors: Sequence[Anchor], weights: Sequence[float]) -> list[tuple[Anchor, Anchor]]:
    """Return all pairs of anchors to different documents in one sentence, the weightier first; ties are left out."""
    weight_of = dict(zip(anchors, weights, strict=True))
    unequal_pairs = [(a, b) for a, b in linked_pairs(anchors) if weight_of[a] != weight_of[b]]
    return [(a, b) if weight_of[a] > weight_of[b] else (b, a) for a, b in unequal_pairs]
