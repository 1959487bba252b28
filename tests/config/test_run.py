"""What a row of a table reads at most, at each of its stages."""

from pathlib import Path
from typing import Any

from base_config import base_config
from irpretrain.config import Config, load_config
from irpretrain.config.base import deep_merge
from irpretrain.config.load import parse_config
from irpretrain.config.run import Run, weighting_reads

ROOT = Path(__file__).resolve().parents[2]


def changed(**changes: Any) -> Config:
    """The default with changes."""
    return parse_config(deep_merge(load_config(ROOT / "config.yaml").model_dump(), changes))


def reads(config: Config, model: str, regime: str = "zero-shot") -> tuple[str, str, str]:
    run = Run(config, "squad", "bm25", model, regime)
    return run.pretraining_reads, run.finetuning_reads, run.test_reads


LENGTHS = {"max_length": 50, "query_length": 9}
CUT = "cut at 50 word pieces with the query, query at 9"


def test_pre_training_reads_the_units_of_its_collection_for_each_stage_and_task() -> None:
    config = changed(pretraining=LENGTHS)
    assert reads(config, "control")[0] == ""
    assert reads(config, "prop")[0] == f"passages of 40 words {CUT}"
    assert (
        reads(config, "wikiformer")[0]
        == f"documents {CUT} / documents cut at 50 word pieces with the query, query at 30"
    )
    assert reads(config, "php")[0] == "documents cut at 128 word pieces with the query, query at 80", (
        "stages that read the same"
    )
    mixed = changed(pretraining=LENGTHS, collections={"pretraining": ["squad-train", "squad-train-passages"]})
    assert reads(mixed, "prop")[0] == f"documents / passages of 40 words {CUT}"


def test_fine_tuning_has_lengths_of_its_own_which_the_test_takes_over() -> None:
    config = changed(
        reranking={**LENGTHS, "passages": None}, finetuning={"max_length": 80, "query_length": 7}
    )
    tuned = "documents cut at 80 word pieces with the query, query at 7"
    assert reads(config, "control") == ("", "", f"documents {CUT}")
    assert reads(config, "control", "full") == ("", tuned, tuned)


def test_passages_are_read_alike_in_fine_tuning_and_test() -> None:
    passages = {"words": 20, "stride": 10}
    config = changed(reranking={**LENGTHS, "passages": passages}, finetuning=LENGTHS)
    _, tuning, test = reads(config, "prop", "full")
    assert tuning == test == reads(config, "prop")[2]
    assert test == f"passages of 20 words every 10, at most 30 of a document, title in the first alone, {CUT}"


def test_queries_that_choose_an_epoch_do_not_train() -> None:
    """The default fine-tunes on 600 questions in five folds, and tests others; its own queries are cross-validated."""

    def queries(regime: str, dataset: str = "squad", **finetuning: Any) -> str:
        return Run(changed(finetuning=finetuning), dataset, "bm25", "prop", regime).finetuning_queries

    assert queries("zero-shot") == ""
    assert queries("full", epochs=1) == "600"
    assert queries("full", epochs=2) == "480, and 120 choose"
    assert queries("few-shot-50", epochs=1) == "50"
    assert queries("few-shot-50", epochs=2) == "50, and 120 choose"
    assert queries("full", "squad-finetuning", epochs=2) == "360, and 120 choose"


def test_first_stages_read_whole_texts_and_learned_weights_what_their_model_reads() -> None:
    runs = {"others": {"label": "O", "runs": {"squad": {"path": "a.run"}}}}
    weights = {"windows": {"label": "W", "dataset": "squad-train", "max_length": 64, "window_overlap": 8}}
    config = changed(first_stages=runs, term_weights=weights)
    read = {
        stage: Run(config, "squad", stage).test_reads
        for stage in ("bm25", "tf-bm25", "deepct-bm25", "others")
    }
    assert read["bm25"] == read["tf-bm25"] == "whole texts"
    assert read["deepct-bm25"] == "the first 320 word pieces, later words without weight"
    assert read["others"] == "not known"
    assert weighting_reads(config, "windows") == "whole texts, their weights in windows of 64 word pieces"


def test_all_rows_of_a_data_set_are_scored_as_deep_as_those_that_models_re_rank() -> None:
    config = parse_config(base_config())
    assert config.scoring_depth("squad") == config.reranking_depth("squad") == (20, "reranking.depth")
    assert config.retrieval_depth("squad") == (100, "retrieval.depth")
    assert config.scoring_depth("squad-first-stages") == (100, "retrieval.depth")
    runs = [Run(config, dataset, "bm25") for dataset in ("squad", "squad-first-stages")]
    assert [(run.depth, run.measured_depth) for run in runs] == [(20, 20), (100, 100)], "AP has no cut-off"
    unreported = Run(config, "squad", "official")
    assert (unreported.depth, unreported.measured_depth) == (None, None)


def test_a_paper_has_the_depths_that_other_papers_beside_it_set() -> None:
    given = base_config()
    reranked = {"dataset": "squad", "models": ["control"], "regimes": ["zero-shot"]}
    given["experiments"] = {
        "shown": {"dataset": "squad", "papers": ["prop"]},
        "beside": {**reranked, "papers": ["ares"]},
    }
    config = parse_config(given)
    assert config.of_papers(["prop"]).scoring_depth("squad") == (20, "reranking.depth")


def test_a_first_stage_beside_candidates_of_others_is_the_one_that_ranks_them() -> None:
    others = {"label": "O", "runs": {"squad": {"path": "a.run"}}}
    stages = {
        "others": others,
        "unranked": {**others, "label": "U"},
        "bm25-others": {"label": "BM25 of theirs", "candidates": "others"},
        "bm25-ql": {"label": "BM25 of QL's", "candidates": "ql"},
    }
    config = changed(first_stages=stages)
    stages_beside = {
        candidates: Run(config, "squad", candidates, "prop", "zero-shot").stage_beside("bm25")
        for candidates in ("bm25", "ql", "others", "unranked", "absent")
    }
    assert stages_beside == {
        "bm25": "bm25", "ql": "bm25", "others": "bm25-others", "unranked": None, "absent": None,
    }  # fmt: skip
    assert Run(config, "squad", "unranked").stage_beside("unranked") == "unranked"
