"""The tables of ARES's axioms: settings of the predictor (table 2), ranks of pseudo-queries (section 4.1), and the
diagnosis of re-rankers."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from irpretrain.config import Config
from irpretrain.config.papers.base import PublishedAxioms, PublishedInterval, PublishedValue, Setting
from irpretrain.config.papers.published import Published
from irpretrain.report.axiom_results import (
    AxiomResults,
    Diagnosis,
    PredictorGroup,
    PredictorScores,
    RankIntervals,
    axioms_text,
    in_order,
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


# Which axioms do re-rankers follow? The share of pairs on which each decides as each axiom does; beyond the papers.


TITLE = "Axiom diagnosis of re-rankers"
NO_DIAGNOSES = "No re-ranker was diagnosed: this configuration has no diagnoses (section diagnoses)."
MISSING_TERMS = (
    "PROX-1 and PROX-2 prefer a query whose terms all occur to one that lacks a term; where most pseudo-queries lack "
    "one, that is most of what they say."
)
AGREEING = (
    "Of the pairs of pseudo-queries of one document on which an axiom prefers one query, the share on which the "
    "re-ranker gives that query the higher score [95% interval over documents and seeds]. Half is what chance gives.",
    "Axioms agree with each other on many pairs. A share above one half says that the scores agree with an axiom, "
    "not that the model has learnt it.",
)


def diagnosis_table(
    published: Published, axioms: PublishedAxioms, config: Config, diagnoses: Sequence[Diagnosis]
) -> Table:
    """Return one panel per diagnosis: models by axioms, shares with intervals."""
    notes = [*AGREEING, *([MISSING_TERMS] if config.axioms.missing_terms == "worst" else [])]
    panels = []
    for diagnosis in diagnoses:
        described = config.diagnoses.get(diagnosis.name)
        title = described.label if described else diagnosis.name
        # On how many pairs each axiom has a preference is the same for every model.
        pairs = {row.axiom: row.pairs for row in diagnosis.agreements}
        names = in_order(axioms, list(pairs))
        rows = {model: Row(model, label) for model, label in diagnosis.models.items()}
        columns = {axiom: Column("agrees with", axiom) for axiom in names}
        panels.append(Panel.of(title, rows, columns, partial(_cell, diagnosis)))
        counted = ", ".join(f"{axiom} {pairs[axiom]:,}" for axiom in names)
        notes.append(f"{title}: pairs that count, {counted}.")
    notes = [*(notes if diagnoses else [NO_DIAGNOSES]), *config.report.notes]
    return Table(f"{published.paper}_diagnosis", TITLE, tuple(panels), tuple(notes))


def _cell(diagnosis: Diagnosis, model: str, axiom: str) -> Cell:
    agreement, ours = diagnosis.get(model, axiom), None
    reason = f"{diagnosis.path} has no such row"
    if agreement is not None and agreement.pairs and not math.isnan(agreement.share):
        name, value = (diagnosis.name, model), (agreement.share, agreement.low, agreement.high)
        ours = Ours.of_file(name, axiom, value, agreement.pairs, "pairs", diagnosis.path)
    elif agreement is not None:
        reason = "the axiom prefers neither query of any pair"
    return Cell(model, diagnosis.name, "", axiom, "", reason=reason, ours=ours)
