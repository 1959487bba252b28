"""What a run measured of axioms, read and checked: predictors' scores, rank intervals, diagnoses of re-rankers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from irpretrain.axioms.rank_intervals import interval_names, last_ranks
from irpretrain.config import Config
from irpretrain.config.base import listed_faults
from irpretrain.config.labels import dataset_label
from irpretrain.config.printed import PublishedAxioms, Setting
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.evaluation.verdicts import EffectEstimate
from irpretrain.foundation.atomic import read_csv, read_given_json

Measured = TypeVar("Measured", bound=BaseModel)


class _Measured(BaseModel):
    """Keys that are not needed here are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Named(_Measured):
    name: str
    path: str


class SeedScores(_Measured):
    """AUC of a predictor with one seed, and gain by axiom."""

    seed: int
    auc: float = Field(ge=0, le=1)
    importance: dict[str, float]


class PredictorScores(_Named):
    """A preference predictor's AUC with its bootstrap interval, pairs (all, and those tested), and gain by axiom; all
    of the first seed, and gains of each."""

    setting: Setting
    label: str
    axioms: list[str] = Field(min_length=1)
    auc: float = Field(ge=0, le=1)
    auc_low: float
    auc_high: float
    pairs: int = Field(ge=1)
    test_pairs: int = Field(ge=1)
    importance: dict[str, float]
    seeds: list[SeedScores] = []


class RankIntervals(_Named):
    """Pseudo-queries of a collection, counted by the rank that BM25 gives their document, as far as `depth` tells."""

    queries: int = Field(ge=1)
    depth: int = Field(ge=1)
    intervals: dict[str, int]

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = interval_names(last_ranks(self.depth))
        if set(self.intervals) != set(names):
            raise ValueError(f"intervals must have the keys {', '.join(names)}")
        if sum(self.intervals.values()) != self.queries:
            raise ValueError(f"the intervals hold {sum(self.intervals.values())} of {self.queries} queries")
        return self


class Agreement(_Measured):
    """Of the pairs on which an axiom prefers one query, the share that a re-ranker decides alike, equal scores being
    halves; or its lead over another re-ranker's share. Not a number where there is no such pair."""

    model: str
    label: str
    other: str
    axiom: str
    pairs: int = Field(ge=0)
    seeds: int = Field(ge=1)
    share: float
    low: float
    high: float
    variance: float
    freedom: float
    seed_variance: float

    @property
    def estimate(self) -> EffectEstimate:
        """The share or lead with the interval for other documents and, of several seeds, other seeds."""
        if math.isnan(self.variance):
            return EffectEstimate(self.share, math.nan, math.nan, math.nan, ())
        of_seeds = [(self.seed_variance, self.seeds - 1)] if self.seeds > 1 else []
        return EffectEstimate.of(self.share, (self.variance, self.freedom), *of_seeds)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not math.isnan(self.low) and not self.low <= self.share <= self.high:
            raise ValueError(f"the share {self.share} is not between {self.low} and {self.high}")
        return self


@dataclass(frozen=True)
class Diagnosis:
    """The agreement of several re-rankers with each axiom."""

    name: str
    path: str
    agreements: tuple[Agreement, ...]

    def get(self, model: str, axiom: str, other: str = "") -> Agreement | None:
        """Return a model's agreement with an axiom, or its lead over another's; None where the file has none."""
        key = (model, other, axiom)
        return next((row for row in self.agreements if (row.model, row.other, row.axiom) == key), None)

    def lead(self, better: str, worse: str, axiom: str) -> EffectEstimate | None:
        """Return by how much a model's agreement with an axiom is above another's."""
        if row := self.get(better, axiom, worse):
            return row.estimate
        if not (row := self.get(worse, axiom, better)):
            return None
        difference, low, high, p, parts = row.estimate
        return EffectEstimate(-difference, -high, -low, p, parts)


