"""Progressive hyperlink prediction (PHP; Wu et al., 2022, "Are Hyperlinks Fully Explored?"): HP, SHP and MRDS.

A segment of an article is the query; documents that the article links are ranked by how close the link is. The three
types of this module are the three stages, each one step of that order. docs/methods/php.md states everything exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.config.text import TextConfig

if TYPE_CHECKING:
    import numpy as np

    from irpretrain.objectives.articles import Article
    from irpretrain.wikipedia.graph import Links

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

    type: Literal["hp", "shp", "mrds"] = Field(
        description="Stage; the positives are, before the others: documents linked from the segment (hp), "
        "documents that link back (shp), documents that link back from their first segment "
        "(mrds)."
    )
    negatives: int = Field(
        24,
        ge=1,
        description="Negatives per group; repeated if too few.",
        json_schema_extra={"unit": "documents"},
    )
    minimum_words: int = Field(
        100,
        ge=1,
        description="Shorter articles are not used.",
        json_schema_extra={"unit": "words"},
    )
    fifth_group: Literal["unused", "negative"] = Field(
        "unused",
        description="hp: use of documents that link back but are linked only from other segments (D5), which "
        "the paper's four groups leave out.",
    )
    unlinked_anchor: Literal["none", "preferred"] = Field(
        "none",
        description="hp: anchor (`masking.anchor_ratio`) beside a document that the segment does not link: "
        "none (paper), or the preferred document's anchor, so that the masks do not show which "
        "document is preferred.",
    )
    segments_per_document: int | None = Field(
        None,
        ge=1,
        description="Maximum query segments per article, drawn at random; null: all.",
        json_schema_extra={"unit": "segments"},
    )
    positives_per_segment: int | None = Field(
        None,
        ge=1,
        description="Maximum groups per segment, each with another preferred document, drawn at random; null: "
        "all (equation 3 sums over them).",
        json_schema_extra={"unit": "groups"},
    )


class Choice(NamedTuple):
    """A segment, the node of the preferred document and those of the others; how many of these are repeats."""

    segment: int
    positive: int
    negatives: list[int]
    repeated: int


def build_groups(
    documents: str | Path,
    statistics: str | Path | None,
    tokens: str | Path,
    graph: str | Path,
    options: Options,
    text: TextConfig,
    seed: int,
    output: str | Path,
) -> dict[str, Any]:
    """Write the groups of one stage of PHP: one query, the span of a segment; several whole documents.

    Args:
        documents: DOCUMENTS table of the shard.
        statistics: not used.
        tokens: token store of the shard.
        graph: directory of the collection's graph.
        options: see `Options`.
        text: fields that made the token store.
        seed: of the random streams.
        output: GROUPS table, with anchors; written whole or not at all.

    Returns:
        Counts: documents, skipped by reason, documents with groups, groups, sequences, negatives_repeated; of documents
        that are not skipped as short or without links: segments that link any, those of them without documents to
        prefer, without others, or beyond the token store, and linked documents in D1 to D5 summed over these segments.
    """
    from irpretrain.objectives.articles import write_groups
    from irpretrain.objectives.draws import stream_of
    from irpretrain.objectives.groups import Span, group
    from irpretrain.objectives.link_source import LinkSource
    from irpretrain.wikipedia.segments import segments

    source = LinkSource.open(graph, documents)
    long_enough = source.words >= options.minimum_words
    extra: Counter[str] = Counter()

    def groups_of(article: Article, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
        links = source.links(article)
        if article.length < options.minimum_words or links is None:
            skipped["no_links" if links is None else "short"] += 1
            return
        bounds = segments(article.body, source.graph.segment_words)
        spans = [article.span(start, end) for start, end in bounds]
        rng = stream_of(seed, options.type, article.document_id)
        choices = choose(links, options, rng, long_enough, [span is not None for span in spans], extra)
        if not choices:
            skipped["no_segment_with_both"] += 1
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
            extra["negatives_repeated"] += choice.repeated

    counts = write_groups(documents, tokens, text, output, options.type, groups_of)
    return {**counts, **{name: extra[name] for name in ("negatives_repeated", *SEGMENTS, *RELATIONS)}}


def choose(
    links: Links,
    options: Options,
    rng: np.random.Generator,
    usable: np.ndarray,
    readable: Sequence[bool],
    counts: Counter[str],
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
    from irpretrain.objectives.draws import as_many, some

    preferred, others = STAGES[options.type]
    if options.fifth_group == "negative" and options.type == "hp":
        others = (*others, "D5")
    found = []
    for segment in sorted(set(links.segment.tolist())):
        members = {
            name: nodes[usable[nodes]].tolist()
            for name, nodes in zip(RELATIONS, links.groups(segment), strict=True)
        }
        counts.update({name: len(nodes) for name, nodes in members.items()})
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
            found.append((segment, positives, negatives))
    return [
        Choice(segment, positive, *as_many(rng, negatives, options.negatives))
        for segment, positives, negatives in some(rng, found, options.segments_per_document)
        for positive in some(rng, positives, options.positives_per_segment)
    ]


def anchors_of(links: Links, segment: int) -> dict[int, tuple[int, int]]:
    """Return where a segment links each of its documents: characters of the first anchor, by node."""
    here = links.segment == segment
    columns = (links.target[here], links.start[here], links.end[here])
    return {node: (start, end) for node, start, end in zip(*(c.tolist() for c in columns), strict=True)}
