"""DeepCT's figure 1: lines go through the shares, a panel a collection, and what is missing is said."""

import json
from pathlib import Path

import pytest
from page_reader import texts_of_svg
from small_run import DEEPCT_YAML

from irpretrain.config import Config
from irpretrain.config.papers import load_published
from irpretrain.foundation.errors import InputError
from irpretrain.report.figures import make_figures, read_distribution, weight_curves
from irpretrain.report.result_files import ResultFiles


def write(path: Path, **shares: list[float | None]) -> Path:
    rows = [
        {"weighting": name, "passages": 2067, "passages_without_terms": 3, "shares": row}
        for name, row in shares.items()
    ]
    path.write_text(json.dumps({"ranks": 10, "weightings": rows}))
    return path


FALLING = [0.4, 0.2, 0.1, *[0.05] * 5, 0.0, 0.0]
FLAT = [0.05] * 10


def test_lines_go_through_the_shares(config: Config, tmp_path: Path) -> None:
    shares = write(tmp_path / "squad-dev.json", tf=FLAT, deepct=FALLING, oracle=[None] * 10)
    [axis] = weight_curves(load_published(DEEPCT_YAML), "figure1", config, [shares]).axes
    assert [list(line.get_xdata()) for line in axis.lines[:2]] == [list(range(1, 11))] * 2
    assert list(axis.lines[1].get_ydata()) == pytest.approx([100 * share for share in FALLING])
    assert len(axis.lines[2].get_xdata()) == 0
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    assert legend[1:] == [
        "DeepCT: 40.0 % on the heaviest, 3 passages without terms",
        "oracle: no passage has a term",
    ]
    assert axis.get_title() == "SQuAD 1.1 dev, 2,067 passages"


def test_the_figure_has_a_title_and_says_what_is_counted(config: Config, tmp_path: Path) -> None:
    files = ResultFiles([], [], distributions=[write(tmp_path / "squad-dev.json", tf=FLAT, deepct=FALLING)])
    assert make_figures(DEEPCT_YAML, config, files, [], tmp_path) == {"figures": 1}
    text = texts_of_svg(tmp_path / "deepct_figure1.svg")
    assert "DeepCT, figure 1: Term weight distribution" in text
    assert "A passage with fewer terms counts 0" in text


@pytest.mark.parametrize("content", ["{", "[]", '{"weightings": [{"weighting": "a"}]}', '{"ranks": 10}'])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "shares.json").write_text(content)
    with pytest.raises(InputError, match="these shares of weights cannot be used"):
        read_distribution(tmp_path / "shares.json")
