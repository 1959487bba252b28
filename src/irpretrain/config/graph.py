"""Section `graph`: how a collection becomes the See Also graph and the hyperlink graph."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irpretrain.config.base import Section


class GraphConfig(Section):
    """Links between a collection's documents; definitions in docs/methods/wikipedia-graph.md."""

    segment_words: int = Field(
        128,
        ge=8,
        description="Length of a segment, the unit in which PHP places anchors. A rest under half joins the "
        "segment before.",
        json_schema_extra={"unit": "words"},
    )
    first_segment: Literal["lead", "document"] = Field(
        "lead",
        description="First segment of a document for PHP's D1. lead: the part of segment 0 inside the lead "
        "section. document: all of segment 0.",
    )
    title_case: Literal["first-letter", "case-sensitive"] = Field(
        "first-letter",
        description="Whether a title always starts with a capital (Wikipedia), as siteinfo's `case` says.",
    )
    redirect_hops: int = Field(
        4,
        ge=1,
        le=64,
        description="Maximum redirects to follow from a link. Longer chains and circles count as red links.",
        json_schema_extra={"unit": "redirects"},
    )
    mentions: Literal["none", "titles"] = Field(
        "none",
        description="titles: exact mentions of other documents' titles are links too (for corpora without "
        "hyperlinks).",
    )
    mention_characters: int = Field(
        4,
        ge=1,
        description="Minimum title length for mentions.",
        json_schema_extra={"unit": "characters"},
    )
    mention_lower: bool = Field(
        False,
        description="Also match titles with a small first letter; finds more links, and more common nouns.",
    )
    mention_document_share: float = Field(
        0.2,
        gt=0,
        le=1,
        description="Ignore titles mentioned in more than this share of the documents: mostly common nouns.",
    )
    memory_mb: int = Field(
        4000,
        ge=256,
        description="Memory of the joins; larger joins use disk beside the output.",
        json_schema_extra={"unit": "MB"},
    )
    threads: int = Field(
        2,
        ge=1,
        description="Threads of the joins. Results do not depend on it.",
        json_schema_extra={"unit": "threads"},
    )
