"""Importance of axioms."""

from pathlib import Path

import pytest
from axiom_run import AXIOMS, predictor, predictors, with_axioms
from small_run import ARES_YAML

from irpretrain.config import Config
from irpretrain.config.papers import load_published
from irpretrain.report.axiom_results import AxiomResults
from irpretrain.report.figures import importance_bars


@pytest.fixture(scope="module")
def paper():
    return load_published(ARES_YAML)


def _bars(paper, config: Config, files: list[Path]):
    return importance_bars(paper, "figure2", config, AxiomResults.read(files).predictors)


def test_a_panel_for_each_setting_and_a_bar_for_each_axiom(paper, config: Config, tmp_path: Path) -> None:
    figure = _bars(paper, with_axioms(config), predictors(tmp_path)[::-1])
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == [
        f"Setting {setting}, AUC {auc}\nSQuAD 1.1 train"
        for setting, auc in (("I", "0.900"), ("II", "0.850"), ("III", "0.860"), ("IV", "0.800"))
    ]
    axis = figure.axes[0]
    assert [tick.get_text() for tick in axis.get_yticklabels()] == AXIOMS
    assert [bar.get_width() for bar in axis.patches] == [1, 0.5, 0, 0, 0, 0, 0, 0, 0]
    bottom, top = axis.get_ylim()
    assert top < -0.4  # the first bar stands there
    assert bottom > len(AXIOMS) - 0.6  # the bars are whole
    colours = [bar.get_facecolor() for bar in axis.patches]
    assert len(set(colours)) == 5  # RANK, REP, PROX, REG, STM
    assert colours[1] == colours[2]


def test_importance_is_divided_by_the_largest(paper, config: Config, tmp_path: Path) -> None:
    path = predictor(tmp_path, "i", "I", importance={"RANK": 40.0, "REG": 10.0}, axioms=["RANK", "REG"])
    figure = _bars(paper, with_axioms(config), [path])
    axis = figure.axes[0]
    assert [bar.get_width() for bar in axis.patches] == [1, 0.25]
    texts = [text.get_text() for text in axis.texts]
    assert (texts[0], texts[1], texts.count("not a feature")) == ("1.00", "not a feature", 7)
