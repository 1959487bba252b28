"""Section `query_pages`: for single queries the rankings of two models side by side."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from irpretrain.config.attributions import BaselinePiece
from irpretrain.config.base import Section
from irpretrain.config.corpora import check_measures


class ShownRankingConfig(Section):
    """One of the two rankings of a page."""

    model: str = Field(description="Key of `models`, or a first stage (bm25, ql, a key of `first_stages`).")
    regime: str | None = Field(
        None,
        pattern=r"^(zero-shot|full|few-shot-[1-9][0-9]*)$",
        description="Regime of a model; null: zero-shot. First stages have no regime.",
    )
    seed: int = Field(1, ge=0, description="Seed of a model.")


class ChosenQueriesConfig(Section):
    """Number of queries per rule. The first rule that chooses a query counts it."""

    gains: int = Field(
        10,
        ge=0,
        description="Queries with the largest gain of the right ranking over the left one; ties by id.",
        json_schema_extra={"unit": "queries"},
    )
    losses: int = Field(
        10, ge=0, description="Queries with the largest loss.", json_schema_extra={"unit": "queries"}
    )
    ties: int = Field(
        5,
        ge=0,
        description="Queries with equal scores, drawn by `seed`.",
        json_schema_extra={"unit": "queries"},
    )
    random: int = Field(
        5,
        ge=0,
        description="Sample of the remaining queries, drawn by `seed`.",
        json_schema_extra={"unit": "queries"},
    )

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if not self.gains + self.losses + self.ties + self.random:
            raise ValueError("chooses no query; give one of gains, losses, ties and random a number")
        return self


class PairAttributionsConfig(Section):
    """Pairs of query and document with attributions (docs/methods/attributions.md)."""

    queries: int = Field(
        3, ge=1, description="The page's first queries.", json_schema_extra={"unit": "queries"}
    )
    documents: int = Field(
        3,
        ge=1,
        description="Highest documents of each ranking, for each of these queries. Relevant documents on the "
        "page are always included.",
        json_schema_extra={"unit": "documents"},
    )
    baseline: BaselinePiece = Field("pad", description="As `attributions.<name>.baseline`.")
    steps: int = Field(50, ge=2, description="Points of the integral.", json_schema_extra={"unit": "points"})


class QueryPageConfig(Section):
    """A page of `snakemake query_pages` (docs/methods/query-pages.md)."""

    dataset: str = Field(description="Key of `datasets`.")
    candidates: str = Field(
        "bm25", description="First stage to re-rank: bm25, ql, or a key of `first_stages`."
    )
    left: ShownRankingConfig = Field(description="The baseline ranking.")
    right: ShownRankingConfig = Field(description="The ranking that is compared with it.")
    measure: str | None = Field(
        None,
        description="Measure for each query, in ir_measures' notation; null: the data set's first.",
    )
    queries: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=list, description="Query ids in the order of the page; empty: `choose` decides."
    )
    choose: ChosenQueriesConfig = Field(
        default_factory=ChosenQueriesConfig, description="Which queries to choose if none is listed."
    )
    depth: int = Field(
        20, ge=1, description="Documents shown of each ranking.", json_schema_extra={"unit": "documents"}
    )
    snippet_words: int = Field(
        40, ge=5, description="Words shown of a document's text.", json_schema_extra={"unit": "words"}
    )
    attributions: PairAttributionsConfig | None = Field(
        None,
        description="Pairs whose scores the page can explain at a click; null: none (explaining runs the "
        "models).",
    )
    megabytes: float = Field(
        5, gt=0, description="Maximum size; a larger page is an error.", json_schema_extra={"unit": "MB"}
    )

    @field_validator("queries", mode="before")
    @classmethod
    def _numbers_are_ids(cls, given: Any) -> Any:
        if not isinstance(given, list):
            return given
        return [str(query) if isinstance(query, int) else query for query in given]

    @field_validator("measure")
    @classmethod
    def _check_measure(cls, given: str | None) -> str | None:
        return None if given is None else str(check_measures(given))

    @model_validator(mode="after")
    def _check_pair(self) -> Self:
        if self.left == self.right:
            raise ValueError("left and right are the same ranking; change one")
        if twice := [query for query in self.queries if self.queries.count(query) > 1]:
            raise ValueError(f"queries: {twice[0]!r} is listed twice; list each once")
        return self