@dataclass(frozen=True)
class AxiomResults:
    predictors: tuple[PredictorScores, ...] = ()
    rank_intervals: tuple[RankIntervals, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()

    @classmethod
    def read(
        cls,
        predictors: Iterable[str | Path] = (),
        rank_intervals: Iterable[str | Path] = (),
        diagnoses: Iterable[str | Path] = (),
    ) -> Self:
        """Read files, which `ResultFiles` names; raise InputError for the first that is not what it should be."""
        return cls(
            tuple(_read(PredictorScores, path, _json(path)) for path in predictors),
            tuple(_read(RankIntervals, path, _json(path)) for path in rank_intervals),
            tuple(_diagnosis(path) for path in diagnoses),
        )


def _json(path: str | Path) -> dict[str, Any]:
    """The object in a file, and the name of the folder that it lies in."""
    content = read_given_json(path, MAKE_AGAIN)
    if not isinstance(content, dict):
        raise InputError(path, "this is not a JSON object", remedy=MAKE_AGAIN)
    return {**content, "name": Path(path).parent.name, "path": str(path)}


def _diagnosis(path: str | Path) -> Diagnosis:
    try:
        rows = read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read: {error}", remedy=MAKE_AGAIN) from None
    agreements = tuple(
        _read(Agreement, path, {key: _number(key, text) for key, text in row.items()}, line)
        for line, row in enumerate(rows, 2)
    )
    if not agreements:
        raise InputError(path, f"it has no rows of {', '.join(Agreement.model_fields)}", remedy=MAKE_AGAIN)
    return Diagnosis(Path(path).stem, str(path), agreements)


def _number(key: str, text: str | None) -> str | float | None:
    """Nothing where a number should stand is no number: there was no pair to count, or no second seed."""
    return math.nan if text == "" and key not in ("model", "label", "other", "axiom") else text


def _read(
    model: type[Measured], path: str | Path, content: dict[str, Any], line: int | None = None
) -> Measured:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        reason = f"these results cannot be used: {listed_faults(error)}"
        raise InputError(path, reason, line, MAKE_AGAIN) from None


class PredictorGroup(NamedTuple):
    """Predictors of one data set, collection and choice of axioms: one column of the table, some panels of the figure.

    Attributes:
        label: the data set, and what else tells this group from others.
        dataset: key of the data set whose queries are the positive ones; empty where the configuration has none.
        members: setting → scores.
    """

    label: str
    dataset: str
    members: dict[str, PredictorScores]


def predictor_groups(
    published: PublishedAxioms, config: Config, predictors: Sequence[PredictorScores]
) -> list[PredictorGroup]:
    """Return the groups in the order of the files; a second predictor of a setting has a group of its own."""
    groups: dict[str, PredictorGroup] = {}
    known = (config.predictors.get(predictor.name) for predictor in predictors)
    collections = {described.collection for described in known if described}
    for predictor in predictors:
        described = config.predictors.get(predictor.name)
        parts = [dataset_label(config, described.dataset) if described else "this configuration"]
        parts += [described.collection] if described and len(collections) > 1 else []
        if set(predictor.axioms) != set(published.groups):
            parts.append(f"{axioms_text(published, predictor)} alone")
        label = ", ".join(parts)
        if label in groups and predictor.setting in groups[label].members:
            label = f"{label}, {predictor.name}"
        dataset = described.dataset if described else ""
        groups.setdefault(label, PredictorGroup(label, dataset, {})).members[predictor.setting] = predictor
    return list(groups.values())


def axioms_text(published: PublishedAxioms, predictor: PredictorScores) -> str:
    if set(predictor.axioms) == set(published.groups):
        return "all nine axioms" if len(published.groups) == 9 else "all axioms"
    return ", ".join(axiom for axiom in in_order(published, predictor.axioms))


def in_order(published: PublishedAxioms, axioms: Sequence[str]) -> list[str]:
    """Return axioms in the paper's order, those that it does not have last."""
    printed = [axiom for axiom in published.groups if axiom in axioms]
    return printed + [axiom for axiom in axioms if axiom not in published.groups]
