"""What a paper prints of re-ranking at several depths over two indexes (DeepCT, table 4), and of extractive question
answering (PHP, table 4)."""

from typing import Self

from pydantic import Field, model_validator

from irpretrain.papers.base import PERCENT, PublishedPlace, Strict, different_keys


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
    def _check(self) -> Self:
        for row in self.rows:
            if set(row.rerankers) != set(self.rerankers):
                raise ValueError(f"depth {row.depth}: give one list for each of {', '.join(self.rerankers)}")
            for values in (row.recall, *row.rerankers.values()):
                if len(values) != len(self.indexes):
                    raise ValueError(
                        f"depth {row.depth}: {len(values)} values for {len(self.indexes)} indexes"
                    )
        return self


class PublishedAnswerRow(Strict):
    """A model; `models` of ours fill it, of which the first one present is taken, `absent` says why nothing does.

    `values` are in percent as printed, one a task and then their mean; a row without them stands for another.
    """

    key: str
    label: str
    models: list[str]
    absent: str
    values: list[str] = Field(default_factory=list)
    stands_for: str = ""


class PublishedAnswers(PublishedPlace):
    """The table of question answering.

    `tasks` are keys of `downstream_tasks` in the order of the columns, with the paper's names. The mark says that the
    row `marked` is significantly better than every other.
    """

    number: int
    test: str
    protocol: str
    measure: str
    tasks: dict[str, str] = Field(min_length=1)
    average: str
    mark: str = Field(min_length=1, max_length=1)
    marked: str
    rows: list[PublishedAnswerRow] = Field(min_length=1)
    remarks: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Self:
        keys = different_keys([row.key for row in self.rows])
        for row in self.rows:
            if bool(row.values) == bool(row.stands_for):
                raise ValueError(f"row {row.key}: give either values or stands_for")
            if row.values and len(row.values) != len(self.tasks) + 1:
                raise ValueError(
                    f"row {row.key}: {len(row.values)} values for {len(self.tasks)} tasks and their mean"
                )
            for printed in row.values:
                match = PERCENT.fullmatch(printed)
                if (
                    match is None
                    or match["marks"] not in ("", self.mark)
                    or len(match["decimals"] or "") != 2
                ):
                    raise ValueError(
                        f"row {row.key}: {printed!r} is not percent with two decimals and {self.mark}"
                    )
        for key in (self.marked, *(row.stands_for for row in self.rows if row.stands_for)):
            if key not in keys:
                raise ValueError(f"no row has the key {key}")
        return self
