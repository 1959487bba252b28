"""Every row of ARES's, Wikiformer's and PHP's tables and every part of their figures is filled by some overlay.

The report finds models by name, so a misspelt name would leave a hole. Tables and figures are made here by the
report's own code from scores as if each overlay had been run.
"""

import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from overlay_layers import load, load_all, made_scores, runs

from irpretrain.config import Config
from irpretrain.config.labels import BUILT_IN_LABELS, regime_label
from irpretrain.config.papers import Published, PublishedRow, load_published
from irpretrain.report.drawing import short_label
from irpretrain.report.figures import (
    SUFFIXES,
    few_shot_curves,
    series_figure,
    series_points,
    with_and_without,
)
from irpretrain.report.paper_table import recipe_differences
from irpretrain.report.scores import Scores
from irpretrain.report.tables import build_table
from overlay_commands import OVERLAYS, ROOT

PAPERS = {
    paper: load_published(ROOT / f"resources/published/{paper}.yaml")
    for paper in ("ares", "wikiformer", "php")
}
PROP = load_published(ROOT / "resources/published/prop.yaml")
OTHERS = {
    "ares-confident",
    "bfs",
    "duet-v2",
    "linkbert",
    "php-rop",
    "wikiformer-rwi",
    "wikiformer-ati",
    "wikiformer-ltm",
    "wikiformer-titles",
    "wikiformer-with-mlm",
}
"""Models that these overlays compare and no table or figure of the papers has; the headline table shows them."""
MOST_REASONS = 12
"""Reasons for the cells of the paper's data sets that can still be looked up by their letters."""
FEWEST = 3
"""Points that show a shape."""
TABLES = [(paper, table) for paper, published in PAPERS.items() for table in published.tables]
SERIES = [
    (paper, figure)
    for paper, published in PAPERS.items()
    for figure, data in published.figures.items()
    if "series" in data.models
]


@cache
def evaluated() -> dict[str, tuple[Config, Scores]]:
    """The overlays of all three papers at each scale, as if run; few draws, as no value matters."""
    found = {}
    for scale in ("ablations", "paper"):
        with TemporaryDirectory() as folder:
            config = load_all(scale, Path(folder))
        found[scale] = (config, made_scores(config))
    return found


def of_paper(paper: str) -> list[tuple[Config, Scores]]:
    found = [pair for pair in evaluated().values() if paper in pair[0].report.papers]
    assert found
    return found


def filled(published: Published, table: str) -> set[tuple[str, str]]:
    """The (row, regime) of a table that hold a number of ours in some overlay's table."""
    found = set()
    for config, scores in of_paper(published.paper):
        for panel in build_table(published, table, config, scores).panels:
            found |= {(cell.row, cell.regime) for row in panel.rows for cell in row.cells if cell.ours}
    return found


def wanted(row: PublishedRow) -> set[tuple[str, str]]:
    """The (row, regime) that a row should have; a first stage counts in every regime."""
    return {(row.key, regime) for regime in row.regimes if not row.is_first_stage}


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_every_row_of_a_table_is_filled(paper, table):
    published = PAPERS[paper]
    here = filled(published, table)
    empty = set()
    for row in published.tables[table].rows:
        if row.models:
            empty |= wanted(row) - here
            if row.is_first_stage and row.key not in {key for key, _ in here}:
                empty.add((row.key, row.regimes[0]))
    assert empty == set()


@pytest.mark.parametrize(("paper", "table", "overlay"), [
    ("ares", "table4", "ares-paper"), ("ares", "table5", "ares-paper"), ("ares", "table6", "ares-paper"),
    ("wikiformer", "table2", "wikiformer-paper"), ("wikiformer", "table3", "wikiformer-paper"),
    ("wikiformer", "table4", "legal-paper"), ("php", "table3", "php-paper"),
])  # fmt: skip
def test_first_stages_rank_the_candidates_of_every_column(paper, table, overlay):
    """BM25 and QL of a column re-rank its candidates, where a file of candidates is given."""
    config = load(ROOT / f"configs/{overlay}.yaml")
    panel = build_table(PAPERS[paper], table, config, made_scores(config)).panels[0]
    cells = [cell for row in panel.rows if row.key in ("bm25", "ql") for cell in row.cells]
    assert len(cells) == sum(
        len(row.values) for row in PAPERS[paper].tables[table].rows if row.key in ("bm25", "ql")
    )
    for cell in cells:
        assert cell.ours is not None, (cell.row, cell.dataset, cell.candidates, cell.note)
        stage = cell.ours.run.model
        # LETOR's order of MQ2007's candidates is its BM25's.
        if cell.candidates != "bm25" and stage != "given":
            assert stage == f"{cell.row}-{cell.candidates}"
            assert config.first_stages[stage].candidates == cell.candidates
            assert config.first_stages[stage].model == cell.row


