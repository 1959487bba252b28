"""The tables of ARES's axioms: settings of the predictor (table 2), ranks of pseudo-queries (section 4.1), and the
diagnosis of re-rankers."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from irpretrain.config import Config
from irpretrain.papers.base import Direction, PublishedValue
from irpretrain.papers.other_tables import PublishedAxioms, PublishedInterval
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import (
    AxiomResults,
    CalibratedTemperature,
    Diagnosis,
    PredictorGroup,
    PredictorScores,
    RankIntervals,
    axioms_text,
    in_order,
    predictor_groups,
)
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table
from irpretrain.report.comparisons import HEADLINE_LEVEL, Comparison

# The table of settings: how well a predictor tells training queries from pseudo-queries (ARES, table 2).


AUC = "AUC"
NO_PREDICTORS = "this configuration has no preference predictors (section predictors)"
MISSING = "no predictor of this configuration has that setting there"
# Marks of ours: below, or above, the setting before it.
MARKS: dict[Direction, str] = {"worse": "↓", "better": "↑"}
# Standard errors that a 95 % interval is wide.
DEVIATIONS = 2 * NormalDist().inv_cdf(0.975)


class SettingsTable:
    """The table of the AUC of each setting, printed and ours.

    A printed AUC is compared with ours on the paper's own data set alone. On any other, what is compared is the order
    of the settings: whether each is harder (or easier) than the one before it, as the printed AUCs are.
    """

    def __init__(
        self, published: Published, axioms: PublishedAxioms, config: Config, scores: Sequence[PredictorScores]
    ) -> None:
        self.published, self.axioms, self.config = published, axioms, config
        self.printed = axioms.predictors
        self.level = HEADLINE_LEVEL if config.evaluation.level is None else config.evaluation.level
        groups = predictor_groups(axioms, config, scores)
        theirs = [group for group in groups if group.dataset in self.printed.datasets]
        self.of_paper = theirs[0] if theirs else PredictorGroup(self.printed.label, "", {})
        self.groups = [self.of_paper, *(group for group in groups if group is not self.of_paper)]
        unmade = next(iter(config.absent_predictors.values()), NO_PREDICTORS)
        self.absent = self.printed.absent if groups else unmade

    def describe(self) -> Table:
        columns = [Column(f"{self.printed.label} (the paper's)", AUC)]
        columns += [Column(group.label, AUC) for group in self.groups[1:]]
        rows = [
            Row(
                setting.setting,
                f"{setting.setting} (negatives: {setting.negatives})",
                "",
                tuple(self._cell(group, position) for group in self.groups),
            )
            for position, setting in enumerate(self.printed.settings)
        ]
        panel = Panel("Settings", tuple(columns), tuple(rows), "Setting")
        return Table.of_paper(self.published, self.printed, [panel], self._notes())

    def _cell(self, group: PredictorGroup, position: int) -> Cell:
        """A cell: beside the printed AUC on the paper's data set, against the setting before it on others."""
        setting = self.printed.settings[position]
        scores = group.members.get(setting.setting)
        is_theirs = group is self.of_paper
        comparison = None if is_theirs or not position else self._against(group, position)
        return Cell(
            setting.setting,
            group.dataset or group.label,
            "",
            AUC,
            scores.name if scores else "",
            reason=self.absent if is_theirs and not group.members else MISSING,
            ours=_predictor_value(scores, group, (comparison,) if comparison else ()) if scores else None,
            published=PublishedValue.parse(setting.auc) if is_theirs else None,
        )

    def _against(self, group: PredictorGroup, position: int) -> Comparison | None:
        """How a setting compares with the one before it, in the direction of the printed AUCs."""
        setting, before = self.printed.settings[position], self.printed.settings[position - 1]
        direction: Direction = "worse" if float(setting.auc) < float(before.auc) else "better"
        scores, other = group.members.get(setting.setting), group.members.get(before.setting)
        return self._compare(scores, other, direction) if scores and other else None

    def _compare(self, scores: PredictorScores, other: PredictorScores, direction: Direction) -> Comparison:
        """Test the difference of two AUCs, taking their test parts as independent.

        Settings share judged queries; where AUCs vary alike from document to document, p is too large.
        """
        difference = scores.auc - other.auc
        errors = [(measured.auc_high - measured.auc_low) / DEVIATIONS for measured in (scores, other)]
        spread = sum(error**2 for error in errors) ** 0.5
        deviations = abs(difference) / spread if spread > 0 else math.inf if difference else 0.0
        p = 2 * NormalDist().cdf(-deviations)
        return Comparison(
            f"setting {other.setting}", MARKS[direction], difference, p, p <= self.level, direction
        )

    def _notes(self) -> list[str]:
        return [
            f"Published: {self.printed.protocol}.",
            "Ours: AUC over the test pairs [95% interval, bootstrap over test documents].",
            f"A printed AUC stands beside ours on {self.printed.label} alone. On another data set the marks ↓ and ↑ "
            "say that a setting is worse or better than the one before it, in the direction of the printed AUCs, with "
            f"p ≤ {self.level:g} (normal approximation with the errors of the two intervals, the settings taken as "
            "independent; they share judged queries, so p is rather too large).",
            *(self._described(group, scores) for group in self.groups for scores in group.members.values()),
            *self.printed.remarks,
            *self.config.report.notes,
        ]

    def _described(self, group: PredictorGroup, scores: PredictorScores) -> str:
        return (
            f"{group.label}, setting {scores.setting}: {scores.label} (predictor {scores.name}), {scores.pairs:,} "
            f"pairs, of which {scores.test_pairs:,} are tested; {axioms_text(self.axioms, scores)}."
        )


