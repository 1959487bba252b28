"""What a paper prints of re-ranking at several depths over two indexes (DeepCT, table 4)."""

from __future__ import annotations

from pydantic import Field, model_validator

from irpretrain.papers.base import PublishedPlace, Strict


class PublishedIndex(Strict):
    """An index whose ranking is re-ranked; `first_stage` is its key under which a configuration has it."""

    label: str
    first_stage: str


class PublishedReranker(Strict):
    """A re-ranker; `models` and `regimes` of ours fill it on the paper's data set, `absent` says why nothing does."""

    label: str
    models: list[str]
    regimes: list[str] = Field(min_length=1)
    absent: str


class PublishedDepth(Strict):
    """One row: recall of the candidates in percent, and each re-ranker's measure, for every index in their order."""

    depth: int = Field(ge=1)
    recall: list[str]
    rerankers: dict[str, list[str]]


class PublishedDepths(PublishedPlace):
    """The table of depths.

    The first index is what the others are compared with. `claim` says in which sections of the paper a higher number
    than the first index's is claimed at every depth.
    """

    number: int
    dataset: str
    measure: str
    protocol: str
    claim: str
    indexes: dict[str, PublishedIndex] = Field(min_length=2)
    rerankers: dict[str, PublishedReranker] = Field(min_length=1)
    rows: list[PublishedDepth] = Field(min_length=1)
    remarks: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> PublishedDepths:
        for row in self.rows:
            if set(row.rerankers) != set(self.rerankers):
                raise ValueError(f"depth {row.depth}: give one list for each of {', '.join(self.rerankers)}")
            for values in (row.recall, *row.rerankers.values()):
                if len(values) != len(self.indexes):
                    raise ValueError(
                        f"depth {row.depth}: {len(values)} values for {len(self.indexes)} indexes"
                    )
        return self
