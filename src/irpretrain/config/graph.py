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
    title_case: Literal["first-letter", "case-sensitive"] = option(
        "first-letter", "Whether a title always starts with a capital, as the dump's `case` says."
    )
    mentions: Literal["none", "titles"] = option(
        "none",
        "titles: exact mentions of other documents' titles are links (for corpora without hyperlinks).",
    )
    mention_lower: bool = option(False, "Also match titles with a small first letter.")
    memory_mb: int = option(
        4000, "Memory of the joins; larger joins use disk.", unit="MB", decides=False, ge=256
    )
    threads: int = option(
        2, "Threads of the joins. No effect on results.", unit="threads", decides=False, ge=1
    )