def borrowed_from_another(paper: str, absent: str) -> bool:
    """Whether the reason for a row names the overlays of another paper."""
    return bool(re.search(rf"configs/(?!{paper}-)", absent))


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_few_and_true_reasons_stand_for_what_was_not_run(paper, table):
    for config, scores in of_paper(paper):
        theirs = build_table(PAPERS[paper], table, config, scores).panels[0]
        absent = [cell for row in theirs.rows for cell in row.cells if cell.ours is None]
        reasons = {cell.note for cell in absent}
        # The models are run there, on other candidates; baselines of another paper only on that paper's data sets.
        borrowed = {
            row.key for row in PAPERS[paper].tables[table].rows if borrowed_from_another(paper, row.absent)
        }
        own = {cell.note for cell in absent if cell.row not in borrowed}
        assert not any("no experiment" in reason for reason in own)
        assert len(reasons) <= MOST_REASONS


@pytest.mark.parametrize("paper", PAPERS)
def test_reasons_name_overlays_that_have_what_is_missing(paper):
    configs = {path.name: load(path) for path in OVERLAYS}
    named = 0
    for table in PAPERS[paper].tables.values():
        for row in table.rows:
            for pattern in re.findall(r"configs/(\S+\.yaml)", row.absent):
                found = [config for name, config in configs.items() if fnmatch(name, pattern)]
                assert len(found) == 2
                assert all(set(row.models) <= set(config.models) for config in found)
                named += 1
    assert named
    for dataset in PAPERS[paper].datasets.values():
        for name in re.findall(r"configs/(\S+\.yaml) reads", dataset.absent):
            assert dataset in [
                d for key, d in PAPERS[paper].datasets.items() if key in configs[name].datasets
            ]
    for figure in PAPERS[paper].figures.values():
        assert len([name for name in configs if fnmatch(f"configs/{name}", figure.overlays)]) == 2


def labels_of(figure) -> set[str]:
    """The labels of all legends of a figure."""
    return {label for axis in figure.axes for label in axis.get_legend_handles_labels()[1]}


@pytest.mark.parametrize(("paper", "figure"), SERIES)
def test_every_series_has_a_shape_and_its_levels(paper, figure):
    data, regimes, levels = PAPERS[paper].figures[figure], set(), set()
    for config, scores in of_paper(paper):
        for pair in scores.pairs():
            for regime in data.regimes:
                if len(series_points(data, config, scores, pair, regime)) >= FEWEST:
                    regimes.add(regime)
        labels = labels_of(series_figure(PAPERS[paper], figure, config, scores))
        levels |= {model for model in data.models["levels"] if short_label(config, model) in labels}
    assert regimes == set(data.regimes)
    assert levels == set(data.models["levels"])


def test_few_and_many_queries_are_drawn_for_every_curve():
    published = PAPERS["php"]
    curves = published.figures["figure4"].models["curves"]
    scales: dict[str, set[bool]] = {}
    for config, scores in of_paper("php"):
        for axis in few_shot_curves(published, "figure4", config, scores).axes:
            ticks = [int(tick.get_text().replace(",", "")) for tick in axis.get_xticklabels()]
            for line in axis.lines:
                many = {ticks[round(x)] >= 1000 for x in line.get_xdata()}
                for model in curves:
                    if short_label(config, model) == line.get_label():
                        scales.setdefault(model, set()).update(many)
    # On the embedded data PROP stands for PROP (Wiki), and there are not a thousand queries.
    assert scales == {model: {False} if model == "prop" else {False, True} for model in curves}


def test_every_dot_is_drawn_in_both_regimes():
    published = PAPERS["php"]
    data = published.figures["figure6"]
    complete, levels = set(), set()
    for config, scores in of_paper("php"):
        figure = with_and_without(published, "figure6", config, scores)
        labels = labels_of(figure)
        levels |= {model for model in data.models["levels"] if short_label(config, model) in labels}
        for axis in figure.axes:
            if [len(line.get_xdata()) for line in axis.lines[:2]] == 2 * [len(data.models["curves"])]:
                complete |= {
                    regime for regime in data.regimes if f", {regime_label(regime)}," in axis.get_title()
                }
    assert complete == set(data.regimes)
    assert levels == set(data.models["levels"])


