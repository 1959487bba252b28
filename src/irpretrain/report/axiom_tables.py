"""The tables of ARES's axioms: settings of the predictor (table 2), ranks of pseudo-queries (section 4.1), and the
diagnosis of re-rankers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import NormalDist

from irpretrain.config import Config
from irpretrain.papers.base import Direction, PublishedValue
from irpretrain.papers.other_tables import (
    PublishedAxioms,
    PublishedInterval,
    PublishedRankIntervals,
    PublishedSetting,
)
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


def settings_table(
    published: Published, axioms: PublishedAxioms, config: Config, scores: Sequence[PredictorScores]
) -> Table:
    """Return the table of the AUC of each setting, printed and ours.

    A printed AUC is compared with ours on the paper's own data set alone. On any other, what is compared is the order
    of the settings: whether each is harder (or easier) than the one before it, as the printed AUCs are.
    """
    printed = axioms.predictors
    level = HEADLINE_LEVEL if config.evaluation.level is None else config.evaluation.level
    groups = predictor_groups(axioms, config, scores)
    none = PredictorGroup(printed.label, "", {})
    of_paper = next((group for group in groups if group.dataset in printed.datasets), none)
    others = [group for group in groups if group is not of_paper]
    unmade = next(iter(config.absent_predictors.values()), NO_PREDICTORS)
    absent = printed.absent if groups else unmade
    rows = []
    for position, setting in enumerate(printed.settings):
        before = printed.settings[position - 1] if position else None
        of_row = [_setting_cell(of_paper, setting, MISSING if of_paper.members else absent, printed=True)]
        of_row += [
            _setting_cell(group, setting, MISSING, _against(group, setting, before, level))
            for group in others
        ]
        label = f"{setting.setting} (negatives: {setting.negatives})"
        rows.append(Row(setting.setting, label, "", tuple(of_row)))
    columns = _columns(printed.label, [group.label for group in others], AUC)
    notes = [
        f"Published: {printed.protocol}.",
        "Ours: AUC over the test pairs [95% interval, bootstrap over test documents].",
        f"A printed AUC stands beside ours on {printed.label} alone. On another data set the marks ↓ and ↑ "
        "say that a setting is worse or better than the one before it, in the direction of the printed AUCs, with "
        f"p ≤ {level:g} (normal approximation with the errors of the two intervals, the settings taken as "
        "independent; they share judged queries, so p is rather too large).",
        *(
            f"{group.label}, setting {scores.setting}: {scores.label} (predictor {scores.name}), {scores.pairs:,} "
            f"pairs, of which {scores.test_pairs:,} are tested; {axioms_text(axioms, scores)}."
            for group in [of_paper, *others]
            for scores in group.members.values()
        ),
    ]
    return Table.of_paper(
        published, printed, [Panel("Settings", columns, tuple(rows), "Setting")], notes, config
    )


def _columns(label: str, others: Iterable[str], measure: str) -> tuple[Column, ...]:
    return tuple(Column(group, measure) for group in (f"{label} (the paper's)", *others))


def _setting_cell(
    group: PredictorGroup,
    setting: PublishedSetting,
    reason: str,
    comparisons: tuple[Comparison, ...] = (),
    printed: bool = False,
) -> Cell:
    scores = group.members.get(setting.setting)
    ours = None
    if scores is not None:
        name = (group.label, f"{scores.label} (predictor {scores.name})")
        value = (scores.auc, scores.auc_low, scores.auc_high)
        ours = Ours.of_file(name, AUC, value, scores.test_pairs, "test pairs", scores.path, comparisons)
    return Cell(
        setting.setting,
        group.dataset or group.label,
        "",
        AUC,
        scores.name if scores else "",
        reason=reason,
        ours=ours,
        published=PublishedValue.parse(setting.auc) if printed else None,
    )


def _against(
    group: PredictorGroup, setting: PublishedSetting, before: PublishedSetting | None, level: float
) -> tuple[Comparison, ...]:
    """How a setting compares with the one before it, in the direction of the printed AUCs.

    The test takes their test parts as independent. Settings share judged queries; where AUCs vary alike from document
    to document, p is too large.
    """
    scores, other = (group.members.get(which.setting) if which else None for which in (setting, before))
    if before is None or scores is None or other is None:
        return ()
    direction: Direction = "worse" if float(setting.auc) < float(before.auc) else "better"
    difference = scores.auc - other.auc
    errors = [(measured.auc_high - measured.auc_low) / DEVIATIONS for measured in (scores, other)]
    spread = sum(error**2 for error in errors) ** 0.5
    deviations = abs(difference) / spread if spread > 0 else math.inf if difference else 0.0
    p = 2 * NormalDist().cdf(-deviations)
    over = f"setting {other.setting}"
    return (Comparison(over, MARKS[direction], difference, p, p <= level, direction),)


# How high pseudo-queries rank the document that they were drawn from (ARES, section 4.1), for every collection.


SHARE = "share"
NO_COLLECTIONS = (
    "this configuration samples no pseudo-queries for a preference predictor (section predictors)"
)


def rank_interval_table(
    published: Published, axioms: PublishedAxioms, config: Config, results: AxiomResults
) -> Table:
    """Return the shares of pseudo-queries by interval, printed and ours, for both readings of the printed intervals.

    Printed shares are compared with ours on the paper's own documents alone. Where the temperature of a collection was
    calibrated, a note says how.
    """
    printed = axioms.rank_intervals
    corpora = {c.name: config.collections.get(c.name, []) for c in results.rank_intervals}
    theirs = [
        c for c in results.rank_intervals if corpora[c.name] and set(corpora[c.name]) <= set(printed.corpora)
    ]
    of_paper = theirs[0] if theirs else None
    others = [collection for collection in results.rank_intervals if collection is not of_paper]
    absent = printed.absent if results.rank_intervals else NO_COLLECTIONS
    temperatures = {collection.name: collection for collection in results.temperatures}
    columns = _columns(printed.label, [collection.name for collection in others], SHARE)
    panels = []
    for intervals in filter(None, (printed.intervals, printed.other_reading)):
        rows = []
        for interval in intervals:
            empty = Cell(_ranks(interval), printed.label, "", SHARE, "", reason=absent)
            first = empty if of_paper is None else _share_cell(interval, of_paper)
            cells = (replace(first, published=interval.share), *(_share_cell(interval, c) for c in others))
            rows.append(Row(_ranks(interval), f"{_ranks(interval)} (printed {interval.printed})", "", cells))
        title = f"Printed intervals read as {', '.join(map(_ranks, intervals))}"
        panels.append(Panel(title, columns, tuple(rows), "Rank"))
    notes = [
        f"Published: {printed.protocol}; here they are shares.",
        "Ours: share of all pseudo-queries of the collection. All are counted, so there is no interval.",
        "A printed share stands beside ours on the paper's documents alone.",
        *(
            f"{c.name}: {c.queries:,} pseudo-queries of {' + '.join(corpora[c.name]) or 'its documents'}."
            + _chosen(printed, c, temperatures.get(c.name))
            for c in results.rank_intervals
        ),
    ]
    return Table.of_paper(published, printed, panels, notes, config)


def _share_cell(interval: PublishedInterval, collection: RankIntervals) -> Cell:
    """Our share of an interval, where ranks are known so far."""
    ours, name = None, _ranks(interval)
    if set(interval.ranks) <= set(collection.intervals):
        value = (_share(interval, collection), math.nan, math.nan)
        data = (collection.name, "BM25")
        ours = Ours.of_file(data, SHARE, value, collection.queries, "pseudo-queries", collection.path)
    reason = f"RANK is known up to {collection.depth} alone (axioms.rank_depth)"
    return Cell(name, collection.name, "", SHARE, "", reason=reason, ours=ours)


def _share(interval: PublishedInterval, collection: RankIntervals) -> float:
    return sum(collection.intervals[rank] for rank in interval.ranks) / collection.queries


def _chosen(
    printed: PublishedRankIntervals, collection: RankIntervals, chosen: CalibratedTemperature | None
) -> str:
    """How the temperature was chosen, and the distance of all pseudo-queries, whose shares the table has."""
    if chosen is None:
        return ""
    differences = [abs(interval.share.value - _share(interval, collection)) for interval in printed.intervals]
    bound = ", the best being a bound of the search" if chosen.at_bound else ""
    return (
        f" Temperature {chosen.temperature:g} was chosen among {len(chosen.tried)} by the total variation distance "
        f"to the printed shares, {chosen.distance:.3f} over {chosen.queries:,} pseudo-queries of "
        f"{chosen.documents:,} documents{bound}; over all it is {sum(differences) / 2:.3f}."
    )


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
