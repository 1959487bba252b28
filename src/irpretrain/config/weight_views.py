"""Sections `weight_distributions` and `term_weight_pages`: how integer weights of words look (DeepCT, Figure 1 and
Table 5)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from irpretrain.config.base import Section

DocumentId = Annotated[str, BeforeValidator(lambda given: str(given) if isinstance(given, int) else given)]
WEIGHTINGS = "tf, or keys of `term_weights` of kind passages or of `indexes`"


class WeightDistributionConfig(Section):
    """Weightings of a collection's passages, for the share of weight on the heaviest terms."""

    label: str = Field(description="The collection's name in the figure.")
    corpora: list[str] = Field(min_length=1, description="Keys of `corpora`, taken as one collection.")
    weightings: list[str] = Field(min_length=1, description=f"{WEIGHTINGS}, in the order of the figure.")


class WeightCaseConfig(Section):
    """A query and its passages."""

    query: str | None = Field(None, coerce_numbers_to_str=True, description="Id of a query of the data set.")
    text: str | None = Field(
        None,
        min_length=1,
        description="Your own query text; needs `documents`.",
    )
    documents: list[DocumentId] = Field(
        default_factory=list,
        description="Document ids. Empty: the relevant document that the page's first first stage ranks "
        "highest, and the highest non-relevant one.",
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

    dataset: str = Field(description="Key of `datasets`.")
    weightings: list[str] = Field(min_length=1, description=f"{WEIGHTINGS}, in the order of the page.")
    first_stages: list[str] = Field(
        ["bm25"],
        min_length=1,
        description="bm25, ql or keys of `first_stages`, whose runs give ranks. The first one also chooses "
        "documents.",
    )
    cases: list[WeightCaseConfig] = Field(
        default_factory=list,
        description="Queries and documents; empty: the page chooses `queries` cases.",
    )
    deepest: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Share of a passage's weight that gives the deepest shade (paper: a half). Lower values "
        "show differences within long passages.",
    )
    queries: int = Field(
        3,
        ge=1,
        description="Number of cases that the page chooses: those whose relevant document's rank differs most "
        "between the first stages.",
        json_schema_extra={"unit": "queries"},
    )