def _predictor_value(
    scores: PredictorScores, group: PredictorGroup, comparisons: tuple[Comparison, ...]
) -> Ours:
    name = (group.label, f"{scores.label} (predictor {scores.name})")
    value = (scores.auc, scores.auc_low, scores.auc_high)
    return Ours.of_file(name, AUC, value, scores.test_pairs, "test pairs", scores.path, comparisons)


# How high pseudo-queries rank the document that they were drawn from (ARES, section 4.1), for every collection.


SHARE = "share"
NO_COLLECTIONS = (
    "this configuration samples no pseudo-queries for a preference predictor (section predictors)"
)


class RankIntervalTable:
    """The shares of pseudo-queries by interval, printed and ours, for both readings of the printed intervals.

    Printed shares are compared with ours on the paper's own documents alone. Where the temperature of a collection was
    calibrated, a note says how.
    """

    def __init__(
        self, published: Published, axioms: PublishedAxioms, config: Config, results: AxiomResults
    ) -> None:
        self.published, self.config, self.collections = published, config, results.rank_intervals
        self.printed = axioms.rank_intervals
        self.of_paper = next(
            (collection for collection in self.collections if self._is_the_papers(collection)), None
        )
        self.others = [collection for collection in self.collections if collection is not self.of_paper]
        self.temperatures = {collection.name: collection for collection in results.temperatures}

    def describe(self) -> Table:
        readings = [reading for reading in (self.printed.intervals, self.printed.other_reading) if reading]
        return Table.of_paper(self.published, self.printed, list(map(self._panel, readings)), self._notes())

    def _corpora(self, collection: RankIntervals) -> list[str]:
        return self.config.collections.get(collection.name, [])

    def _is_the_papers(self, collection: RankIntervals) -> bool:
        corpora = self._corpora(collection)
        return bool(corpora) and set(corpora) <= set(self.printed.corpora)

    def _panel(self, intervals: Sequence[PublishedInterval]) -> Panel:
        columns = [Column(f"{self.printed.label} (the paper's)", SHARE)]
        columns += [Column(collection.name, SHARE) for collection in self.others]
        rows = [
            Row(
                _ranks(interval),
                f"{_ranks(interval)} (printed {interval.printed})",
                "",
                (
                    self._cell(interval, self.of_paper, interval.share),
                    *(self._cell(interval, collection) for collection in self.others),
                ),
            )
            for interval in intervals
        ]
        title = f"Printed intervals read as {', '.join(map(_ranks, intervals))}"
        return Panel(title, tuple(columns), tuple(rows), "Rank")

    def _cell(
        self,
        interval: PublishedInterval,
        collection: RankIntervals | None,
        printed: PublishedValue | None = None,
    ) -> Cell:
        name = collection.name if collection else self.printed.label
        if collection is None:
            reason = self.printed.absent if self.collections else NO_COLLECTIONS
        else:
            reason = f"RANK is known up to {collection.depth} alone (axioms.rank_depth)"
        return Cell(
            _ranks(interval),
            name,
            "",
            SHARE,
            "",
            reason=reason,
            ours=_share_of_interval(interval, collection) if collection else None,
            published=printed,
        )

    def _notes(self) -> list[str]:
        return [
            f"Published: {self.printed.protocol}; here they are shares.",
            "Ours: share of all pseudo-queries of the collection. All are counted, so there is no interval.",
            "A printed share stands beside ours on the paper's documents alone.",
            *(self._described(collection) for collection in self.collections),
            *self.printed.remarks,
            *self.config.report.notes,
        ]

    def _described(self, collection: RankIntervals) -> str:
        documents = " + ".join(self._corpora(collection)) or "its documents"
        counted = f"{collection.name}: {collection.queries:,} pseudo-queries of {documents}."
        chosen = self.temperatures.get(collection.name)
        return counted if chosen is None else f"{counted} {self._chosen(collection, chosen)}"

    def _chosen(self, collection: RankIntervals, chosen: CalibratedTemperature) -> str:
        """How the temperature was chosen, and the distance of all pseudo-queries, whose shares the table has."""
        differences = [
            abs(
                interval.share.value
                - sum(collection.intervals[rank] for rank in interval.ranks) / collection.queries
            )
            for interval in self.printed.intervals
        ]
        bound = ", the best being a bound of the search" if chosen.at_bound else ""
        return (
            f"Temperature {chosen.temperature:g} was chosen among {len(chosen.tried)} by the total variation distance "
            f"to the printed shares, {chosen.distance:.3f} over {chosen.queries:,} pseudo-queries of "
            f"{chosen.documents:,} documents{bound}; over all it is {sum(differences) / 2:.3f}."
        )


