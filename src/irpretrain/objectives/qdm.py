"""Query disambiguation modelling (QDM), an objective of HARP (Ma et al., CIKM 2021), a baseline.

An anchor text that links several documents: with words of the sentence around one such anchor it prefers the document
linked there to another one linked by the same words elsewhere. docs/methods/baselines.md has every detail.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.base import option
from irpretrain.config.objectives import AnchorOptions
from irpretrain.foundation.contracts import ANCHOR_TEXTS
from irpretrain.objectives.anchors import WordDraws, anchor_text, stream_anchors
from irpretrain.objectives.draws import LinkSource, draw_repeated, draw_some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard, stream_articles
from irpretrain.wikipedia.links import normal_anchor

NEEDS = frozenset({"statistics", "positions", "graph", "anchor_texts"})


class QdmOptions(AnchorOptions):
    """HARP's QDM: for an ambiguous anchor, the document linked here is preferred to others linked by the same words."""

    type: Literal["qdm"] = option(..., "This objective.")
    negatives: int = option(
        1, "Other documents linked by the same words; repeated if too few.", unit="documents", ge=1
    )


OPTIONS = QdmOptions


def make_groups(shard: Shard, options: QdmOptions, counts: Counts) -> Iterator[Group]:
    """Yield QDM's groups: one query, literal; several whole documents. Counts negatives_repeated."""
    source, draws = LinkSource(shard), WordDraws(shard)
    is_linkable = source.graph.words > 0
    targets_by_anchor = read_targets(shard.anchor_texts, shard_anchors(shard), is_linkable)
    counts.update(negatives_repeated=0)
    for article, anchors, rng in stream_anchors(shard, options.type, counts, source, is_linkable):
        candidates = []
        for anchor in anchors:
            nodes = targets_by_anchor.get(normal_anchor(anchor_text(article, anchor)), [])
            if other_nodes := [node for node in nodes if node != anchor.target]:
                candidates.append((anchor, other_nodes))
        if not candidates:
            counts.skip("no_ambiguous_anchor")
        choices = [
            (anchor, *draw_repeated(rng, other_nodes, options.negatives))
            for anchor, other_nodes in draw_some(rng, candidates, options.groups_per_document)
        ]
        for sample, (anchor, negatives, repeated_count) in enumerate(choices):
            query = draws.context_query(rng, article, anchor)
            ranked_documents = source.whole_documents((anchor.target, *negatives))
            counts["negatives_repeated"] += repeated_count
            yield group(article.location, [query], ranked_documents, sample=sample)


def shard_anchors(shard: Shard) -> set[str]:
    """Return the anchor texts of a shard, in normal form."""
    source = LinkSource(shard)
    texts: set[str] = set()
    for article in stream_articles(shard.documents, shard.tokens, shard.text):
        links = None if article is None else source.links(article)
        if article is not None and links is not None:
            spans = zip(links.start.tolist(), links.end.tolist(), strict=True)
            texts.update(normal_anchor(article.body[start:end]) for start, end in spans)
    return texts


def read_targets(table: str | Path, anchor_texts: set[str], is_linkable: np.ndarray) -> dict[str, list[int]]:
    """Return the documents, of those of `is_linkable` (bool [nodes]), that each of some anchor texts leads to."""
    anchors = pa.array(list(anchor_texts), pa.string())
    targets: dict[str, list[int]] = defaultdict(list)
    for batch in ANCHOR_TEXTS.stream(table, ["anchor", "target"]):
        rows = batch.filter(pc.is_in(batch.column("anchor"), value_set=anchors))
        for anchor, target in zip(
            rows.column("anchor").to_pylist(), rows.column("target").to_pylist(), strict=True
        ):
            if is_linkable[target]:
                targets[anchor].append(target)
    return targets
