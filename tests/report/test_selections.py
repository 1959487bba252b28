"""The report shows which snapshot became a model, and how the others scored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small_run import PROP_YAML
from test_html import MANIFEST, choose, selecting_models, sidecars

from irpretrain.config import Config
from irpretrain.errors import InputError
from irpretrain.report.figures import make_figures
from irpretrain.report.html import write_report
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.run_views import selections


@pytest.fixture
def selecting(config_of) -> Config:
    """Two models that are chosen on training questions."""
    config = config_of()
    models = selecting_models(config, "prop-rop", "prop-random")
    return config.model_copy(update={"models": models})


def test_every_choice_is_listed_with_its_candidates(selecting: Config, tmp_path: Path) -> None:
    files = [
        choose(tmp_path, *given) for given in (("prop-rop", 2), ("prop-rop", 10), ("prop-random", 1, 40))
    ]
    found = selections(selecting, files, tmp_path / "results")
    assert [(model.split()[0], seed, chosen) for model, seed, _, _, chosen, _ in found] == [
        ("w/", 2, 100),
        ("w/", 10, 100),
        ("random", 1, 40),
    ]
    assert {row[2:4] for row in found} == {("SQuAD 1.1 train, 1,500 queries", "RR@10")}
    assert found[0][-1] == "40: 0.250, 100: 0.412, 160: 0.400"


def test_a_missing_file_is_named(selecting: Config, tmp_path: Path) -> None:
    files = [choose(tmp_path, "prop-rop")]
    with pytest.raises(
        InputError, match=r"elsewhere/metrics/selected/prop-rop/seed-1\.json: there is no such file"
    ):
        selections(selecting, files, tmp_path / "elsewhere")


def test_the_report_shows_them(selecting: Config, results, tmp_path: Path) -> None:
    make_figures(PROP_YAML, selecting, ResultFiles(*results), [], tmp_path / "results" / "figures")
    pages = []
    for name in ("without", "with"):
        trainings = [choose(tmp_path, "prop-rop")] if name == "with" else []
        sidecars(tmp_path, str(results[1][0]), ("results/models/selected/prop-rop/seed-1",))
        page = tmp_path / f"{name}.html"
        write_report(
            selecting,
            [PROP_YAML],
            ResultFiles(*results, trainings=trainings),
            tmp_path / "results",
            MANIFEST,
            page,
        )
        pages.append(page.read_text(encoding="utf-8"))
    without, page = pages
    assert "Chosen checkpoints" not in without
    [section] = re.findall(r'<details id="selections">.*?</details>', page, re.DOTALL)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section))
    for wanted in ("SQuAD 1.1 train, 1,500 queries", "RR@10", "40: 0.250, 100: 0.412, 160: 0.400"):
        assert wanted in text, wanted
