"""Sections `weight_distributions` and `term_weight_pages`: how integer weights of words look (DeepCT, Figure 1 and
Table 5)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, model_validator

from irpretrain.config.base import Section, option

DocumentId = Annotated[str, BeforeValidator(lambda given: str(given) if isinstance(given, int) else given)]
WEIGHTINGS = "tf, or keys of `term_weights` of kind passages or of `indexes`"


class WeightDistributionConfig(Section):
    """Weightings of a collection's passages, for the share of weight on the heaviest terms."""

    label: str = option(..., "The collection's name in the figure.")
    corpora: list[str] = option(..., "Keys of `corpora`, taken as one collection.", min_length=1)
    weightings: list[str] = option(..., f"{WEIGHTINGS}, in the order of the figure.", min_length=1)


class WeightCaseConfig(Section):
    """A query and its passages."""

    query: str | None = option(None, "Id of a query of the data set.", coerce_numbers_to_str=True)
    text: str | None = option(None, "Your own query text; needs `documents`.", min_length=1)
    documents: list[DocumentId] = option(
        description=(
            "Document ids. Empty: the highest relevant and the highest non-relevant "
            "document of the first of `first_stages`."
        ),
        default_factory=list,
    )

    @model_validator(mode="after")
    def _check_case(self) -> Self:
        if (self.text is None) == (self.query is None):
            raise ValueError("give either query or text")
        if self.text is not None and not self.documents:
            raise ValueError("text is a query without judgements, so documents must be given")
        return self


class TermWeightPageConfig(Section):
    """A page of `snakemake term_weight_pages` (docs/methods/term-weight-pages.md)."""

    dataset: str = option(..., "Key of `datasets`.")
    weightings: list[str] = option(..., f"{WEIGHTINGS}, in the order of the page.", min_length=1)
    first_stages: list[str] = option(
        ["bm25"],
        "bm25, ql or keys of `first_stages`, whose runs give ranks. The first one also chooses documents.",
        min_length=1,
    )
    cases: list[WeightCaseConfig] = option(
        description="Queries and documents; empty: the page chooses `queries` cases.", default_factory=list
    )
    deepest: float = option(
        0.5,
        "Share of a passage's weight that gives the deepest shade (paper: a half).",
        gt=0,
        le=1,
    )
    queries: int = option(
        3,
        "Number of cases that the page chooses.",
        unit="queries",
        ge=1,
    )
