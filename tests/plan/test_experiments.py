"""Which runs experiments need, and what is read of data sets for them."""

import pytest
from small_plan import W, plan_of

from irpretrain.foundation.errors import ConfigError

OTHER = """
datasets:
  train: {label: T, corpus: wiki, queries: {format: tsv, path: t.tsv}, qrels: {format: trec, path: t.qrels}}
  news: {train_on: train, folds: 5}
"""
TUNED = """
datasets:
  held: {label: H, corpus: web, queries: {format: tsv, path: h.tsv}, qrels: {format: trec, path: h.qrels}}
first_stages:
  tuned: {label: T, model: ql-jm, tuned_on: held}
"""
ASKED = """  asked: {label: A, corpus: web, queries: {format: entity-questions, path: a},
    qrels: {format: entity-questions, path: a}, measures: [Success@5]}
"""
FOLDS = [f"results/runs/news/bm25/base/full/seed-3/fold-{fold}.run.gz" for fold in (1, 2, 3)]


def test_an_experiment_compares_first_stages_and_each_model_zero_shot_and_by_folds():
    plan = plan_of(
        "datasets: {news: {measures: [RR@7]}}\nexperiments: {main: {models: [base], first_stages: [deep]}}"
    )
    assert plan.experiments.files(W(experiment="main")) == [
        "results/runs/news/bm25/first-stage.run.gz",
        "results/runs/news/ql/first-stage.run.gz",
        "results/runs/news/deep/first-stage.run.gz",
        "results/runs/news/bm25/base/zero-shot/seed-3.run.gz",
        *FOLDS,
    ]


def test_snapshots_are_compared_zero_shot_alone():
    cells = plan_of("experiments: {main: {models: [prop]}}").experiments.cells("main")
    assert [(cell.model, cell.regime) for cell in cells] == [
        ("prop", "zero-shot"),
        ("prop@5", "zero-shot"),
        ("prop", "full"),
    ]


def test_folds_must_have_the_training_queries_of_the_largest_few_shot_regime():
    few_shots = "experiments: {main: {regimes: [few-shot-2, full, few-shot-16, few-shot-8]}}"
    assert plan_of(few_shots).datasets.shots(W(dataset="news")) == (16, 0)
    assert plan_of(OTHER + few_shots).datasets.shots(W(dataset="train")) == (0, 16)


def test_a_data_set_that_trains_on_another_is_tested_whole():
    plan = plan_of(OTHER)
    job = W(dataset="news", candidates="bm25", model="base")
    assert plan.datasets.fold_numbers("news") == [0]
    assert plan.datasets.training_file("{dataset}.txt")(job) == "train.txt"
    assert plan.datasets.training_run(job) == "results/runs/train/bm25/first-stage.run.gz"
    assert plan.datasets.training_documents(job) == ["results/tokens/wiki/0", "results/tokens/wiki/1"]
    assert plan.datasets.test_documents(job) == ["results/tokens/web/0"]
    assert plan.datasets.test_file("{dataset}.{candidates}")(job) == "news.bm25"


def test_under_cross_validation_nothing_else_is_tested():
    job = W(dataset="news", candidates="bm25", model="base")
    assert plan_of().datasets.test_documents(job) == []
    assert plan_of().datasets.test_file("{dataset}")(job) == []


def test_only_what_is_fine_tuned_on_its_own_queries_is_cut_into_folds():
    folds = "results/datasets/news/folds.json"
    assert plan_of().experiments.folds(W(experiment="main")) == folds
    assert plan_of(OTHER).experiments.folds(W(experiment="main")) == []
    few = "datasets: {news: {sample_queries: 1, folds: 5}}\n"
    alone = plan_of(few + "experiments: {main: {regimes: [zero-shot]}}")
    assert alone.experiments.folds(W(experiment="main")) == []
    with pytest.raises(ConfigError, match="1 query cannot be parted"):
        plan_of(few)


