"""Which experiments are run for which papers."""

from pathlib import Path
from typing import get_args

from base_config import base_config
from irpretrain.config import load_config, parse_config
from irpretrain.config.experiments import Paper
from irpretrain.config.papers import known_papers, read_paper
from irpretrain.corpora.embedded import read_manifest
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


def test_an_experiment_at_depths_is_run_for_the_paper_whose_table_shows_them() -> None:
    config = with_papers("prop", "deepct", deep={"dataset": "squad", "depths": [5, 10]})
    assert "deep" in config.active_experiments
    assert "deep" not in config.of_papers(["prop"]).active_experiments


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
