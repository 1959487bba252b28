"""What a reader sees first: the result in two sentences and one table, both from the headline table."""

from dataclasses import replace
from typing import NamedTuple

from irpretrain.config import Config
from irpretrain.config.labels import BUILT_IN_LABELS, quoted
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.evaluation.significance import bounds_text
from irpretrain.evaluation.verdicts import EffectEstimate
from irpretrain.foundation.errors import count_of
from irpretrain.report.cells import Cell, Column, OurValue, Panel, Row, Table, TextCell
from irpretrain.report.difference_plot import comparison_text
from irpretrain.report.scores import Scores, paired_lead

BM25 = "bm25"
ZERO_SHOT = "zero-shot"
# Models that a sentence names, the worst first.
MAX_NAMED_SETBACKS = 3
# Most data sets after the first whose best run is named.
MAX_OTHER_DATASETS = 2


class Score(NamedTuple):
    """A run's cell in the headline table: its row's key and label, the cell and its value."""

    model: str
    label: str
    cell: Cell
    ours: OurValue


def leading_columns(panel: Panel) -> list[tuple[str, list[Score]]]:
    """Return the values of each regime in the first measure of a panel."""
    columns, position = [], 0
    for regime, width in panel.groups():
        cells = ((row, row.cells[position]) for row in panel.rows)
        scores = [
            Score(row.key, row.short_label, cell, cell.ours)
            for row, cell in cells
            if isinstance(cell, Cell) and cell.ours
        ]
        columns.append((regime, scores))
        position += width
    return columns


def main_panel(table: Table) -> Panel | None:
    """Return the panel with the most runs, the first of equal ones; None where nothing was run."""

    def count_runs(panel: Panel) -> int:
        return sum(len(scores) for _, scores in leading_columns(panel))

    return max(filter(Panel.is_filled, table.panels), key=count_runs, default=None)


# The sentences.


def result_sentences(table: Table, config: Config, scores: Scores) -> tuple[str, ...]:
    """Return what came out, in words: which models training made worse, the best run, and how far pre-training is
    ahead of its control."""
    leading_panel = main_panel(table)
    if leading_panel is None:
        return ()
    other_panels = [panel for panel in table.panels if panel is not leading_panel and panel.is_filled()]
    sentences = [
        _setback_sentence([leading_panel, *other_panels], config, scores),
        _best_sentence(leading_panel, config, scores),
        _lead_sentence(leading_panel, config, scores),
    ]
    sentences += [_best_sentence(panel, config, scores) for panel in other_panels[:MAX_OTHER_DATASETS]]
    return tuple(filter(None, sentences))


def _setback_sentence(panels: list[Panel], config: Config, scores: Scores) -> str:
    """Return which models are behind themselves before their training: "Training did not help: on SQuAD 1.1 …"."""
    setbacks = []
    for panel in panels:
        columns = leading_columns(panel)
        ours_by_run = {
            (score.model, score.ours.run.regime): score for _, column in columns for score in column
        }
        for regime, score in ((regime, score) for regime, column in columns for score in column):
            baseline = _training_baseline(config, score, ours_by_run)
            if baseline is None:
                continue
            lead = _lead(score.ours, baseline[0].ours, scores)
            if round(lead.difference, 3) < 0:
                subject = f"on {_dataset_text(panel, score)} {score.label}, {regime}, is"
                text = f"{subject} {_lead_text(lead, baseline[1])} in {score.ours.measure}"
                setbacks.append((lead.difference, text))
    if not setbacks:
        return ""
    texts = [text for _, text in sorted(setbacks)]
    unnamed_count = len(texts[MAX_NAMED_SETBACKS:])
    if unnamed_count:
        ending = "so is one more" if unnamed_count == 1 else f"so are {unnamed_count} more"
        texts = [*texts[:MAX_NAMED_SETBACKS], ending]
    return f"Training did not help: {'; '.join(texts)}."


def _training_baseline(
    config: Config, score: Score, scores: dict[tuple[str, str], Score]
) -> tuple[Score, str] | None:
    """Return the run of a trained model before its last training, and what to call it; None without such a run."""
    regime = score.ours.run.regime
    if regime == FIRST_STAGE:
        return None
    if regime != ZERO_SHOT:
        zero_shot_score = scores.get((score.model, ZERO_SHOT))
        return zero_shot_score and (zero_shot_score, "itself zero-shot")
    name = score.model.partition("@")[0]
    model_config = config.models.get(name)
    if model_config is None or not model_config.tasks:
        return None
    for start in config.with_starts([name])[1:]:
        if config.models[start].tasks and (start, ZERO_SHOT) in scores:
            start_score = scores[start, ZERO_SHOT]
            return start_score, f"{start_score.label}, from which it starts,"
    controls = (
        (other_score, "its control")
        for (model, other_regime), other_score in scores.items()
        if other_regime == ZERO_SHOT
        and config.is_control(model)
        and config.encoder_of(model) == config.encoder_of(name)
    )
    return next(controls, None)


def _dataset_text(panel: Panel, score: Score) -> str:
    """Return "SQuAD 1.1 (150 queries)"; a label may count them itself: "SQuAD 1.1, 2,000 questions"."""
    is_counted = f"{score.ours.sample_size:,} " in panel.title
    return panel.title if is_counted else f"{panel.title} ({count_of(score.ours.sample_size, 'query')})"