def test_an_experiment_waits_for_the_proof_that_its_queries_did_not_train():
    datasets = plan_of(OTHER).datasets
    proofs = ["results/datasets/news/apart-from-train.json"]
    assert datasets.leakage_check(W(experiment="main")) == proofs
    pair = W(dataset="news", used="train")
    assert datasets.keys_of_use(pair) == ["datasets.news.train_on"]
    assert datasets.compared_documents("used")(pair) == [
        "results/corpora/wiki/documents-0.parquet",
        "results/corpora/wiki/documents-1.parquet",
    ]


@pytest.mark.parametrize(
    ("changes", "used"), [(TUNED, "held"), (OTHER + ASKED, "asked")], ids=["one corpus", "by answers"]
)
def test_documents_are_not_compared(changes, used):
    tested = "train" if used == "asked" else "news"
    assert plan_of(changes).datasets.compared_documents("used")(W(dataset=tested, used=used)) == []


def test_what_first_stages_search_and_how_deep():
    plan = plan_of("datasets: {news: {depth: 7, validation_measure: RR@7}}")
    job = W(candidates="deep", dataset="news")
    assert plan.retrieval.index(job) == "results/indexes/web"
    assert plan.retrieval.search_options(job)["depth"] == plan.retrieval.depth(job) == 7
    assert plan.retrieval.search_options(W(candidates="bm25", dataset="news"))["depth"] == 7


@pytest.mark.parametrize(
    ("measure", "depth"),
    [("RR@10", None), ("AP", 90)],
)
def test_a_sweep_depends_on_the_depth_only_where_its_measure_has_no_cutoff(measure, depth):
    plan = plan_of(f"{TUNED}retrieval: {{depth: 90, sweep: {{measure: {measure}}}}}")
    assert plan.retrieval.tuning_search_options(W(candidates="tuned")).get("depth") == depth


def test_a_search_and_a_sweep_depend_on_the_parameters_of_their_own_model():
    retrieval = plan_of(TUNED).retrieval
    models = {"bm25", "query_likelihood", "jelinek_mercer"}
    for stage, own in (("bm25", "bm25"), ("ql", "query_likelihood")):
        assert models & retrieval.search_options(W(candidates=stage, dataset="news")).keys() == {own}
    assert models & retrieval.search_options(W(candidates="tuned", dataset="news")).keys() == {
        "jelinek_mercer"
    }
    assert retrieval.tuning_options(W(candidates="tuned"))["sweep"].keys() == {"measure", "smoothing"}


def test_a_run_of_others_is_refused_for_a_data_set_that_has_none():
    plan = plan_of("first_stages: {others: {label: O, runs: {news: {path: news.run}}}}")
    with pytest.raises(ConfigError, match=r"first_stages\.others has no run for other"):
        plan.retrieval.external_run_files(W(candidates="others", dataset="other"))


def test_a_first_stage_that_ranks_candidates_reads_their_run():
    stages = "first_stages: {bm25-deep: {label: B, candidates: deep}}"
    plan = plan_of(f"{stages}\nexperiments: {{main: {{first_stages: [bm25-deep]}}}}")
    job = W(dataset="news", candidates="bm25-deep")
    assert plan.retrieval.ranked(job) == "results/runs/news/deep/first-stage.run.gz"
    assert plan.retrieval.ranked(W(dataset="news", candidates="deep")) == []
    assert plan.retrieval.index(job) == "results/indexes/web"
    assert plan.config.used_names("first_stages") == ["bm25-deep", "deep"]


def test_runs_of_others_are_requested_for_where_their_candidates_are_ranked():
    stages = "theirs: {label: T, runs: {train: {path: t.run}}}, bm25-theirs: {label: B, candidates: theirs}"
    with pytest.raises(
        ConfigError, match=r"theirs has no run for news; add it as first_stages\.theirs\.runs\.news"
    ):
        plan_of(OTHER + f"first_stages: {{{stages}}}\nexperiments: {{main: {{first_stages: [bm25-theirs]}}}}")
