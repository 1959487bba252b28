"""Section `wikitext_audit`: our parser of wikitext against mwparserfromhell, on pages of the user's own wikis."""

from __future__ import annotations

from pydantic import Field

from irpretrain.config.base import Section


class WikitextAuditConfig(Section):
    """The sample of `snakemake wikitext_audit` (docs/methods/wikipedia.md)."""

    pages: int = Field(
        200,
        ge=1,
        description="Articles compared in each corpus of format wikipedia-dump, drawn by `seed` and page id. "
        "A larger sample contains a smaller one.",
        json_schema_extra={"unit": "articles"},
    )
    page_seconds: float = Field(
        20.0,
        gt=0,
        description="Limit of processor time for a page. A page over the limit is named and not compared.",
        json_schema_extra={"unit": "s"},
    )
    page_memory_mb: int = Field(
        1000,
        ge=16,
        description="Limit of memory for a page. A page over the limit is named and not compared.",
        json_schema_extra={"unit": "MB"},
    )
    examples: int = Field(
        20,
        ge=0,
        description="Unexplained differences shown of each kind.",
        json_schema_extra={"unit": "differences"},
    )
