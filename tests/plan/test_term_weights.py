"""DeepCT: which models weigh words, and what the indexes over these weights read."""

import pytest
from small_plan import W, plan_of

from irpretrain.workflow.plan.part import files_in

DEEPCT = """
term_weights:
  deepct: {label: D, dataset: news}
  root: {label: R, same_as: deepct, square_root: true}
  vectors: {label: V, model: word-vectors, dataset: news, collection: both}
  tf-words: {label: T, model: tf}
  queries: {label: Q, kind: queries, dataset: news}
datasets:
  held: {label: H, corpus: wiki, queries: {format: tsv, path: h.tsv}, qrels: {format: trec, path: h.qrels}}
weight_distributions: {shares: {label: S, corpora: [wiki], weightings: [deepct]}}
"""


def test_a_weighting_that_is_the_same_as_another_is_not_learned_again():
    weights = plan_of(DEEPCT).term_weights
    assert weights.learned("passages", "regressor") == ["deepct"]
    assert weights.learned(None, "regressor") == ["deepct", "queries"]
    assert weights.indexed() == ["deepct", "root", "vectors"]
    assert weights.counted() == ["tf", "tf-words"]
    job = W(weighting="root", corpus="wiki", shard="1")
    assert weights.predicted(job) == "results/term_weights/deepct/weights/wiki-1.parquet"


def test_passages_are_weighed_by_the_model_of_all_queries():
    assert plan_of(DEEPCT).term_weights.model_of_all(W(weighting="deepct")) == [
        "results/term_weights/deepct/model-0"
    ]


def test_queries_of_the_data_set_that_teaches_are_weighed_by_models_of_their_folds():
    weights = plan_of(DEEPCT).term_weights
    own = W(weighting="queries", dataset="news")
    assert weights.models_of_folds(own) == [
        f"results/term_weights/queries/model-{fold}" for fold in (1, 2, 3)
    ]
    assert weights.weighed_folds(own) == "results/datasets/news/folds.json"
    other = W(weighting="queries", dataset="held")
    assert weights.models_of_folds(other) == ["results/term_weights/queries/model-0"]
    assert weights.weighed_folds(other) == []


def test_only_a_model_of_some_folds_reads_folds():
    weights = plan_of(DEEPCT).term_weights
    assert weights.folds(W(weighting="queries", fold="0")) == []
    assert weights.folds(W(weighting="queries", fold="2")) == "results/datasets/news/folds.json"


def test_only_a_regression_over_word_vectors_reads_these():
    from irpretrain.workflow.plan import paths

    vectors = plan_of(DEEPCT).term_weights.if_model("word-vectors", paths.VECTORS)
    assert vectors(W(weighting="vectors")) == "results/vectors/both"
    assert vectors(W(weighting="deepct")) == []


def test_what_a_distribution_shows():
    views = plan_of(DEEPCT).weight_views
    files = ["results/term_vectors/deepct/wiki-0.parquet", "results/term_vectors/deepct/wiki-1.parquet"]
    assert views.shown(W(distribution="shares")) == {"deepct": files}
    assert files_in(views.shown)(W(distribution="shares")) == files


@pytest.mark.parametrize(
    ("index", "path"),
    [("tf", "results/indexes/web"), ("deepct", "results/weighted_indexes/deepct/web")],
    ids=["tf", "weights"],
)
def test_where_the_index_lies_that_a_data_set_is_searched_in(index, path):
    assert plan_of(DEEPCT).retrieval.index_of(index, "news") == path
