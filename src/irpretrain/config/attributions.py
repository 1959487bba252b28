"""Section `attributions`: pages that show which words the scores of a document come from (ARES, Figure 4)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section

BaselinePiece = Literal["pad", "mask"]


class AttributionConfig(Section):
    """A page of `snakemake attributions` (docs/methods/attributions.md)."""

    dataset: str = Field(description="Key of `datasets`.")
    candidates: Literal["bm25", "ql"] = Field(
        "bm25", description="First-stage run that the models re-rank; it gives the document's ranks."
    )
    query: str | None = Field(
        None,
        coerce_numbers_to_str=True,
        description="Query id. null, with `text` null: the query on which the models disagree most.",
    )
    text: str | None = Field(
        None,
        min_length=1,
        description="Your own query text; needs `document`.",
    )
    document: str | None = Field(
        None,
        coerce_numbers_to_str=True,
        description="Document id; null: the relevant candidate on whose rank the models disagree most.",
    )
    models: list[str] = Field(min_length=1, description="Keys of `models`, in the order of the page.")
    regime: Literal["zero-shot"] = Field("zero-shot", description="Which weights of the models.")
    seed: int = Field(1, ge=0, description="Seed of the models.")
    baseline: BaselinePiece = Field(
        "pad",
        description="Token that replaces every word piece at the start of the integral; special tokens stay.",
    )
    steps: int = Field(50, ge=2, description="Points of the integral.", json_schema_extra={"unit": "points"})

    @model_validator(mode="after")
    def _check_case(self) -> Self:
        if self.text is not None and self.query is not None:
            raise ValueError("text and query name two queries; leave one out")
        if self.document is None and self.text is not None:
            raise ValueError("text is a query without judgements, so document must be given")
        if self.document is not None and self.text is None and self.query is None:
            raise ValueError("document is given without a query; give query or text")
        return self