def _share_of_interval(interval: PublishedInterval, collection: RankIntervals) -> Ours | None:
    """Our share of an interval; None where ranks are not known so far."""
    if not set(interval.ranks) <= set(collection.intervals):
        return None
    number = collection.queries
    share = sum(collection.intervals[rank] for rank in interval.ranks) / number
    name, value = (collection.name, "BM25"), (share, math.nan, math.nan)
    return Ours.of_file(name, SHARE, value, number, "pseudo-queries", collection.path)


def _ranks(interval: PublishedInterval) -> str:
    """Return "1–2", "3–5", "beyond 50"."""
    name = interval.name
    return f"beyond {name[1:]}" if name.startswith(">") else name.replace("-", "–")


# Which axioms do re-rankers follow? The share of pairs on which each decides as each axiom does; beyond the papers.


TITLE = "Axiom diagnosis of re-rankers"
NO_DIAGNOSES = "No re-ranker was diagnosed: this configuration has no diagnoses (section diagnoses)."
MISSING_TERMS = (
    "PROX-1 and PROX-2 prefer a query whose terms all occur to one that lacks a term; where most pseudo-queries lack "
    "one, that is most of what they say."
)


def diagnosis_table(
    published: Published, axioms: PublishedAxioms, config: Config, diagnoses: Sequence[Diagnosis]
) -> Table:
    """Return one panel per diagnosis: models by axioms, shares with intervals."""
    panels = tuple(_panel(axioms, config, diagnosis) for diagnosis in diagnoses)
    notes = tuple(_notes(axioms, config, diagnoses))
    return Table(f"{published.paper}_diagnosis", TITLE, panels, notes)


def diagnosis_label(config: Config, diagnosis: Diagnosis) -> str:
    """Return the configuration's label of a diagnosis."""
    described = config.diagnoses.get(diagnosis.name)
    return described.label if described else diagnosis.name


def diagnosed_axioms(axioms: PublishedAxioms, diagnosis: Diagnosis) -> list[str]:
    """Return the axioms of a diagnosis in the paper's order."""
    return in_order(axioms, list(dict.fromkeys(row.axiom for row in diagnosis.agreements)))


def pairs_of(diagnosis: Diagnosis) -> dict[str, int]:
    """Return axiom → pairs on which it has a preference, which are the same for every model."""
    return {row.axiom: row.pairs for row in diagnosis.agreements}


def _panel(axioms: PublishedAxioms, config: Config, diagnosis: Diagnosis) -> Panel:
    names = diagnosed_axioms(axioms, diagnosis)
    columns = tuple(Column("agrees with", axiom) for axiom in names)
    rows = tuple(
        Row(model, label, "", tuple(_cell(diagnosis, model, axiom) for axiom in names))
        for model, label in diagnosis.models.items()
    )
    return Panel(diagnosis_label(config, diagnosis), columns, rows)


def _cell(diagnosis: Diagnosis, model: str, axiom: str) -> Cell:
    agreement = diagnosis.get(model, axiom)
    if agreement is None:
        return Cell(model, diagnosis.name, "", axiom, "", reason=f"{diagnosis.path} has no such row")
    if not agreement.pairs or math.isnan(agreement.share):
        undecided = "the axiom prefers neither query of any pair"
        return Cell(model, diagnosis.name, "", axiom, "", reason=undecided)
    name, value = (diagnosis.name, model), (agreement.share, agreement.low, agreement.high)
    ours = Ours.of_file(name, axiom, value, agreement.pairs, "pairs", diagnosis.path)
    return Cell(model, diagnosis.name, "", axiom, "", ours=ours)


def _notes(axioms: PublishedAxioms, config: Config, diagnoses: Sequence[Diagnosis]) -> list[str]:
    if not diagnoses:
        return [NO_DIAGNOSES, *config.report.notes]
    return [
        "Of the pairs of pseudo-queries of one document on which an axiom prefers one query, the share on which the "
        "re-ranker gives that query the higher score [95% interval, Wilson's, pairs taken as independent]. Half is "
        "what chance gives.",
        "Axioms agree with each other on many pairs. A share above one half says that the scores agree with an axiom, "
        "not that the model has learnt it.",
        *([MISSING_TERMS] if config.axioms.missing_terms == "worst" else []),
        *(
            f"{diagnosis_label(config, diagnosis)}: pairs that count, {_pairs(axioms, diagnosis)}."
            for diagnosis in diagnoses
        ),
        *config.report.notes,
    ]


def _pairs(axioms: PublishedAxioms, diagnosis: Diagnosis) -> str:
    """Return "RANK 480, REP-QL 600": on how many pairs each axiom has a preference."""
    counts = pairs_of(diagnosis)
    return ", ".join(f"{axiom} {counts[axiom]:,}" for axiom in diagnosed_axioms(axioms, diagnosis))
