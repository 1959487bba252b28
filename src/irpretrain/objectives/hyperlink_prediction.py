"""Progressive hyperlink prediction (PHP; Wu et al., 2022, "Are Hyperlinks Fully Explored?"): HP, SHP and MRDS.

A segment of an article is the query; documents that the article links are ranked by how close the link is. The three
types of this module are the three stages, each one step of that order. docs/methods/php.md states everything exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from irpretrain.config.base import Section, option
from irpretrain.objectives.draws import as_many, some
from irpretrain.objectives.groups import Group, Span, group
from irpretrain.objectives.link_source import LinkSource
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.wikipedia.graph import Links
from irpretrain.wikipedia.segments import segments

NEEDS = frozenset({"positions", "graph"})

RELATIONS = ("D1", "D2", "D3", "D4", "D5")
"""Groups of the documents that an article links, seen from a segment; `irpretrain.wikipedia.graph.Links.groups`."""

SEGMENTS = (
    "segments",
    "segments_without_preferred",
    "segments_without_others",
    "segments_beyond_token_store",
)
"""What is counted of the segments that link any document."""

STAGES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "hp": (("D1", "D2", "D3"), ("D4",)),
    "shp": (("D1", "D2"), ("D3",)),
    "mrds": (("D1",), ("D2",)),
}
"""Groups whose documents are preferred, and groups that they are preferred to (section 3.2.2)."""


class Options(Section):
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
    fifth_group: Literal["unused", "negative"] = option(
        "unused",
        "hp: use of documents that link back but are linked only from other segments (D5), which the "
        "paper's four groups leave out.",
    )
    unlinked_anchor: Literal["none", "preferred"] = option(
        "none",
        "hp: anchor (`masking.anchor_ratio`) beside a document that the segment does not link: none "
        "(paper), or the preferred document's, so that masks show no preference.",
    )
    segments_per_document: int | None = option(
        None, "Maximum query segments per article; null: all.", unit="segments", ge=1
    )
    positives_per_segment: int | None = option(
        None,
        "Maximum groups per segment, each with another preferred document; null: all (equation 3 sums "
        "over them).",
        unit="groups",
        ge=1,
    )


class Choice(NamedTuple):
    """A segment, the node of the preferred document and those of the others; how many of these are repeats."""

    segment: int
    positive: int
    negatives: list[int]
    repeated: int


def make_groups(shard: Shard, options: Options, counts: Counts) -> Iterator[Group]:
    """Yield the groups of one stage of PHP: one query, the span of a segment; several whole documents; anchors.

    Counts negatives_repeated; of documents that are not skipped as short or without links: segments that link any,
    those of them without documents to prefer, without others, or beyond the token store, and linked documents in D1 to
    D5 summed over these segments.
    """
    source = LinkSource.open(shard)
    long_enough = source.words >= options.minimum_words
    counts.update(dict.fromkeys(("negatives_repeated", *SEGMENTS, *RELATIONS), 0))
    for article in shard.articles(counts):
        links = source.links(article)
        if article.length < options.minimum_words or links is None:
            counts.skip("no_links" if links is None else "short")
            continue
        bounds = segments(article.body, source.graph.segment_words)
        spans = [article.span(start, end) for start, end in bounds]
        rng = shard.stream(options.type, article.document_id)
        choices = choose(links, options, rng, long_enough, [span is not None for span in spans], counts)
        if not choices:
            counts.skip("no_segment_with_both")
        for sample, choice in enumerate(choices):
            query = spans[choice.segment]
            assert query is not None
            # An anchor belongs to the segment that it begins in; the rest of one that goes on is not in the query.
            end = bounds[choice.segment][1]
            anchors = {node: (a, min(b, end)) for node, (a, b) in anchors_of(links, choice.segment).items()}
            ranked = [choice.positive, *choice.negatives]
            beside = anchors[choice.positive] if options.unlinked_anchor == "preferred" else None
            marked = [anchors.get(node, beside) for node in ranked]
            yield group(
                article.place,
                [query],
                [Span(source.document_id(node)) for node in ranked],
                sample=sample,
                anchors=[article.pieces(*anchor) if anchor else None for anchor in marked],
            )
            counts["negatives_repeated"] += choice.repeated


def choose(
    links: Links,
    options: Options,
    rng: np.random.Generator,
    usable: np.ndarray,
    readable: Sequence[bool],
    counts: Counts,
) -> list[Choice]:
    """Return the groups of one stage of an article, by segment.

    Args:
        links: the article's hyperlinks.
        options: see `Options`.
        rng: the document's random stream.
        usable: bool [nodes], documents that are long enough.
        readable: of each segment, whether the token store holds it.
        counts: takes how many segments link any document, how many of them are passed over and why, and how many usable
            documents are in D1 to D5, summed over them.
    """

    preferred, others = STAGES[options.type]
    if options.fifth_group == "negative" and options.type == "hp":
        others = (*others, "D5")
    candidates = []
    for segment in sorted(set(links.segment.tolist())):
        members = {
            name: nodes[usable[nodes]].tolist()
            for name, nodes in zip(RELATIONS, links.groups(segment), strict=True)
        }
        for name, nodes in members.items():
            counts[name] += len(nodes)
        positives = [node for name in preferred for node in members[name]]
        negatives = [node for name in others for node in members[name]]
        counts["segments"] += 1
        if not positives:
            counts["segments_without_preferred"] += 1
        elif not negatives:
            counts["segments_without_others"] += 1
        elif not readable[segment]:
            counts["segments_beyond_token_store"] += 1
        else:
            candidates.append((segment, positives, negatives))
    return [
        Choice(segment, positive, *as_many(rng, negatives, options.negatives))
        for segment, positives, negatives in some(rng, candidates, options.segments_per_document)
        for positive in some(rng, positives, options.positives_per_segment)
    ]


def anchors_of(links: Links, segment: int) -> dict[int, tuple[int, int]]:
    """Return where a segment links each of its documents: characters of the first anchor, by node."""
    here = links.segment == segment
    columns = (links.target[here], links.start[here], links.end[here])
    return {node: (start, end) for node, start, end in zip(*(c.tolist() for c in columns), strict=True)}
