"""Progressive hyperlink prediction (PHP; Wu et al., 2022, "Are Hyperlinks Fully Explored?"): HP, SHP and MRDS.

A segment of an article is the query; documents that the article links are ranked by how close the link is. The three
types of this module are the three stages, each one step of that order. docs/methods/php.md has every detail.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from irpretrain.config.base import Section, option
from irpretrain.foundation.contracts import NO_ANCHOR
from irpretrain.objectives.draws import LinkSource, draw_positions, draw_some
from irpretrain.objectives.groups import span_groups
from irpretrain.objectives.shard import Counts, Shard, ShardArticle
from irpretrain.wikipedia.graph import Links
from irpretrain.wikipedia.links import segments

NEEDS = frozenset({"positions", "graph"})
GROUPS_AT_ONCE = 4096

# Groups of the documents that an article links, seen from a segment; `irpretrain.wikipedia.graph.Links.groups`.
RELATIONS = ("D1", "D2", "D3", "D4", "D5")

# What is counted of the segments that link any document.
SEGMENT_COUNTS = (
    "segments",
    "segments_without_preferred",
    "segments_without_others",
    "segments_beyond_token_store",
)

# Groups whose documents are preferred, and groups that they are preferred to (section 3.2.2).
STAGES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "hp": (("D1", "D2", "D3"), ("D4",)),
    "shp": (("D1", "D2"), ("D3",)),
    "mrds": (("D1",), ("D2",)),
}


class HyperlinkPredictionOptions(Section):
    """PHP's stages: queries are segments, documents are compared by their links."""

    queries_are_segments: ClassVar[bool] = True
    """The whole segment must be read: its anchors say which documents are preferred."""

    type: Literal["hp", "shp", "mrds"] = option(
        ...,
        "Stage; the positives are, before the others: documents linked from the segment (hp), documents "
        "that link back (shp), documents that link back from their first segment (mrds).",
    )
    negatives: int = option(24, "Negatives per group; repeated if too few.", unit="documents", ge=1)
    minimum_words: int = option(100, "Shorter articles are not used.", unit="words", ge=1)
    segments_per_document: int | None = option(
        None, "Maximum query segments per article; null: all.", unit="segments", ge=1
    )
    positives_per_segment: int | None = option(
        None,
        "Maximum groups per segment; null: all (equation 3).",
        unit="groups",
        ge=1,
    )


OPTIONS = HyperlinkPredictionOptions


class _Draft(NamedTuple):
    location: tuple[int, int, int]  # part and position of the article, and sample of the first group
    document_id: str  # of the article
    query: np.ndarray  # word pieces of the segment, from the first to the last (exclusive)
    nodes: np.ndarray  # of the documents, int [groups, documents]
    anchors: np.ndarray  # word pieces of their anchors, int [groups, documents, 2]


def make_groups(shard: Shard, options: HyperlinkPredictionOptions, counts: Counts) -> Iterator[pa.Table]:
    """Yield the groups of one stage of PHP: one query, the span of a segment; several whole documents; anchors.

    Counts negatives_repeated; of documents not skipped as short or without links: segments with links, those of them
    without documents to prefer, without others, or beyond the token store, and linked documents in D1 to D5, summed
    over segments.
    """
    source = LinkSource(shard)
    drafts: list[_Draft] = []
    group_count = 0
    for draft in counts.tally(_drafts(shard, source, options, counts)):
        drafts.append(draft)
        group_count += len(draft.nodes)
        if group_count >= GROUPS_AT_ONCE:
            yield _table(drafts, source)
            drafts, group_count = [], 0
    if drafts:
        yield _table(drafts, source)


