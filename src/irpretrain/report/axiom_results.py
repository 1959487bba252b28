"""What a run measured of axioms, read and checked: predictors' scores, rank intervals, diagnoses of re-rankers."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, Field

from irpretrain.config import Config
from irpretrain.config.papers import Published
from irpretrain.config.printed import PublishedAxioms, PublishedInterval, PublishedValue, Setting
from irpretrain.evaluation.verdicts import EffectEstimate
from irpretrain.foundation.atomic import read_csv
from irpretrain.foundation.errors import MAKE_AGAIN, refusing
from irpretrain.report.cells import Cell, Column, OurValue, Panel, Row, Table
from irpretrain.report.scores import RunName

AnyResult = TypeVar("AnyResult", bound=BaseModel)
DAMAGED = "these results cannot be used"


# In a CSV file, empty where there was nothing to count.
NumberOrNaN = Annotated[float, BeforeValidator(lambda text: math.nan if text == "" else text)]


class _NamedResult(BaseModel, frozen=True):
    name: str
    path: str


class _PredictorQuality(BaseModel, frozen=True):
    """AUC of a predictor, its bootstrap interval over test documents, and gain by axiom."""

    auc: float = Field(ge=0, le=1)
    auc_low: float
    auc_high: float
    importance: dict[str, float]


class SeedScores(_PredictorQuality):
    """What a predictor has with one seed."""

    seed: int


class PredictorScores(_PredictorQuality, _NamedResult):
    """What a preference predictor has with its first seed, the pairs that it learns from and is tested on, and what it
    has with each seed."""

    setting: Setting
    label: str
    axioms: list[str] = Field(min_length=1)
    pairs: int = Field(ge=1)
    test_pairs: int = Field(ge=1)
    seeds: list[SeedScores] = []


class RankIntervals(_NamedResult):
    """Pseudo-queries of a collection, counted by the rank that BM25 gives their document, as far as `depth` tells."""

    queries: int = Field(ge=1)
    depth: int = Field(ge=1)
    intervals: dict[str, int]


class Agreement(BaseModel, frozen=True):
    """Of the pairs on which an axiom prefers one query, the share that a re-ranker decides alike, equal scores being
    halves; or its lead over another re-ranker's share. Not a number where there is no such pair."""

    model: str
    label: str
    other: str
    axiom: str
    pairs: int = Field(ge=0)
    seeds: int = Field(ge=1)
    share: NumberOrNaN
    low: NumberOrNaN
    high: NumberOrNaN
    variance: NumberOrNaN
    freedom: NumberOrNaN
    seed_variance: NumberOrNaN

    @property
    def estimate(self) -> EffectEstimate:
        """The share or lead with the interval for other documents and, of several seeds, other seeds."""
        if math.isnan(self.variance):
            return EffectEstimate(self.share, math.nan, math.nan, math.nan, ())
        seed_variances = [(self.seed_variance, self.seeds - 1)] if self.seeds > 1 else []
        return EffectEstimate.of(self.share, (self.variance, self.freedom), *seed_variances)


@dataclass(frozen=True)
class Diagnosis:
    """The agreement of several re-rankers with each axiom."""

    agreements: tuple[Agreement, ...]

    def get(self, model: str, axiom: str, other_model: str = "") -> Agreement | None:
        """Return a model's agreement with an axiom, or its lead over another's; None where the file has none."""
        key = (model, other_model, axiom)
        return next((row for row in self.agreements if (row.model, row.other, row.axiom) == key), None)

    def lead(self, better: str, worse: str, axiom: str) -> EffectEstimate | None:
        """Return by how much a model's agreement with an axiom is above another's."""
        if row := self.get(better, axiom, worse):
            return row.estimate
        if not (row := self.get(worse, axiom, better)):
            return None
        difference, low, high, p, variances = row.estimate
        return EffectEstimate(-difference, -high, -low, p, variances)


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
            tuple(_read(PredictorScores, path) for path in predictors),
            tuple(_read(RankIntervals, path) for path in rank_intervals),
            tuple(map(_read_diagnosis, diagnoses)),
        )


NO_AXIOMS = AxiomResults()


def _read(result_type: type[AnyResult], path: str | Path) -> AnyResult:
    with refusing(path, DAMAGED, MAKE_AGAIN):
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return result_type.model_validate({**content, "name": Path(path).parent.name, "path": str(path)})