def _best_sentence(panel: Panel, config: Config, scores: Scores) -> str:
    """Return "Best on SQuAD 1.1 (150 queries): PROP, fine-tuned, with RR@10 0.847", and its lead with an interval."""
    scores_by_regime = [(regime, score) for regime, column in leading_columns(panel) for score in column]
    regime, best = max(scores_by_regime, key=lambda item: item[1].ours.mean)
    best_text = quoted(best.label) if best.ours.run.regime == FIRST_STAGE else f"{best.label}, {regime}"
    # The mean's own interval stands in the table: beside the difference's it would be taken for the same kind.
    text = (
        f"Best on {_dataset_text(panel, best)}: {best_text}, with {best.ours.measure} {best.ours.mean:z.3f}"
    )
    bm25, bm25_text = _bm25_beside(config, best, [score for _, score in scores_by_regime])
    if bm25 is not None and best.model != bm25.model:
        text += f", {_lead_text(_lead(best.ours, bm25.ours, scores), bm25_text)}"
    return f"{text}."


def _bm25_beside(config: Config, score: Score, column_scores: list[Score]) -> tuple[Score | None, str]:
    """Return the run of BM25 that a run is compared with, tuned as its own first stage is, and what to call it."""
    run = score.ours.run
    stage = score.model if run.regime == FIRST_STAGE else run.candidates.partition("@")[0]
    score_of_model = {column_score.model: column_score for column_score in column_scores}
    bm25_stage = config.bm25_baseline(stage)
    if bm25_stage == BM25:
        return score_of_model.get(BM25), BUILT_IN_LABELS[BM25]
    if bm25_stage in score_of_model:
        return score_of_model[bm25_stage], f"{quoted(score_of_model[bm25_stage].label)}, tuned alike,"
    return score_of_model.get(BM25), f"{BUILT_IN_LABELS[BM25]}, which is not tuned,"


def _lead_sentence(panel: Panel, config: Config, scores: Scores) -> str:
    """Return "Fine-tuned, PROP is 0.068 ahead of its control [0.021, 0.117], one seed; PROP passes BM25 (+0.04 …)."."""
    for regime, column in reversed(leading_columns(panel)):
        control = next((score for score in column if config.is_control(score.model)), None)
        trained = [s for s in column if s.ours.run.regime != FIRST_STAGE and s is not control]
        of_papers = [score for score in trained if score.model.partition("-")[0] in config.report.papers]
        if not trained or control is None:
            continue
        best = max(of_papers or trained, key=lambda score: score.ours.mean)
        lead = _lead(best.ours, control.ours, scores)
        seeds = "one seed" if len(best.ours.seeds) == 1 else f"{len(best.ours.seeds)} seeds"
        text = f"{regime[:1].upper()}{regime[1:]}, {best.label} is {_lead_text(lead, 'its control')}, {seeds}"
        text += "" if _is_shown(lead) else ", so no difference is shown"
        run = control.ours.run
        random_mean = scores.random_order_mean((run.dataset, run.candidates), control.ours.measure)
        if random_mean is not None and control.ours.mean < random_mean:
            text += f"; a random order has {random_mean:.3f}, more than the control"
        bm25, bm25_text = _bm25_beside(config, best, column)
        if bm25 is None:
            return f"{text}."
        lead_over_bm25 = _lead(best.ours, bm25.ours, scores)
        relation = "is not shown to differ from"
        if _is_shown(lead_over_bm25):
            relation = "passes" if lead_over_bm25.difference > 0 else "stays behind"
        difference = comparison_text(lead_over_bm25)
        return f"{text}; {best.label} {relation} {bm25_text.rstrip(',')} ({difference})."
    return ""


def _is_shown(lead: EffectEstimate) -> bool:
    """Whether the interval holds no 0."""
    return lead.low > 0 or lead.high < 0


def _lead(ours: OurValue, baseline: OurValue, scores: Scores) -> EffectEstimate:
    our_results, baseline_results = (scores.get(value.run, value.measure) for value in (ours, baseline))
    assert our_results is not None, "cells are filled with these scores"
    assert baseline_results is not None
    return paired_lead(our_results, baseline_results)


def _lead_text(lead: EffectEstimate, baseline_text: str) -> str:
    relation = "behind" if lead.difference < 0 else "ahead of"
    bounds = bounds_text(lead.low, lead.high) or "(too few queries for an interval)"
    return f"{abs(lead.difference):.3f} {relation} {baseline_text} {bounds}"


# The table: the first measure of every data set and regime, side by side.


def first_table(table: Table) -> Table:
    """Return the headline table with one column for each regime of each data set."""
    panels = [panel for panel in table.panels if panel.is_filled()]
    columns: list[Column] = []
    cells: dict[tuple[str, int], Cell] = {}
    for panel in panels:
        for regime, scores in leading_columns(panel):
            if scores:
                cells |= {(score.model, len(columns)): score.cell for score in scores}
                columns.append(Column(panel.title, f"{regime} {scores[0].cell.measure}"))
    if len({cell.measure for cell in cells.values()}) == 1:  # it stands in the caption
        columns = [Column(column.group, column.label.rpartition(" ")[0]) for column in columns]
    filled_rows = (row for panel in panels for row in panel.rows if row.is_filled())
    rows = {row.key: Row(row.key, row.short_label) for row in filled_rows}
    panel = Panel.of("", rows, dict(enumerate(columns)), lambda *key: cells.get(key, TextCell(sort_text="")))
    return replace(table, panels=(panel,) if rows else ())
