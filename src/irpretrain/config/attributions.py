"""Section `attributions`: pages that show which words the scores of a document come from (ARES, Figure 4)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from irpretrain.config.base import Section, option

BaselinePiece = Literal["pad", "mask"]


class AttributionConfig(Section):
    """A page of `snakemake attributions` (docs/methods/attributions.md)."""

    dataset: str = option(..., "Key of `datasets`.")
    candidates: Literal["bm25", "ql"] = option(
        "bm25", "First-stage run that the models re-rank; it gives the document's ranks."
    )
    query: str | None = option(
        None,
        "Query id; null without `text`: the query on which the models disagree most.",
        coerce_numbers_to_str=True,
    )
    text: str | None = option(None, "Your own query text; needs `document`.", min_length=1)
    document: str | None = option(
        None,
        "Document id; null: the relevant candidate on whose rank the models disagree most.",
        coerce_numbers_to_str=True,
    )
    models: list[str] = option(..., "Keys of `models` (zero-shot), in the order of the page.", min_length=1)
    seed: int = option(1, "Seed of the models.", ge=0)
    baseline: BaselinePiece = option(
        "pad", "Token that replaces every word piece at the start of the integral."
    )
    steps: int = option(50, "Points of the integral.", unit="points", ge=2)

    @model_validator(mode="after")
    def _check_case(self) -> Self:
        if self.text is not None and self.query is not None:
            raise ValueError("text and query name two queries; leave one out")
        if self.document is None and self.text is not None:
            raise ValueError("text is a query without judgements, so document must be given")
        if self.document is not None and self.text is None and self.query is None:
            raise ValueError("document is given without a query; give query or text")
        return self
