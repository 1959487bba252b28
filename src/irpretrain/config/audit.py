"""Section `wikitext_audit`: our parser of wikitext against mwparserfromhell, on pages of the user's own wikis."""

from __future__ import annotations

from pydantic import Field

from irpretrain.config.base import Section


class WikitextAuditConfig(Section):
    """What `snakemake wikitext_audit` compares; docs/methods/wikipedia.md has what it shows."""

    pages: int = Field(
        200,
        ge=1,
        description="Articles of each corpus of format wikipedia-dump, drawn by `seed` and page id: a larger sample "
        "contains a smaller one.",
        json_schema_extra={"unit": "articles"},
    )
    page_seconds: float = Field(
        20.0,
        gt=0,
        description="Processor time for one page; a page that takes more is named and not compared.",
        json_schema_extra={"unit": "s"},
    )
    page_memory_mb: int = Field(
        1000,
        ge=16,
        description="Memory for one page; a page that takes more is named and not compared.",
        json_schema_extra={"unit": "MB"},
    )
    examples: int = Field(
        20,
        ge=0,
        description="Differences of each kind that are shown, of those that no class explains.",
        json_schema_extra={"unit": "differences"},
    )
