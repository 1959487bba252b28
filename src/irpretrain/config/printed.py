"""What every file of published numbers is made of: strict sections, printed numbers, and places in a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError

from irpretrain.config.base import Section, listed_faults
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.resources import parse_yaml

PRINTED_NUMBER = re.compile(r"(?P<value>[0-9]*\.(?P<decimals>[0-9]+))(?P<marks>[^0-9.\s]*)")
PRINTED_PERCENT = re.compile(r"(?P<value>[0-9]+(?:\.(?P<decimals>[0-9]+))?)(?P<marks>[^0-9.\s]*)")
# What a mark says of its row against another.
Direction = Literal["better", "worse"]
ILLEGIBLE = "illegible"
# Cells without a number, and what a table shows in their place: none is printed; printed as not available; printed,
# but illegible in the text at hand.
NO_NUMBER = {"-": "", "NA": "NA", "?": ILLEGIBLE}


class PublishedValue(Section):
    """One printed number: its value, its significance marks, and the text on the page."""

    value: float
    marks: str
    printed: str

    @property
    def number(self) -> str:
        """The number with as many decimals as printed and a zero before the point, without marks."""
        match = PRINTED_NUMBER.fullmatch(self.printed)
        return f"{self.value:.{len(match['decimals']) if match else 3}f}"

    @classmethod
    def parse(cls, printed: str) -> PublishedValue | None:
        """Return the value of a printed cell, or None for one without a number."""
        if printed in NO_NUMBER:
            return None
        match = PRINTED_NUMBER.fullmatch(printed)
        if match is None:
            raise ValueError(f"{printed!r} is not a number with marks, nor one of {', '.join(NO_NUMBER)}")
        return cls(value=float(match["value"]), marks=match["marks"], printed=printed)

    @classmethod
    def of_percent(cls, printed: str) -> PublishedValue:
        """Return printed percent as a share with all its digits: 77.93† as 0.7793†."""
        match = PRINTED_PERCENT.fullmatch(printed)
        if match is None:
            raise ValueError(f"{printed!r} is not percent")
        share = f"{float(match['value']) / 100:.{len(match['decimals'] or '') + 2}f}"
        return cls(value=float(share), marks=match["marks"], printed=f"{share}{match['marks']}")


class PublishedPlace(Section):
    """Where something stands in the paper, what it shows, and how its numbers came about.

    `page` is left out where it is not known.
    """

    number: int | None = None
    title: str
    page: int | None = None
    section: str
    protocol: str
    remarks: list[str] = Field(default_factory=list)

    @property
    def heading(self) -> str:
        """Return "Table 2", or the section where it is no table."""
        return f"Section {self.section}" if self.number is None else f"Table {self.number}"

    @property
    def key(self) -> str:
        """What its files are called after the paper."""
        return f"table{self.number}"


# A paper's YAML files in the resources: read, checked, and called after the paper.


Content = TypeVar("Content", bound=BaseModel)


def load_paper_yaml(path: str | Path, section_type: type[Content], content_kind: str) -> Content:
    """Read and check a file that is called after its paper, whose content is called `content_kind`; InputError on a
    fault."""
    try:
        content: Any = parse_yaml(Path(path).read_text(encoding="utf-8"))
        named_content = content | {"paper": Path(path).stem} if isinstance(content, dict) else content
        return section_type.model_validate(named_content)
    except (OSError, yaml.YAMLError) as error:
        raise InputError(path, f"cannot be read: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise InputError(path, f"these {content_kind} cannot be used: {listed_faults(error)}") from None


# What a paper prints of axioms and preference predictors (ARES): AUC by setting, and shares of rank intervals.


Setting = Literal["I", "II", "III", "IV"]
# The intervals in which ranks are counted, `results/axioms/<collection>/rank-intervals.json`.
RankCount = Literal["1", "2", "3-5", "6-10", "11-50", ">50"]


class PublishedSetting(Section):
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


class PublishedInterval(Section):
    """An interval of ranks as printed, the counts that it is read as, and the printed share in percent."""

    printed: str
    ranks: list[RankCount] = Field(min_length=1)
    percent: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+$")]

    @property
    def name(self) -> str:
        """The counts in one: "1-2", "3-5", ">50"."""
        lowest, highest = self.ranks[0].partition("-")[0], self.ranks[-1].rpartition("-")[2]
        return lowest if lowest == highest else f"{lowest}-{highest}"

    @property
    def share(self) -> PublishedValue:
        return PublishedValue.of_percent(self.percent)


class PublishedRankIntervals(PublishedOnOwnData):
    """Shares of pseudo-queries by the rank that they give their document.

    `corpora` are the keys under which a configuration has the paper's documents.
    """

    corpora: list[str]
    intervals: list[PublishedInterval] = Field(min_length=1)

    def faults(self) -> Iterator[str]:
        covered_ranks = [rank for interval in self.intervals for rank in interval.ranks]
        if sorted(covered_ranks) != sorted(get_args(RankCount)):
            yield f"the intervals must cover each of {', '.join(get_args(RankCount))} once"

    @property
    def key(self) -> str:
        """What its files are called after the paper."""
        return "rank_intervals"

    @property
    def shares(self) -> dict[str, float]:
        """The printed share of each interval by its name, as fractions of one."""
        return {interval.name: interval.share.value for interval in self.intervals}


class PublishedAxioms(Section):
    """The axioms, each with its group, in the paper's order, and what is printed of them."""

    groups: dict[str, str] = Field(min_length=1)
    predictors: PublishedPredictors
    rank_intervals: PublishedRankIntervals


# What a paper prints of re-ranking at several depths over two indexes (DeepCT, table 4).


class PublishedIndex(Section):
    """An index whose ranking is re-ranked; `first_stage` is its key under which a configuration has it."""

    label: str
    first_stage: str


class PublishedReranker(Section):
    """A re-ranker; `models` and `regimes` of ours fill it on the paper's data set, `absent` says why nothing does."""

    label: str
    models: list[str]
    regimes: list[str] = Field(min_length=1)
    absent: str


class PublishedDepth(Section):
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

    def faults(self) -> Iterator[str]:
        for row in self.rows:
            if set(row.rerankers) != set(self.rerankers):
                yield f"depth {row.depth}: give one list for each of {', '.join(self.rerankers)}"
            for values in (row.recall, *row.rerankers.values()):
                if len(values) != len(self.indexes):
                    yield f"depth {row.depth}: {len(values)} values for {len(self.indexes)} indexes"
