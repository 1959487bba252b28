"""What a paper prints of axioms and preference predictors (ARES): AUC by setting, and shares of rank intervals."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from irpretrain.papers.base import PublishedPlace, PublishedValue, Strict

Setting = Literal["I", "II", "III", "IV"]
RankCount = Literal["1", "2", "3-5", "6-10", "11-50", ">50"]
"""The intervals in which ranks are counted, `results/axioms/<collection>/rank-intervals.json`."""
RANK_COUNTS: tuple[RankCount, ...] = ("1", "2", "3-5", "6-10", "11-50", ">50")


class PublishedSetting(Strict):
    """One setting: where negative queries are drawn from, and the printed AUC."""

    setting: Setting
    negatives: str
    auc: Annotated[str, Field(pattern=r"^0?\.[0-9]+$")]


class PublishedPredictors(PublishedPlace):
    """The table of settings.

    `label` names the paper's data set, `datasets` are the keys under which a configuration has it, and `absent` is the
    reason where it does not.
    """

    number: int
    label: str
    datasets: list[str]
    absent: str
    protocol: str
    settings: list[PublishedSetting] = Field(min_length=1)
    remarks: list[str] = Field(default_factory=list)


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
        """The printed share as a fraction of one."""
        return PublishedValue.of_percent(self.percent)


class PublishedRankIntervals(PublishedPlace):
    """Shares of pseudo-queries by the rank that they give their document.

    `corpora` are the keys under which a configuration has the paper's documents. `other_reading` is what the printed
    intervals can mean too.
    """

    label: str
    corpora: list[str]
    absent: str
    protocol: str
    intervals: list[PublishedInterval] = Field(min_length=1)
    other_reading: list[PublishedInterval] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)

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
