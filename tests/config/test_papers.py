"""Which experiments are run for which papers."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from base_config import base_config
from irpretrain.config import load_config, parse_config
from irpretrain.config.experiments import Paper
from irpretrain.config.papers import known_papers, read_paper
from irpretrain.corpora.embedded import read_manifest
from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.plan.whole import Plan

ROOT = Path(__file__).parents[2]
DEFAULT = base_config()

PAPERS = get_args(Paper)


def with_papers(*papers: str, **experiments):
    return parse_config(
        {
            **DEFAULT,
            "report": {"papers": list(papers)},
            "experiments": {**DEFAULT["experiments"], **experiments},
        }
    )


@pytest.mark.parametrize("papers", [(), ("prop",), ("prop", "ares")])
def test_depths_that_no_table_shows_are_refused(papers) -> None:
    deep = {"dataset": "squad", "depths": [5, 10]}
    fault = "experiments.deep.depths: no table of this report shows depths, .* add deepct to report.papers, or leave"
    with pytest.raises(ConfigError, match=fault):
        with_papers(*papers, deep=deep)
    assert "deep" in with_papers(*papers, "deepct", deep=deep).active_experiments
    assert "deep" not in with_papers("prop", "deepct", deep=deep).of_papers(["prop"]).active_experiments
    with pytest.raises(ConfigError, match=r"add deepct to report\.papers and papers, or leave depths out"):
        with_papers("prop", "deepct", deep={**deep, "papers": ["prop"]})


def test_a_paper_needs_its_own_experiments_alone() -> None:
    everything = with_papers(*PAPERS)
    assert list(everything.active_experiments) == list(DEFAULT["experiments"])
    php = everything.of_papers(["php"])
    assert php.report.papers == ["php"]
    assert list(php.active_experiments) == ["zero-shot-php"]
    # The models that PHP's stages start from, and those compared with it.
    assert set(php.used_models) == {"php", "php-shp", "php-hp-only", "control"}
    assert "squad-dev-passages" not in php.used_names("corpora")
    # Narrowed by the function or by the configuration: the same models are needed.
    assert with_papers("php").used_models == php.used_models


def test_an_experiment_without_papers_is_for_all() -> None:
    own = {"dataset": "squad", "models": ["control"], "regimes": ["zero-shot"]}
    for paper in PAPERS:
        assert "own" in with_papers(paper, own=own).active_experiments
    assert "own" in with_papers("php", own={**own, "papers": ["prop", "php"]}).active_experiments
    assert "own" not in with_papers("php", own={**own, "papers": ["prop"]}).active_experiments


def test_an_experiment_that_is_not_run_may_name_what_is_not_there() -> None:
    lost = {"dataset": "squad", "models": ["no-such-model"], "regimes": ["zero-shot"], "papers": ["prop"]}
    assert with_papers("php", lost=lost).experiments["lost"].models == ["no-such-model"]
    with pytest.raises(ConfigError, match=r"experiments\.lost\.models: 'no-such-model' is not in models"):
        with_papers("prop", lost=lost)


def test_an_overlay_on_own_data_has_no_paper_unless_it_names_one() -> None:
    own = load_config(ROOT / "config.yaml", ROOT / "configs/my-collection.yaml")
    assert own.report.papers == []
    assert list(own.active_experiments) == ["mine"]
    plan = Plan(own, read_manifest(ROOT / "resources/embedded.yaml"))
    assert {Path(path).stem for path in plan.targets.all_tables()} == {"headline", "headline.ledger"}


def test_tables_of_predictors_and_axioms_compare_no_runs() -> None:
    papers = map(read_paper, known_papers())
    tables = ((paper, name) for paper in papers for name in paper.table_names())
    others = [(paper.paper, name) for paper, name in tables if not paper.compares_runs(name)]
    assert others == [("ares", "table2"), ("ares", "rank_intervals")]
