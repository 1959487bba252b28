"""Rankings of one table have one depth, and no measure looks deeper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from irpretrain.config import Config, load_config
from irpretrain.config.run import Run
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
MINE = """
inherit: definitions
corpora: {mine: {format: jsonl, path: documents}}
datasets:
  mine:
    corpus: mine
    queries: {path: topics.txt}
    qrels: {path: qrels.txt}
    measures: [nDCG@20, P@20, AP, RR@10]
experiments: {mine: {dataset: mine}}
"""
RERANKED: dict[str, Any] = {"models": ["control"], "regimes": ["zero-shot"]}


def load(folder: Path, **changes: Any) -> Config:
    """The overlay with changes to its data set, to its experiment, and to sections."""
    mine = yaml.safe_load(MINE)
    mine["datasets"]["mine"] |= changes.pop("dataset", {})
    mine["experiments"]["mine"] |= changes.pop("experiment", {})
    (folder / "mine.yaml").write_text(yaml.safe_dump(mine | changes))
    return load_config(ROOT / "config.yaml", folder / "mine.yaml")


def test_deeper_measures_are_refused_where_ten_documents_are_re_ranked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, experiment=RERANKED)
    assert "datasets.mine.measures: nDCG@20, P@20: the cut-off is beyond the 10 documents" in str(
        refused.value
    )
    assert "raise reranking.depth" in str(refused.value)
    load(tmp_path, experiment=RERANKED, reranking={"depth": 20})
    load(tmp_path, experiment=RERANKED, dataset={"measures": ["nDCG@10", "AP"]})
    load(tmp_path)


@pytest.mark.parametrize("measure", ["R@1000", "nDCG@101", "recall_1000", "Success@200", "AP@500"])
def test_a_cut_off_beyond_the_search_is_refused_with_both_keys(tmp_path: Path, measure: str) -> None:
    message = r"datasets\.mine\.measures: .* beyond the 100 documents a query that retrieval\.depth allows"
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, dataset={"measures": [measure]})
    load(tmp_path, dataset={"measures": [measure]}, retrieval={"depth": 1000})


def test_a_data_set_has_a_depth_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, dataset={"depth": 15})
    fault = "nDCG@20, P@20: the cut-off is beyond the 15 documents a query that datasets.mine.depth allows"
    assert fault in str(refused.value)
    load(tmp_path, dataset={"depth": 15, "measures": ["AP", "P@5"]})
    load(tmp_path, dataset={"depth": 1000, "measures": ["R@1000"]})


def test_measures_that_choose_models_look_no_deeper_than_what_is_re_ranked(tmp_path: Path) -> None:
    tuned, epochs = {"models": ["control"], "regimes": ["full"]}, {"epochs": 2}
    with pytest.raises(
        ConfigError, match=r"datasets\.mine\.validation_measure: nDCG@20: .* reranking\.depth"
    ):
        load(tmp_path, experiment=tuned, dataset={"measures": ["RR@10"]}, finetuning=epochs)
    measures = {"measures": ["RR@10"], "validation_measure": "RR@10"}
    load(tmp_path, experiment=tuned, dataset=measures, finetuning=epochs)
    load(tmp_path, experiment=tuned, dataset={"measures": ["RR@10"]})  # one epoch, so none is chosen


def test_rows_that_models_do_not_re_rank_are_scored_as_deep_as_those_that_they_do(tmp_path: Path) -> None:
    config = load(tmp_path, experiment=RERANKED, dataset={"measures": ["AP"]})
    assert config.scoring_depth("mine") == config.reranking_depth("mine") == (10, "reranking.depth")
    assert config.retrieval_depth("mine") == (100, "retrieval.depth")
    row, unreported = Run(config, "mine", "bm25"), Run(config, "mine", "official")
    assert (row.depth, row.seen_depth) == (10, 10), "AP has no cut-off"
    assert (unreported.depth, unreported.seen_depth) == (None, None)
    assert load(tmp_path).scoring_depth("mine") == (100, "retrieval.depth")


def test_a_paper_has_the_depths_that_other_papers_beside_it_set(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        dataset={"measures": ["RR@10"]},
        experiments={
            "mine": {"dataset": "mine", "papers": ["prop"]},
            "beside": {**RERANKED, "dataset": "mine", "papers": ["ares"]},
        },
        report={"papers": ["prop", "ares"]},
    )
    assert (
        config.of_papers(["prop"]).scoring_depth("mine")
        == config.scoring_depth("mine")
        == (10, "reranking.depth")
    )