def _drafts(
    shard: Shard, source: LinkSource, options: HyperlinkPredictionOptions, counts: Counts
) -> Iterator[_Draft]:
    is_long_enough = source.graph.words >= options.minimum_words
    counts.update(dict.fromkeys(("negatives_repeated", *SEGMENT_COUNTS, *RELATIONS), 0))
    for article in shard.articles(counts):
        links = source.links(article)
        if article.length < options.minimum_words or links is None:
            counts.skip("no_links" if links is None else "short")
            continue
        bounds = np.array(segments(article.body, source.graph.segment_words, article.language))
        spans = article.pieces_of(bounds)
        rng = shard.stream(options.type, article.document_id)
        choices = choose(links, options, rng, is_long_enough, spans[:, 0] >= 0, counts)
        if not choices:
            counts.skip("no_segment_with_both")
        sample = 0
        for segment, nodes in choices:
            location = (*article.location, sample)
            anchors = _anchors(article, links, segment, bounds[segment, 1], nodes)
            yield _Draft(location, article.document_id, spans[segment], nodes, anchors)
            sample += len(nodes)


def choose(
    links: Links,  # the article's hyperlinks
    options: HyperlinkPredictionOptions,
    rng: np.random.Generator,  # the document's random stream
    is_linkable: np.ndarray,  # bool [nodes], documents that are long enough
    is_readable: Sequence[bool] | np.ndarray,  # of each segment, whether the token store holds it
    # Takes how many segments link any document, how many of them are passed over and why, how many usable
    # documents are in D1 to D5, summed over them, and how many negatives are repeats.
    counts: Counts,
) -> list[tuple[int, np.ndarray]]:
    """Return segments with the nodes of their groups' documents, the preferred one first (int [groups, documents])."""
    preferred_relations, other_relations = STAGES[options.type]
    candidates = []
    for segment in np.unique(links.segment).tolist():
        nodes_by_relation = {
            name: nodes[is_linkable[nodes]]
            for name, nodes in zip(RELATIONS, links.groups(segment), strict=True)
        }
        for name, nodes in nodes_by_relation.items():
            counts[name] += len(nodes)
        positives = np.concatenate([nodes_by_relation[name] for name in preferred_relations])
        negatives = np.concatenate([nodes_by_relation[name] for name in other_relations])
        counts["segments"] += 1
        if not len(positives):
            counts["segments_without_preferred"] += 1
        elif not len(negatives):
            counts["segments_without_others"] += 1
        elif not is_readable[segment]:
            counts["segments_beyond_token_store"] += 1
        else:
            candidates.append((segment, positives, negatives))
    choices = []
    for segment, positives, negatives in draw_some(rng, candidates, options.segments_per_document):
        drawn_positives = draw_some(rng, positives.tolist(), options.positives_per_segment)
        negative_positions = [draw_positions(rng, len(negatives), options.negatives) for _ in drawn_positives]
        choices.append((segment, np.column_stack((drawn_positives, negatives[np.stack(negative_positions)]))))
        counts["negatives_repeated"] += len(drawn_positives) * max(0, options.negatives - len(negatives))
    return choices


def _anchors(article: ShardArticle, links: Links, segment: int, end: int, nodes: np.ndarray) -> np.ndarray:
    """Return word pieces of each document's first anchor in a segment that ends at character `end`, `NO_ANCHOR` where
    the segment does not link it (int [groups, documents, 2]); `nodes`, int [groups, documents]."""
    rows = links.rows(segment)
    targets = links.target[rows]
    # An anchor belongs to the segment that it begins in; the rest of one that goes on is not in the query.
    pieces = article.pieces_of(np.column_stack((links.start[rows], np.minimum(links.end[rows], end))))
    positions = np.minimum(np.searchsorted(targets, nodes), len(targets) - 1)
    return np.where((targets[positions] == nodes)[:, :, None], pieces[positions], NO_ANCHOR)


def _table(drafts: Sequence[_Draft], source: LinkSource) -> pa.Table:
    group_counts = [len(draft.nodes) for draft in drafts]
    locations = np.repeat([draft.location for draft in drafts], group_counts, axis=0)
    locations[:, 2] += np.concatenate([np.arange(size) for size in group_counts])
    identifiers = pa.array([draft.document_id for draft in drafts], pa.string())
    nodes = np.concatenate([draft.nodes for draft in drafts])
    return span_groups(
        locations,
        identifiers.take(pa.array(np.repeat(np.arange(len(drafts)), group_counts))),
        np.repeat([draft.query for draft in drafts], group_counts, axis=0),
        source.graph.document_ids.take(pa.array(nodes.ravel())),
        np.concatenate([draft.anchors for draft in drafts]),
    )
