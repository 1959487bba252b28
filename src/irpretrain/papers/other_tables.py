"""What papers print in tables of another form: axioms and predictors (ARES), and re-ranking at several depths (DeepCT,
table 4)."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from irpretrain.papers.base import PublishedPlace, PublishedValue, Strict

# What a paper prints of axioms and preference predictors (ARES): AUC by setting, and shares of rank intervals.


Setting = Literal["I", "II", "III", "IV"]
# The intervals in which ranks are counted, `results/axioms/<collection>/rank-intervals.json`.
RankCount = Literal["1", "2", "3-5", "6-10", "11-50", ">50"]
RANK_COUNTS: tuple[RankCount, ...] = ("1", "2", "3-5", "6-10", "11-50", ">50")


class PublishedSetting(Strict):
    """One setting: where negative queries are drawn from, and the printed AUC."""

    setting: Setting
    negatives: str
    auc: Annotated[str, Field(pattern=r"^0?\.[0-9]+$")]


class PublishedOnOwnData(PublishedPlace):
    """Numbers on data of the paper's own: their name, and the reason where a configuration lacks them."""

    label: str
    absent: str


class PublishedPredictors(PublishedOnOwnData):
    """The table of settings; `datasets` are the keys under which a configuration has the paper's data set."""

    number: int
    datasets: list[str]
    settings: list[PublishedSetting] = Field(min_length=1)


class PublishedInterval(Strict):
    """An interval of ranks as printed, the counts that it is read as, and the printed share in percent."""

    printed: str
    ranks: list[RankCount] = Field(min_length=1)
    percent: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+$")]

    @property
    def name(self) -> str:
        """The counts in one: "1-2", "3-5", ">50"."""
        first, last = self.ranks[0].partition("-")[0], self.ranks[-1].rpartition("-")[2]
        return first if first == last else f"{first}-{last}"

    @property
    def share(self) -> PublishedValue:
        return PublishedValue.of_percent(self.percent)


class PublishedRankIntervals(PublishedOnOwnData):
    """Shares of pseudo-queries by the rank that they give their document.

    `corpora` are the keys under which a configuration has the paper's documents.
    """

    corpora: list[str]
    intervals: list[PublishedInterval] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        covered = [rank for interval in self.intervals for rank in interval.ranks]
        if sorted(covered) != sorted(RANK_COUNTS):
            raise ValueError(f"the intervals must cover each of {', '.join(RANK_COUNTS)} once")
        return self

    @property
    def key(self) -> str:
        """What its files are called after the paper."""
        return "rank_intervals"

    @property
    def shares(self) -> dict[str, float]:
        """The printed share of each interval by its name, as fractions of one."""
        return {interval.name: interval.share.value for interval in self.intervals}


class PublishedAxioms(Strict):
    """The axioms, each with its group, in the paper's order, and what is printed of them."""

    groups: dict[str, str] = Field(min_length=1)
    predictors: PublishedPredictors
    rank_intervals: PublishedRankIntervals


# What a paper prints of re-ranking at several depths over two indexes (DeepCT, table 4).


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

    def values(self, reranker: str) -> list[PublishedValue | None]:
        """Return a re-ranker's numbers, or, of none, recall as shares."""
        return list(
            map(PublishedValue.parse, self.rerankers[reranker])
            if reranker in self.rerankers
            else map(PublishedValue.of_percent, self.recall)
        )


class PublishedDepths(PublishedPlace):
    """The table of depths.

    The first index is what the others are compared with.
    """

    number: int
    dataset: str
    measure: str
    indexes: dict[str, PublishedIndex] = Field(min_length=2)
    rerankers: dict[str, PublishedReranker] = Field(min_length=1)
    rows: list[PublishedDepth] = Field(min_length=1)

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