def names_in_paper(published: Published) -> str:
    """A pattern of all names of models that a paper's tables and figures look for."""
    names = {
        model for table in published.tables.values() for row in table.rows for model in row.all_models
    } - set(BUILT_IN_LABELS)
    for figure in published.figures.values():
        for kind, models in figure.models.items():
            names |= set(models) - set(BUILT_IN_LABELS)
            if kind == "series":
                names |= {rf"{model}-[0-9]+" for model in models}
            if figure.drawn == "with-and-without" and kind == "curves":
                names |= {model + suffix for model in models for suffix in SUFFIXES.values()}
    return "|".join(sorted(names))


def test_every_model_that_is_run_has_a_position():
    """A name that no table or figure looks for is a misspelt one, unless declared above."""
    known = "|".join(names_in_paper(published) for published in (*PAPERS.values(), PROP))
    run = {
        model
        for config, _ in evaluated().values()
        for experiment in config.active_experiments.values()
        for model in experiment.models
    }
    assert {model for model in run if not re.fullmatch(known, model)} == OTHERS


@pytest.mark.parametrize(
    "overlay", [path for path in OVERLAYS if path.stem.endswith("paper")], ids=lambda path: path.stem
)
def test_at_the_papers_scale_all_candidates_are_re_ranked(overlay):
    """The embedded default re-ranks few; what a paper's overlay does not set is inherited."""
    config = load(overlay)
    assert config.reranking.depth is None or config.reranking.depth >= config.retrieval.depth


@pytest.mark.parametrize(
    ("paper", "over", "last"),
    [
        pytest.param("prop", (), {}, id="prop"),
        pytest.param("ares", (), {}, id="ares"),
        pytest.param("php", (), {}, id="php"),
        pytest.param("wikiformer", (), {}, id="wikiformer"),
        pytest.param("wikiformer", ("legal",), {}, id="legal cases"),
        # As the first lines of configs/wikiformer-paper.yaml say.
        pytest.param(
            "wikiformer",
            ("php",),
            {"report": {"papers": ["wikiformer", "php"]}, "finetuning": {"recipe": "wikiformer"}},
            id="wikiformer with HARP",
        ),
    ],
)
def test_a_paper_s_own_overlay_is_its_recipe_key_by_key(paper, over, last, tmp_path):
    (tmp_path / "last.yaml").write_text(yaml.safe_dump(last))
    more = [ROOT / f"configs/{name}-paper.yaml" for name in over]
    config = load(ROOT / f"configs/{paper}-paper.yaml", *more, tmp_path / "last.yaml")
    compared = {run.model for run in runs(config) if run.regime != "first-stage"}
    assert {
        model: found for model in compared if (found := recipe_differences(config, paper, model, "full"))
    } == {}


def test_all_papers_at_once_compare_numbers_of_ares_and_zero_shot_ones_of_equal_lengths():
    config = load(ROOT / "configs/paper.yaml")
    fine_tuned = {
        paper
        for paper in ("prop", "ares", "wikiformer", "php")
        if not recipe_differences(config, paper, "ict", "full")
    }
    zero_shot = {
        p
        for p in ("prop", "ares", "wikiformer", "php")
        if not recipe_differences(config, p, "ict", "zero-shot")
    }
    assert (fine_tuned, zero_shot) == ({"ares"}, {"prop", "ares", "php"})


def test_figure_3_of_ares_has_the_data_sets_that_the_paper_plots():
    """TREC-COVID, Robust04, MQ2007, TREC DL 2019 and MS MARCO, both models from no query on."""
    config = load(ROOT / "configs/ares-paper.yaml")
    figure = few_shot_curves(PAPERS["ares"], "figure3", config, made_scores(config))
    curves = {axis.get_title().split(",")[0]: axis for axis in figure.axes}
    assert len(curves) == 5
    measures = {name: axis.get_ylabel() for name, axis in curves.items()}
    assert measures["Robust04"] == "nDCG@20"
    assert {measure for name, measure in measures.items() if name != "Robust04"} == {"nDCG@10", "RR@10"}
    for axis in figure.axes:
        labels = axis.get_legend_handles_labels()[1]
        assert labels[:2] == [short_label(config, "ares-simple"), short_label(config, "prop-msmarco")]
        assert len(labels) == 3  # and what is re-ranked
        assert len(axis.lines[0].get_ydata()) == 5
