"""The table of settings: how well a predictor tells training queries from pseudo-queries (ARES, table 2)."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from irpretrain.config import Config
from irpretrain.papers.axioms import PublishedAxioms
from irpretrain.papers.base import Direction, PublishedValue
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import PredictorScores
from irpretrain.report.cells import Column, Comparison, Ours
from irpretrain.report.comparisons import HEADLINE_LEVEL
from irpretrain.report.plans import CellPlan, Mark, PlannedPanel, PlannedRow, TablePlan
from irpretrain.report.predictor_groups import PredictorGroup, axioms_text, predictor_groups

MEASURE = "AUC"
NO_PREDICTORS = "this configuration has no preference predictors (section predictors)"
MISSING = "no predictor of this configuration has that setting there"
FIRST = "the paper has another data set; the settings after it are compared with it"
MARKS: dict[Direction, str] = {"worse": "↓", "better": "↑"}
"""Marks of ours: below, or above, the setting before it."""
DEVIATIONS = 2 * NormalDist().inv_cdf(0.975)
"""Standard errors that a 95 % interval is wide."""


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

    def plan(self) -> TablePlan:
        columns = [Column(f"{self.printed.label} (the paper's)", MEASURE)]
        columns += [Column(group.label, MEASURE) for group in self.groups[1:]]
        rows = [
            PlannedRow(
                setting.setting,
                f"{setting.setting} (negatives: {setting.negatives})",
                "",
                tuple(self._cell(group, place) for group in self.groups),
            )
            for place, setting in enumerate(self.printed.settings)
        ]
        panel = PlannedPanel("Settings", tuple(columns), tuple(rows), "Setting")
        return TablePlan.of_paper(self.published, self.printed, [panel], self._notes())

    def _cell(self, group: PredictorGroup, place: int) -> CellPlan:
        """A cell: beside the printed AUC on the paper's data set, against the setting before it on others."""
        setting = self.printed.settings[place]
        scores = group.members.get(setting.setting)
        is_theirs = group is self.of_paper
        comparison, marks = (None, ()) if is_theirs or not place else self._against(group, place)
        return CellPlan(
            setting.setting,
            group.dataset or group.label,
            "",
            MEASURE,
            scores.name if scores else "",
            reason=self.absent if is_theirs and not group.members else MISSING,
            measured=_ours(scores, group, (comparison,) if comparison else ()) if scores else None,
            printed=PublishedValue.parse(setting.auc) if is_theirs else None,
            alone=FIRST,
            marks=marks,
        )

    def _against(self, group: PredictorGroup, place: int) -> tuple[Comparison | None, tuple[Mark, ...]]:
        """How a setting compares with the one before it, and what the printed AUCs say of the two."""
        setting, before = self.printed.settings[place], self.printed.settings[place - 1]
        direction: Direction = "worse" if float(setting.auc) < float(before.auc) else "better"
        scores, other = group.members.get(setting.setting), group.members.get(before.setting)
        comparison = self._compare(scores, other, direction) if scores and other else None
        return comparison, (Mark(MARKS[direction], f"setting {before.setting}", MISSING, direction),)

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
            f"Verdicts: a printed AUC is compared with ours on {self.printed.label} alone, and reproduced when it lies "
            f"in our interval or within {self.published.verdict.tolerance:g}. On another data set the order is "
            "compared: a setting is worse (↓) or better (↑) than the one before it where the printed AUCs are so; "
            f"reproduced when ours differ in that direction with p ≤ {self.level:g} (normal approximation with the "
            "errors of the two intervals, the settings taken as independent; they share judged queries, so p is rather "
            "too large).",
            *(self._described(group, scores) for group in self.groups for scores in group.members.values()),
            *self.printed.remarks,
            *self.config.report.notes,
        ]

    def _described(self, group: PredictorGroup, scores: PredictorScores) -> str:
        return (
            f"{group.label}, setting {scores.setting}: {scores.label} (predictor {scores.name}), {scores.pairs:,} "
            f"pairs, of which {scores.test_pairs:,} are tested; {axioms_text(self.axioms, scores)}."
        )


def _ours(scores: PredictorScores, group: PredictorGroup, comparisons: tuple[Comparison, ...]) -> Ours:
    name = (group.label, f"{scores.label} (predictor {scores.name})")
    value = (scores.auc, scores.auc_low, scores.auc_high)
    return Ours.of_file(name, MEASURE, value, scores.test_pairs, "test pairs", scores.path, comparisons)