def _read_diagnosis(path: str | Path) -> Diagnosis:
    with refusing(path, DAMAGED, MAKE_AGAIN):
        return Diagnosis(tuple(map(Agreement.model_validate, read_csv(path))))


class PredictorGroup(NamedTuple):
    """Predictors of one data set, collection and choice of axioms: a column of the table, some panels of the figure."""

    label: str  # the data set, and what else tells this group from others
    # Key of the data set whose queries are the positive ones; empty where the configuration has none.
    dataset: str
    members: dict[str, PredictorScores]  # setting → scores


def predictor_groups(
    published: PublishedAxioms, config: Config, predictors: Sequence[PredictorScores]
) -> list[PredictorGroup]:
    """Return the groups in the order of the files; a second predictor of a setting has a group of its own."""
    groups: dict[str, PredictorGroup] = {}
    configured = {
        predictor.name: config.predictors[predictor.name]
        for predictor in predictors
        if predictor.name in config.predictors
    }
    collections = {predictor_config.collection for predictor_config in configured.values()}
    for predictor in predictors:
        predictor_config = configured.get(predictor.name)
        label = config.dataset_label(predictor_config.dataset) if predictor_config else "this configuration"
        if predictor_config and len(collections) > 1:
            label += f", {predictor_config.collection}"
        if set(predictor.axioms) != set(published.groups):
            label += f", {axioms_text(published, predictor)} alone"
        if predictor_config and predictor_config.negative_terms == "equal":
            label += ", negatives of equal length"
        if label in groups and predictor.setting in groups[label].members:
            label += f", {predictor.name}"
        dataset = predictor_config.dataset if predictor_config else ""
        groups.setdefault(label, PredictorGroup(label, dataset, {})).members[predictor.setting] = predictor
    return list(groups.values())


def axioms_text(published: PublishedAxioms, predictor: PredictorScores) -> str:
    if set(predictor.axioms) == set(published.groups):
        return "all nine axioms" if len(published.groups) == 9 else "all axioms"
    # Axioms that the paper does not have come last.
    axioms_of_paper = [axiom for axiom in published.groups if axiom in predictor.axioms]
    return ", ".join(dict.fromkeys([*axioms_of_paper, *predictor.axioms]))


# The table of settings: how well a predictor tells training queries from pseudo-queries (ARES, table 2).


AUC = "AUC"
NO_PREDICTORS = "this configuration has no preference predictors (section predictors)"
NO_SUCH_SETTING = "no predictor of this configuration has that setting there"


def settings_table(
    published: Published, axioms: PublishedAxioms, config: Config, predictors: Sequence[PredictorScores]
) -> Table:
    """Return the table of the AUC of each setting; a printed one stands beside ours on the paper's data set alone."""
    published_table = axioms.predictors
    groups = predictor_groups(axioms, config, predictors)
    no_group = PredictorGroup(published_table.label, "", {})
    paper_group = next((group for group in groups if group.dataset in published_table.datasets), no_group)
    shown_groups = [paper_group, *(group for group in groups if group is not paper_group)]
    absence_reason = next(iter(config.absent_predictors.values()), NO_PREDICTORS)
    if groups:
        absence_reason = NO_SUCH_SETTING if paper_group.members else published_table.absent
    settings = {setting.setting: setting for setting in published_table.settings}

    def make_cell(setting: Setting, column_index: int) -> Cell:
        reason = NO_SUCH_SETTING if column_index else absence_reason
        cell = _setting_cell(shown_groups[column_index], setting, reason)
        return cell if column_index else replace(cell, published=PublishedValue.parse(settings[setting].auc))

    rows = {name: Row(name, f"{name} (negatives: {settings[name].negatives})") for name in settings}
    columns = _label_columns(published_table.label, [group.label for group in shown_groups[1:]], AUC)
    notes = [
        f"Published: {published_table.protocol}.",
        f"Ours: AUC over the test pairs [95% interval, bootstrap over test documents]; beside a printed AUC on "
        f"{published_table.label} alone.",
        *(
            f"{group.label}, setting {predictor.setting}: {predictor.label} (predictor {predictor.name}), "
            f"{predictor.pairs:,} pairs, of which {predictor.test_pairs:,} are tested; "
            f"{axioms_text(axioms, predictor)}."
            for group in shown_groups
            for predictor in group.members.values()
        ),
    ]
    panel = Panel.of("Settings", rows, columns, make_cell, "Setting")
    return Table.of_paper(published, published_table, [panel], notes, config)


