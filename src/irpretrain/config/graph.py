"""Section `graph`: how a collection becomes the See Also graph and the hyperlink graph."""

from __future__ import annotations

from typing import Literal

from irpretrain.config.base import Section, option


class GraphConfig(Section):
    """Links between a collection's documents; definitions in docs/methods/wikipedia-graph.md."""

    segment_words: int = option(
        128,
        "Length of a segment; a rest under half joins the segment before.",
        unit="words",
        ge=8,
    )
    first_segment: Literal["lead", "document"] = option(
        "lead",
        "First segment for PHP's D1: the part of segment 0 in the lead section, or all of it.",
    )
    title_case: Literal["first-letter", "case-sensitive"] = option(
        "first-letter", "Whether a title always starts with a capital, as the dump's `case` says."
    )
    mentions: Literal["none", "titles"] = option(
        "none",
        "titles: exact mentions of other documents' titles are links (for corpora without hyperlinks).",
    )
    mention_characters: int = option(4, "Minimum title length for mentions.", unit="characters", ge=1)
    mention_lower: bool = option(False, "Also match titles with a small first letter.")
    mention_document_share: float = option(
        0.2,
        "Ignore titles mentioned in more than this share of the documents.",
        gt=0,
        le=1,
    )
    memory_mb: int = option(
        4000, "Memory of the joins; larger joins use disk.", unit="MB", decides=False, ge=256
    )
    threads: int = option(
        2, "Threads of the joins. No effect on results.", unit="threads", decides=False, ge=1
    )
