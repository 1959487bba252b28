"""The tables of ARES's axioms: settings of the predictor (table 2), ranks of pseudo-queries (section 4.1)."""

import math
from collections.abc import Sequence
from dataclasses import replace

from irpretrain.config import Config
from irpretrain.config.papers import Published
from irpretrain.config.printed import PublishedAxioms, PublishedInterval, PublishedValue, Setting
from irpretrain.report.axiom_results import (
    AxiomResults,
    PredictorGroup,
    PredictorScores,
    RankIntervals,
    axioms_text,
    predictor_groups,
)
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table

# The table of settings: how well a predictor tells training queries from pseudo-queries (ARES, table 2).


AUC = "AUC"
NO_PREDICTORS = "this configuration has no preference predictors (section predictors)"
MISSING = "no predictor of this configuration has that setting there"


def settings_table(
    published: Published, axioms: PublishedAxioms, config: Config, scores: Sequence[PredictorScores]
) -> Table:
    """Return the table of the AUC of each setting; a printed one stands beside ours on the paper's data set alone."""
    printed = axioms.predictors
    groups = predictor_groups(axioms, config, scores)
    none = PredictorGroup(printed.label, "", {})
    of_paper = next((group for group in groups if group.dataset in printed.datasets), none)
    others = [group for group in groups if group is not of_paper]
    unmade = next(iter(config.absent_predictors.values()), NO_PREDICTORS)
    absent = MISSING if of_paper.members else printed.absent if groups else unmade
    settings = {setting.setting: setting for setting in printed.settings}

    def source(setting: Setting, number: int) -> Cell:
        if number:
            return _setting_cell(others[number - 1], setting, MISSING)
        cell = _setting_cell(of_paper, setting, absent)
        return replace(cell, published=PublishedValue.parse(settings[setting].auc))

    rows = {name: Row(name, f"{name} (negatives: {settings[name].negatives})") for name in settings}
    columns = _columns(printed.label, [group.label for group in others], AUC)
    notes = [
        f"Published: {printed.protocol}.",
        f"Ours: AUC over the test pairs [95% interval, bootstrap over test documents]; beside a printed AUC on "
        f"{printed.label} alone.",
        *(
            f"{group.label}, setting {scores.setting}: {scores.label} (predictor {scores.name}), {scores.pairs:,} "
            f"pairs, of which {scores.test_pairs:,} are tested; {axioms_text(axioms, scores)}."
            for group in [of_paper, *others]
            for scores in group.members.values()
        ),
    ]
    panel = Panel.of("Settings", rows, columns, source, "Setting")
    return Table.of_paper(published, printed, [panel], notes, config)


def _columns(label: str, others: Sequence[str], measure: str) -> dict[int, Column]:
    return {
        number: Column(group, measure) for number, group in enumerate((f"{label} (the paper's)", *others))
    }


def _setting_cell(group: PredictorGroup, setting: Setting, reason: str) -> Cell:
    scores, ours = group.members.get(setting), None
    if scores is not None:
        name = (group.label, f"{scores.label} (predictor {scores.name})")
        value = (scores.auc, scores.auc_low, scores.auc_high)
        ours = Ours.of_file(name, AUC, value, scores.test_pairs, "test pairs", scores.path)
    data, regime = group.dataset or group.label, scores.name if scores else ""
    return Cell(setting, data, "", AUC, regime, reason=reason, ours=ours)


# How high pseudo-queries rank the document that they were drawn from (ARES, section 4.1), for every collection.


SHARE = "share"
NO_COLLECTIONS = (
    "this configuration samples no pseudo-queries for a preference predictor (section predictors)"
)


def rank_interval_table(
    published: Published, axioms: PublishedAxioms, config: Config, results: AxiomResults
) -> Table:
    """Return the shares of pseudo-queries by interval; printed ones stand beside ours on the paper's documents."""
    printed = axioms.rank_intervals
    corpora = {c.name: config.collections.get(c.name, []) for c in results.rank_intervals}
    theirs = [
        c for c in results.rank_intervals if corpora[c.name] and set(corpora[c.name]) <= set(printed.corpora)
    ]
    of_paper = theirs[0] if theirs else None
    others = [collection for collection in results.rank_intervals if collection is not of_paper]
    absent = printed.absent if results.rank_intervals else NO_COLLECTIONS
    intervals = {_ranks(interval): interval for interval in printed.intervals}

    def source(ranks: str, number: int) -> Cell:
        interval = intervals[ranks]
        if number:
            return _share_cell(interval, others[number - 1])
        empty = Cell(ranks, printed.label, "", SHARE, "", reason=absent)
        return replace(_share_cell(interval, of_paper) if of_paper else empty, published=interval.share)

    rows = {ranks: Row(ranks, f"{ranks} (printed {intervals[ranks].printed})") for ranks in intervals}
    columns = _columns(printed.label, [collection.name for collection in others], SHARE)
    notes = [
        f"Published: {printed.protocol}; here they are shares.",
        "Ours: share of all pseudo-queries of the collection. All are counted, so there is no interval.",
        "A printed share stands beside ours on the paper's documents alone.",
        *(
            f"{c.name}: {c.queries:,} pseudo-queries of {' + '.join(corpora[c.name]) or 'its documents'}."
            for c in results.rank_intervals
        ),
    ]
    panel = Panel.of("Ranks", rows, columns, source, "Rank")
    return Table.of_paper(published, printed, [panel], notes, config)


def _share_cell(interval: PublishedInterval, collection: RankIntervals) -> Cell:
    ours, ranks = None, _ranks(interval)
    if set(interval.ranks) <= set(collection.intervals):
        share = sum(collection.intervals[rank] for rank in interval.ranks) / collection.queries
        value, data = (share, math.nan, math.nan), (collection.name, "BM25")
        ours = Ours.of_file(data, SHARE, value, collection.queries, "pseudo-queries", collection.path)
    reason = f"RANK is known up to {collection.depth} alone (axioms.rank_depth)"
    return Cell(ranks, collection.name, "", SHARE, "", reason=reason, ours=ours)


def _ranks(interval: PublishedInterval) -> str:
    """Return "1–2", "3–5", "beyond 50"."""
    name = interval.name
    return f"beyond {name[1:]}" if name.startswith(">") else name.replace("-", "–")