def _label_columns(paper_label: str, other_labels: Sequence[str], measure: str) -> dict[int, Column]:
    labels = (f"{paper_label} (the paper's)", *other_labels)
    return {index: Column(label, measure) for index, label in enumerate(labels)}


def _setting_cell(group: PredictorGroup, setting: Setting, reason: str) -> Cell:
    cell = Cell(setting, group.dataset or group.label, "", AUC, "")
    predictor = group.members.get(setting)
    if predictor is None:
        return replace(cell, reason=reason)
    run = RunName(group.label, "", f"{predictor.label} (predictor {predictor.name})", "")
    auc = (predictor.auc, predictor.auc_low, predictor.auc_high)
    ours = OurValue(run, AUC, *auc, (), predictor.test_pairs)
    return replace(cell, regime=predictor.name, ours=ours, unit="test pairs", source=predictor.path)


# How high pseudo-queries rank the document that they were drawn from (ARES, section 4.1), for every collection.


SHARE = "share"
NO_COLLECTIONS = (
    "this configuration samples no pseudo-queries for a preference predictor (section predictors)"
)


def rank_interval_table(
    published: Published, axioms: PublishedAxioms, config: Config, results: AxiomResults
) -> Table:
    """Return the shares of pseudo-queries by interval; printed ones stand beside ours on the paper's documents."""
    published_table, collections = axioms.rank_intervals, results.rank_intervals
    corpora = {collection.name: config.collections.get(collection.name, []) for collection in collections}
    paper_corpora = set(published_table.corpora)
    of_paper = {name for name, names in corpora.items() if names and paper_corpora.issuperset(names)}
    paper_collection = next((collection for collection in collections if collection.name in of_paper), None)
    other_collections = [other for other in collections if other is not paper_collection]
    absence_reason = published_table.absent if collections else NO_COLLECTIONS
    intervals = {_rank_label(interval): interval for interval in published_table.intervals}

    def make_cell(label: str, column_index: int) -> Cell:
        if column_index:
            return _share_cell(intervals[label], other_collections[column_index - 1])
        cell = Cell(label, published_table.label, "", SHARE, "", reason=absence_reason)
        if paper_collection:
            cell = _share_cell(intervals[label], paper_collection)
        return replace(cell, published=intervals[label].share)

    rows = {
        label: Row(label, f"{label} (printed {interval.printed})") for label, interval in intervals.items()
    }
    columns = _label_columns(published_table.label, [other.name for other in other_collections], SHARE)
    notes = [
        f"Published: {published_table.protocol}; here they are shares.",
        "Ours: share of all pseudo-queries of the collection. All are counted, so there is no interval.",
        "A printed share stands beside ours on the paper's documents alone.",
        *(
            f"{collection.name}: {collection.queries:,} pseudo-queries of "
            f"{' + '.join(corpora[collection.name]) or 'its documents'}."
            for collection in collections
        ),
    ]
    panel = Panel.of("Ranks", rows, columns, make_cell, "Rank")
    return Table.of_paper(published, published_table, [panel], notes, config)


def _share_cell(interval: PublishedInterval, collection: RankIntervals) -> Cell:
    cell = Cell(_rank_label(interval), collection.name, "", SHARE, "")
    if not collection.intervals.keys() >= set(interval.ranks):
        return replace(cell, reason=f"RANK is known up to {collection.depth} alone (axioms.rank_depth)")
    share = sum(collection.intervals[rank] for rank in interval.ranks) / collection.queries
    run = RunName(collection.name, "", "BM25", "")
    ours = OurValue(run, SHARE, share, math.nan, math.nan, (), collection.queries)
    return replace(cell, ours=ours, unit="pseudo-queries", source=collection.path)


def _rank_label(interval: PublishedInterval) -> str:
    """Return "1–2", "3–5", "beyond 50"."""
    name = interval.name
    return f"beyond {name[1:]}" if name.startswith(">") else name.replace("-", "–")
