"""The table of settings: how well a predictor tells training queries from pseudo-queries (ARES, table 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from irpretrain.config import Config
from irpretrain.report.axiom_results import PredictorScores
from irpretrain.report.cells import Cell, Column, Comparison, Ours, Panel, Row, Table, Verdict
from irpretrain.report.comparisons import HEADLINE_LEVEL
from irpretrain.report.predictor_groups import PredictorGroup, axioms_text, predictor_groups
from irpretrain.report.published import Direction, Published, PublishedValue
from irpretrain.report.published_axioms import PublishedAxioms, PublishedSetting
from irpretrain.report.scores import RunName
from irpretrain.report.verdicts import claim_verdict, not_run, nothing_published, number_verdict

MEASURE = "AUC"
NO_PREDICTORS = "this configuration has no preference predictors (section predictors)"
MISSING = "no predictor of this configuration has that setting there"
MARKS: dict[Direction, str] = {"worse": "↓", "better": "↑"}
"""Marks of ours: below, or above, the setting before it."""
DEVIATIONS = 2 * NormalDist().inv_cdf(0.975)
"""Standard errors that a 95 % interval is wide."""


def build_settings_table(
    published: Published, axioms: PublishedAxioms, config: Config, predictors: Sequence[PredictorScores]
) -> Table:
    """Return the AUC of each setting, printed and ours.

    A printed AUC is compared with ours on the paper's own data set alone. On any other, what is compared is the order
    of the settings: whether each is harder (or easier) than the one before it, as the printed AUCs are.
    """
    return _SettingsTable(published, axioms, config, predictors).build()


class _SettingsTable:
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

    def build(self) -> Table:
        columns = [Column(f"{self.printed.label} (the paper's)", MEASURE)]
        columns += [Column(group.label, MEASURE) for group in self.groups[1:]]
        rows = [self._row(place) for place in range(len(self.printed.settings))]
        return Table(
            f"{self.published.paper}_table{self.printed.number}",
            self.published.paper,
            f"Table {self.printed.number}: {self.printed.title}",
            (Panel("Settings", tuple(columns), tuple(rows), "Setting"),),
            tuple(self._notes()),
            f"{self.published.citation} {self.published.place(self.printed.page, self.printed.section)}.",
            self.published.name,
        )

    def _row(self, place: int) -> Row:
        setting = self.printed.settings[place]
        cells = (self._theirs(setting), *(self._here(group, place) for group in self.groups[1:]))
        return Row(setting.setting, f"{setting.setting} (negatives: {setting.negatives})", "", cells)

    def _theirs(self, setting: PublishedSetting) -> Cell:
        """The cell of the paper's data set."""
        value = PublishedValue.parse(setting.auc)
        scores = self.of_paper.members.get(setting.setting)
        if value is None or scores is None:
            reason = MISSING if self.of_paper.members else self.absent
            return self._cell(setting, self.of_paper, value, None, [not_run(reason)])
        ours = self._ours(scores, self.of_paper)
        verdict = number_verdict(value, ours, self.published.verdict.tolerance)
        return self._cell(setting, self.of_paper, value, ours, [verdict])

    def _here(self, group: PredictorGroup, place: int) -> Cell:
        """The cell of a data set of ours: compared with the setting before it."""
        setting = self.printed.settings[place]
        scores = group.members.get(setting.setting)
        if scores is None:
            return self._cell(setting, group, None, None, [not_run(MISSING)])
        if place == 0:
            first = nothing_published(
                "the paper has another data set; the settings after it are compared with it"
            )
            return self._cell(setting, group, None, self._ours(scores, group), [first])
        before = self.printed.settings[place - 1]
        direction: Direction = "worse" if float(setting.auc) < float(before.auc) else "better"
        other = group.members.get(before.setting)
        found = self._compare(scores, other, direction) if other else None
        ours = self._ours(scores, group, (found,) if found else ())
        against = f"setting {before.setting}"
        claim = claim_verdict(MARKS[direction], against, found, MISSING, direction)
        return self._cell(setting, group, None, ours, [claim])

    def _ours(
        self, scores: PredictorScores, group: PredictorGroup, comparisons: tuple[Comparison, ...] = ()
    ) -> Ours:
        return Ours(
            RunName(group.label, "", f"{scores.label} (predictor {scores.name})", ""),
            MEASURE,
            scores.auc,
            scores.auc_low,
            scores.auc_high,
            (),
            scores.test_pairs,
            comparisons,
            "test pairs",
            scores.path,
        )

    def _compare(self, scores: PredictorScores, other: PredictorScores, direction: Direction) -> Comparison:
        """Test the difference of two AUCs, taking their test parts as independent.

        Settings share judged queries; where AUCs vary alike from document to document, p is too large.
        """
        difference = scores.auc - other.auc
        errors = [(found.auc_high - found.auc_low) / DEVIATIONS for found in (scores, other)]
        spread = sum(error**2 for error in errors) ** 0.5
        deviations = abs(difference) / spread if spread > 0 else math.inf if difference else 0.0
        p = 2 * NormalDist().cdf(-deviations)
        return Comparison(
            f"setting {other.setting}", MARKS[direction], difference, p, p <= self.level, direction
        )

    def _cell(
        self,
        setting: PublishedSetting,
        group: PredictorGroup,
        value: PublishedValue | None,
        ours: Ours | None,
        verdicts: list[Verdict],
    ) -> Cell:
        name = group.members[setting.setting].name if ours else ""
        return Cell(
            setting.setting, group.dataset or group.label, MEASURE, name, value, ours, tuple(verdicts)
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
