"""Figures over series of models, over few and many queries, and with and without one part."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_run import PHP_YAML, WIKIFORMER_YAML, flat_rows, with_harp, write_results

from irpretrain.config.papers import load_published
from irpretrain.report.drawing import draw_panels
from irpretrain.report.figures import (
    few_shot_curves,
    series_figure,
    series_points,
    with_and_without,
)
from irpretrain.report.scores import Scores

PAIR = ("squad", "bm25")
SERIES = {
    "control": 0.1,
    "wikiformer-srr-100": 0.2,
    "wikiformer-srr-1000": 0.28,
    "wikiformer-srr-100000": 0.4,
}
PHP = {"control": 0.1, "harp": 0.35, "php": 0.4, "php-without-mlm": 0.37, "php-hp-only": 0.3}


def _scores(directory: Path, rows: list[dict]) -> Scores:
    return Scores.read(write_results(directory, rows)[1])


def test_a_series_goes_through_the_numbers_of_its_models(config_of, tmp_path: Path) -> None:
    scores = _scores(tmp_path, flat_rows("squad", SERIES))
    axis = series_figure(load_published(WIKIFORMER_YAML), "figure4", config_of(*SERIES), scores).axes[0]
    series, ql, control = axis.lines[:3]
    assert list(series.get_xdata()) == [0, 1, 2]
    assert list(series.get_ydata()) == pytest.approx([0.2, 0.28, 0.4])
    assert ql.get_ydata()[0] == pytest.approx(0.25)
    assert ql.get_linestyle() == ":"
    assert control.get_ydata()[0] == pytest.approx(0.1)
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["100", "1,000", "100,000"]


def test_a_series_is_called_like_its_model_and_its_regime(config_of, tmp_path: Path) -> None:
    levels = {"control": 0.1, "php": 0.4, "php-negatives-1": 0.3, "php-negatives-7": 0.2}
    config = config_of(*levels)
    scores = _scores(tmp_path, flat_rows("squad", levels, ("full",)))
    figure = series_figure(load_published(PHP_YAML), "figure5a", config, scores)
    (axis,) = figure.axes
    assert axis.get_title() == "SQuAD 1.1, fine-tuned, 20 test queries"
    assert axis.get_legend_handles_labels()[1] == ["PHP, fine-tuned", "control, fresh score head"]


@pytest.mark.parametrize(
    ("paper", "name", "draw", "levels"),
    [
        (WIKIFORMER_YAML, "figure4", series_figure, SERIES),
        (PHP_YAML, "figure4", few_shot_curves, PHP),
        (PHP_YAML, "figure5a", series_figure, {**PHP, "php-negatives-1": 0.3, "php-negatives-7": 0.2}),
        (PHP_YAML, "figure6", with_and_without, PHP),
    ],
)
def test_a_figure_can_be_read_without_the_tables(
    config_of, tmp_path: Path, paper: Path, name: str, draw: Callable[..., Any], levels: dict[str, float]
) -> None:
    """The measure and what its mean divides by, the intervals, what is re-ranked, and what stands in for attention."""
    rows = flat_rows("squad", levels, ("zero-shot", "few-shot-16", "few-shot-32"))
    figure = draw(load_published(paper), name, with_harp(config_of(*levels)), _scores(tmp_path, rows))
    remark = " ".join(figure.get_supxlabel().split())
    assert "RR@10: 1 / rank of the first relevant document" in remark
    assert "Means divide by all judged queries" in remark
    assert "Intervals: 95%. The top 20 of BM25 are re-ranked." in remark
    assert ("QL searches the whole collection" in remark) == (paper is WIKIFORMER_YAML)
    draws_harp = paper is PHP_YAML and draw is not series_figure
    assert ("HARP weighs words and anchors by idf here" in remark) == draws_harp


def test_remarks_take_no_height_from_what_is_drawn() -> None:
    heights = []
    for lines in (1, 8):
        figure = draw_panels("title", [""], lambda axis, panel: None, " ".join(["word " * 20] * lines))
        figure.draw_without_rendering()
        heights.append(figure.axes[0].get_position().height * figure.get_figheight())
    assert heights[1] == pytest.approx(heights[0], rel=0.1)


@pytest.mark.parametrize(
    ("models", "missing"),
    [
        (("php", "prop-wikipedia"), "harp, ict, wlp, control."),
        (("php", "prop"), "harp, prop-wikipedia, ict, wlp, control."),
    ],
)
def test_a_stand_in_for_a_curve_of_the_paper_is_not_missed(
    config_of, tmp_path: Path, models: tuple[str, ...], missing: str
) -> None:
    scores = _scores(tmp_path, flat_rows("squad", dict.fromkeys(models, 0.3), ("few-shot-16",)))
    figure = few_shot_curves(load_published(PHP_YAML), "figure4", config_of(*models), scores)
    assert " ".join(figure.get_supxlabel().split()).endswith(f"Not drawn: {missing}")


def test_snapshots_stand_at_the_pairs_seen_until_then(config_of, tmp_path: Path) -> None:
    config = config_of("wikiformer-srr")
    training = config.training_of("wikiformer-srr")
    early, late = (f"wikiformer-srr@{training.steps // divisor}" for divisor in (4, 2))
    levels = {early: 0.2, late: 0.3, "wikiformer-srr": 0.35, "wikiformer-srr-10": 0.1}
    figure = load_published(WIKIFORMER_YAML).figures["figure4"]
    scores = _scores(tmp_path, flat_rows("squad", levels))
    points = series_points(figure, config, scores, PAIR, "zero-shot")
    steps = (training.steps // 4, training.steps // 2, training.steps)
    assert list(points) == [10, *(step * training.batch_groups for step in steps)]
    models = ["wikiformer-srr-10", early, late, "wikiformer-srr"]
    assert [run.model for run in points.values()] == models


def test_a_model_trained_by_epochs_has_no_number_of_pairs(config_of, tmp_path: Path) -> None:
    config = config_of("wikiformer-srr")
    model = config.models["wikiformer-srr"].model_copy(update={"training": {"epochs": 1}})
    config = config.model_copy(update={"models": {**config.models, "wikiformer-srr": model}})
    scores = _scores(tmp_path, flat_rows("squad", {"wikiformer-srr": 0.35, "wikiformer-srr-100": 0.1}))
    figure = load_published(WIKIFORMER_YAML).figures["figure4"]
    assert list(series_points(figure, config, scores, PAIR, "zero-shot")) == [100]


def test_a_task_s_own_share_of_masked_anchors_counts(config_of, tmp_path: Path) -> None:
    config = config_of("php-anchors")
    tasks = [
        task.model_copy(update={"masking": {"scope": "sequence", "anchor_ratio": 0.35}})
        for task in config.models["php-anchors"].tasks
    ]
    model = config.models["php-anchors"].model_copy(update={"tasks": tasks})
    config = config.model_copy(update={"models": {**config.models, "php-anchors": model}})
    scores = _scores(tmp_path, flat_rows("squad", {"php-anchors": 0.35}))
    figure = load_published(PHP_YAML).figures["figure5b"]
    assert list(series_points(figure, config, scores, PAIR, "zero-shot")) == [35]


def test_both_regimes_of_a_series_have_panels_and_two_models_are_a_series(config_of, tmp_path: Path) -> None:
    levels = {"php-anchors-15": 0.3, "php-anchors-50": 0.4, "php-negatives-4": 0.3}
    scores = _scores(tmp_path, flat_rows("squad", levels, ("zero-shot", "full")))
    paper, config = load_published(PHP_YAML), config_of(*levels)
    fine_tuned, zero_shot = series_figure(paper, "figure5b", config, scores).axes
    assert list(fine_tuned.lines[0].get_ydata()) == pytest.approx([0.5, 0.6])
    assert list(zero_shot.lines[0].get_ydata()) == pytest.approx([0.3, 0.4])
    assert [tick.get_text() for tick in zero_shot.get_xticklabels()] == ["15", "50"]
    assert zero_shot.get_ylabel() == "RR@10"  # the paper's RR@100 was not computed
    assert not series_figure(paper, "figure5a", config, scores).axes[0].lines  # one point is no series


def test_few_and_many_queries_are_evenly_spaced_and_intervals_side_by_side(config_of, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"php": 0.4, "harp": 0.35}, ("few-shot-16", "few-shot-128", "few-shot-64000"))
    scores = _scores(tmp_path, rows)
    (axis,) = few_shot_curves(load_published(PHP_YAML), "figure4", config_of("php", "harp"), scores).axes
    php, harp = axis.lines
    assert [round(x) for x in php.get_xdata()] == [0, 1, 2]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["16", "128", "64,000"]
    assert php.get_xdata()[0] != harp.get_xdata()[0]
    (first, *_), _ = (bars.get_segments() for bars in axis.collections)
    assert first[0][0] == first[1][0] == php.get_xdata()[0]
    assert first[0][1] < php.get_ydata()[0] < first[1][1]


def test_dots_with_and_without_stand_over_the_models_labels(config_of, tmp_path: Path) -> None:
    config = config_of(*PHP)
    models = {name: model for name, model in config.models.items() if name != "php-shp-only"}
    config = config.model_copy(update={"models": models})
    scores = _scores(tmp_path, flat_rows("squad", PHP))
    (axis,) = with_and_without(load_published(PHP_YAML), "figure6", config, scores).axes
    with_mlm, without_mlm, harp = axis.lines
    assert list(with_mlm.get_ydata()) == pytest.approx(
        [0.3, 0.4]
    )  # HP alone and PHP; the others were not run
    assert list(without_mlm.get_ydata()) == pytest.approx([0.37])
    assert [round(x) for line in axis.lines[:2] for x in line.get_xdata()] == [0, 3, 3]
    assert with_mlm.get_linestyle() == "None"
    assert harp.get_ydata()[0] == pytest.approx(0.35)

    hp, mrds, php = (models[name].label for name in ("php-hp-only", "php-mrds-only", "php"))
    labels = [tick.get_text() for tick in axis.get_xticklabels()]
    assert labels == [hp, "php-\nshp-only", mrds, php]
