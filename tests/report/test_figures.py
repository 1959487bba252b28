import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from page_reader import texts_of_svg
from small_run import PROP_YAML, flat_rows, write_results

from base_config import base_config
from irpretrain.config import Config, parse_config
from irpretrain.config.papers import figure_names, known_papers, load_published
from irpretrain.foundation.errors import InputError
from irpretrain.report.drawing import ScoreFigure, short_label, training_remark
from irpretrain.report.figures import binned, few_shot_curves, loss_curves, make_figures, step_curves
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Scores


def metrics(directory: Path, model: str, seed: int = 1, ranking: bool = True) -> Path:
    """Forty steps of a loss that falls from 1."""
    path = directory / "metrics" / model / f"seed-{seed}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    tasks = [
        {"rop": {"ranking_loss": math.exp(-s / 20) if ranking else None, "mlm_loss": 2.0}}
        for s in range(1, 41)
    ]
    path.write_text("".join(json.dumps({"step": s, "tasks": t}) + "\n" for s, t in enumerate(tasks, 1)))
    return path


@pytest.fixture(scope="module")
def made(config: Config, results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("figures")
    for run in ("one", "two"):
        files = [metrics(base, "prop-rop"), metrics(base, "prop-rop", 2), metrics(base, "prop-random")]
        made = make_figures(PROP_YAML, config, ResultFiles(*results), files, base / run)
        assert made == {"figures": 3}
    return base / "one", base / "two"


def test_every_figure_as_svg_and_png_with_the_same_bytes_twice(made) -> None:
    one, two = made
    assert sorted(p.name for p in one.iterdir()) == sorted(
        f"{n}.{s}" for n in figure_names(["prop"]) for s in ("svg", "png")
    )
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()
        assert b"<dc:date>" not in path.read_bytes()


@pytest.mark.parametrize("label", ["a $\\foo{$", "$x^2$", "\\$1 and $2"])
def test_a_dollar_in_a_label_is_a_dollar(config: Config, results, tmp_path: Path, label: str) -> None:
    models = {name: model.model_copy(update={"label": label}) for name, model in config.models.items()}
    datasets = {name: entry.model_copy(update={"label": label}) for name, entry in config.datasets.items()}
    named = config.model_copy(update={"models": models, "datasets": datasets})
    make_figures(PROP_YAML, named, ResultFiles(*results), [metrics(tmp_path, "prop-rop")], tmp_path / "out")
    assert label in texts_of_svg(tmp_path / "out" / "prop_figure2.svg")


def test_what_the_figures_say(made) -> None:
    directory = made[0]
    assert "sampling from the document language model (prop-rop)" in texts_of_svg(
        directory / "prop_figure1a.svg"
    )
    curve = texts_of_svg(directory / "prop_figure1b.svg")
    assert "zero-shot, on SQuAD 1.1" in curve
    assert "Zero-shot, not fine-tuned as in the paper." in curve
    assert "Not drawn: prop-random." in curve
    assert "20 test queries" in curve
    few = texts_of_svg(directory / "prop_figure2.svg")
    assert "control, fresh score head, fine-tuned on all queries" in few
    assert "BM25" in few


def test_lines_go_through_the_numbers(config: Config, results) -> None:
    paper, scores = load_published(PROP_YAML), Scores.read(results[1])
    axis = few_shot_curves(paper, "figure2", config, scores).axes[0]
    solid, fine_tuned, bm25 = axis.lines[:3]
    assert list(solid.get_xdata()) == [0, 1, 2, 3, 4]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["0", "10", "30", "50", "70"]
    assert list(solid.get_ydata()) == pytest.approx([0.5, 0.51, 0.53, 0.55, 0.57])
    assert (fine_tuned.get_ydata()[0], bm25.get_ydata()[0]) == pytest.approx((0.4, 0.6))
    assert fine_tuned.get_linestyle() == ":"
    axis = step_curves(paper, "figure1b", config, scores).axes[0]
    assert list(axis.lines[0].get_xdata()) == [25, 50, 75, config.training_of("prop-rop").steps]
    assert list(axis.lines[0].get_ydata()) == pytest.approx(
        [0.45 * (0.5 + s / 400) for s in (25, 50, 75, 200)]
    )
    assert axis.lines[1].get_ydata()[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("select_on", "levels"),
    [(None, {}), ({"dataset": "squad-train"}, {"prop-rop": 0.5})],
    ids=["not run", "a snapshot was chosen"],
)
def test_snapshots_without_a_run_of_the_last_step(
    tmp_path: Path, select_on: dict[str, str] | None, levels: dict[str, float]
) -> None:
    given = base_config()
    given["models"]["prop-rop"]["select_on"] = select_on
    rows = flat_rows("squad", {"prop-rop@75": 0.4, "prop-rop@25": 0.3, **levels}, ("zero-shot",))
    scores = Scores.read(write_results(tmp_path, rows)[1])
    axis = step_curves(load_published(PROP_YAML), "figure1b", parse_config(given), scores).axes[0]
    assert axis.lines[0].get_xdata().tolist() == [25, 75]


def test_the_loss_is_the_mean_over_seeds(config: Config, tmp_path: Path) -> None:
    files = [metrics(tmp_path, "prop-rop"), metrics(tmp_path, "prop-rop", 2)]
    axis = loss_curves(load_published(PROP_YAML), "figure1a", config, files).axes[0]
    x, y = axis.lines[0].get_data()
    assert len(x) == 10
    assert x[0] == 2.5  # steps 1 to 4
    assert y[0] == pytest.approx(np.mean([math.exp(-s / 20) for s in (1, 2, 3, 4)]))
    assert len(axis.lines) == 1


def test_the_axis_names_the_loss_of_the_models_that_are_drawn(tmp_path: Path) -> None:
    given = base_config()
    given["models"]["prop-rop"]["training"] = {"loss": "listwise"}
    figure = loss_curves(
        load_published(PROP_YAML), "figure1a", parse_config(given), [metrics(tmp_path, "prop-rop")]
    )
    assert figure.axes[0].get_ylabel() == "ROP loss (listwise)"


REASONS = {
    "prop_figure1a": "no experiment pre-trains prop-rop or prop-random with a ranking loss",
    "prop_figure1b": "no model that is run zero-shot keeps snapshots",
    "prop_figure2": "no experiment fine-tunes prop in a few-shot regime",
    "wikiformer_figure4": "no experiment runs 2 or more models wikiformer-srr-<number>, or wikiformer-srr with "
    "snapshots, zero-shot (the overlays configs/wikiformer-*.yaml do)",
    "php_figure4": "no experiment fine-tunes php in a few-shot regime (the overlays configs/php-*.yaml do)",
    "php_figure5a": "no experiment runs 2 or more models php-negatives-<number> fine-tuned or zero-shot",
    "php_figure5b": "no experiment runs 2 or more models php-anchors-<number> fine-tuned or zero-shot",
    "php_figure6": "no experiment runs a model such as php-hp-only-without-mlm",
    "ares_figure2": "this configuration has no preference predictors (section predictors)",
    "ares_figure3": "no experiment fine-tunes ares-simple in a few-shot regime",
    "deepct_figure1": "the configuration names no collection under weight_distributions",
}


def test_a_figure_without_data_says_why(config: Config, tmp_path: Path) -> None:
    """As of all papers, where one model was run zero-shot, and a training had no ranking loss."""
    files = ResultFiles(*write_results(tmp_path, flat_rows("squad", {"control": 0.1})))
    losses = [metrics(tmp_path, "prop-rop", ranking=False)]
    figures = tmp_path / "figures"
    for paper in known_papers():
        counts = make_figures(PROP_YAML.with_name(f"{paper}.yaml"), config, files, losses, figures)
        assert counts == {"figures": len(figure_names([paper]))}
    texts = {path.stem: texts_of_svg(path) for path in figures.glob("*.svg")}
    assert set(REASONS) == set(figure_names(known_papers())) == texts.keys()
    assert {name for name, reason in REASONS.items() if f"No data: {reason}" not in texts[name]} == set()


def test_broken_metrics_are_named(config: Config, tmp_path: Path) -> None:
    path = metrics(tmp_path, "prop-rop")
    path.write_text(path.read_text() + '{"step": 41}\n')
    with pytest.raises(InputError, match=r"seed-1\.jsonl: these are not metrics of a training"):
        loss_curves(load_published(PROP_YAML), "figure1a", config, [path])


def test_bins_of_long_curves() -> None:
    x, y = binned(np.arange(1, 100_001, dtype=float), np.ones(100_000))
    assert (len(x), x[0], set(y)) == (100, 500.5, {1.0})
    short = np.array([3.0, 2, 1])
    assert list(binned(np.array([1.0, 2, 3]), short)[1]) == [3.0, 2, 1]


def test_a_remark_says_what_models_were_trained_on(config: Config) -> None:
    corpora, encoder = "enwiki-excerpt + squad-train-passages", "MiniLM-L6-H384, first 4 layers"
    for models, remark in {
        ("control", "prop"): f"Pre-trained on {corpora}; encoder {encoder}.",
        ("control",): f"Encoder {encoder}, not pre-trained further.",
    }.items():
        assert training_remark(config, models) == remark


def test_a_legend_names_the_key_of_a_model_where_its_label_does_not(config: Config) -> None:
    model = config.models["prop"].model_copy(update={"label": "PROP"})
    config = config.model_copy(update={"models": {"prop": model, "prop-web": model}})
    assert [short_label(config, name) for name in ("prop", "prop-web", "bm25", "unknown")] == [
        "PROP",
        "PROP (prop-web)",
        "BM25",
        "unknown",
    ]


@pytest.mark.parametrize(
    ("printed", "plotted"), [("AP", "AP"), ("nDCG@20", "nDCG@10"), ("RR@10", "AP"), ("nDCG@10", "nDCG@10")]
)
def test_a_figure_has_the_paper_s_measure_or_that_at_another_cut_off(printed: str, plotted: str) -> None:
    figure: Any = SimpleNamespace(measures={"robust04": printed}, measure="")
    scores: Any = SimpleNamespace(measures=lambda dataset: ["AP", "nDCG@10"])
    nothing: Any = None
    assert ScoreFigure(nothing, figure, nothing, scores).measure("robust04") == plotted
