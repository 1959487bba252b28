"""Section `query_pages`: for single queries the rankings of two models side by side."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from irpretrain.config.attributions import BaselinePiece
from irpretrain.config.base import Section, option
from irpretrain.config.corpora import check_measures


class ShownRankingConfig(Section):
    """One of the two rankings of a page."""

    model: str = option(..., "Key of `models`, or a first stage (bm25, ql, a key of `first_stages`).")
    regime: str | None = option(
        None,
        "Regime of a model; null: zero-shot. First stages have no regime.",
        pattern=r"^(zero-shot|full|few-shot-[1-9][0-9]*)$",
    )
    seed: int = option(1, "Seed of a model.", ge=0)


class ChosenQueriesConfig(Section):
    """Number of queries per rule. The first rule that chooses a query counts it."""

    gains: int = option(
        10,
        "Queries with the largest gain of the right ranking over the left one.",
        unit="queries",
        ge=0,
    )
    losses: int = option(10, "Queries with the largest loss.", unit="queries", ge=0)
    ties: int = option(5, "Queries with equal scores, drawn by `seed`.", unit="queries", ge=0)
    random: int = option(5, "Sample of the remaining queries, drawn by `seed`.", unit="queries", ge=0)

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if not self.gains + self.losses + self.ties + self.random:
            raise ValueError("chooses no query; give one of gains, losses, ties and random a number")
        return self


class PairAttributionsConfig(Section):
    """Pairs of query and document with attributions (docs/methods/attributions.md)."""

    queries: int = option(3, "The page's first queries.", unit="queries", ge=1)
    documents: int = option(
        3,
        "Highest documents of each ranking. Relevant documents on the page are always included.",
        unit="documents",
        ge=1,
    )
    baseline: BaselinePiece = option("pad", "As `attributions.<name>.baseline`.")
    steps: int = option(50, "Points of the integral.", unit="points", ge=2)


class QueryPageConfig(Section):
    """A page of `snakemake query_pages` (docs/methods/query-pages.md)."""

    dataset: str = option(..., "Key of `datasets`.")
    candidates: str = option("bm25", "First stage to re-rank: bm25, ql, or a key of `first_stages`.")
    left: ShownRankingConfig = option(..., "The baseline ranking.")
    right: ShownRankingConfig = option(..., "The ranking that is compared with it.")
    measure: str | None = option(
        None, "Measure for each query, in ir_measures' notation; null: the data set's first."
    )
    queries: list[Annotated[str, Field(min_length=1)]] = option(
        description="Query ids in the order of the page; empty: `choose` decides.", default_factory=list
    )
    choose: ChosenQueriesConfig = option(
        description="Which queries to choose if none is listed.", default_factory=ChosenQueriesConfig
    )
    depth: int = option(20, "Documents shown of each ranking.", unit="documents", ge=1)
    snippet_words: int = option(40, "Words shown of a document's text.", unit="words", ge=5)
    attributions: PairAttributionsConfig | None = option(
        None, "Pairs whose scores the page can explain at a click; null: none."
    )
    megabytes: float = option(5, "Maximum size; a larger page is an error.", unit="MB", gt=0)

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
