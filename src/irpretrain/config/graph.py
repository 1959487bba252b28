"""Section `graph`: how a collection becomes the See Also graph and the hyperlink graph."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irpretrain.config.base import Section


class GraphConfig(Section):
    """Links between the documents of a collection; docs/methods/wikipedia-graph.md has the definitions."""

    segment_words: int = Field(
        128,
        ge=8,
        description="Length of a segment, the piece of a document in which PHP places anchors; a rest of less than "
        "half joins the segment before.",
        json_schema_extra={"unit": "words"},
    )
    first_segment: Literal["lead", "document"] = Field(
        "lead",
        description="What PHP's D1 takes for the first segment of a document: lead, the part of segment 0 that lies in "
        "the lead section; document, all of segment 0, whatever the sections.",
    )
    title_case: Literal["first-letter", "case-sensitive"] = Field(
        "first-letter",
        description="Whether the first letter of a title is always a capital (Wikipedia), as siteinfo's `case` says.",
    )
    redirect_hops: int = Field(
        4,
        ge=1,
        le=64,
        description="Redirects that are followed from a link; what leads further, or in a circle, is a red link.",
        json_schema_extra={"unit": "redirects"},
    )
    mentions: Literal["none", "titles"] = Field(
        "none",
        description="titles: exact mentions of other documents' titles are links too, for corpora without hyperlinks.",
    )
    mention_characters: int = Field(
        4,
        ge=1,
        description="Shorter titles are not looked for in texts.",
        json_schema_extra={"unit": "characters"},
    )
    mention_lower: bool = Field(
        False,
        description="Find titles with a small first letter too, as in running text: finds more, and more common nouns.",
    )
    mention_document_share: float = Field(
        0.2,
        gt=0,
        le=1,
        description="Mentions of a title that more than this share of the collection's documents mention are left "
        "out: mostly common nouns.",
    )
    memory_mb: int = Field(
        4000,
        ge=256,
        description="Memory of the joins; what needs more goes to disk beside the output.",
        json_schema_extra={"unit": "MB"},
    )
    threads: int = Field(
        2,
        ge=1,
        description="Threads of the joins; results do not depend on them.",
        json_schema_extra={"unit": "threads"},
    )
