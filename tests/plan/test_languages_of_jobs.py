"""The language of texts among the settings of jobs: English is not named, so that the key makes no job anew."""

from small_plan import W, plan_of

from irpretrain.workflow.plan.part import reading_options

CHINESE = "text: {language: chinese}\ncorpora: {wiki: {passage_words: 40}}\nindexes: {rank: {type: textrank}}"


def test_english_is_named_by_no_job() -> None:
    plan = plan_of("corpora: {wiki: {passage_words: 40}}\nindexes: {rank: {type: textrank}}")
    job = W(collection="both", corpus="wiki", shard="0", index="rank")
    assert plan.settings("text").keys() == {"words", "fields", "separator", "max_word_pieces"}
    assert plan.corpora.options(job) == reading_options(plan.config.corpora["wiki"])
    assert plan.corpora.link_options(job) == {
        "segment_words": 128,
        "title_case": "first-letter",
        "mentions": "none",
        "mention_lower": False,
    }
    assert plan.retrieval.query_words(job) == "lucene"
    assert plan.retrieval.query_words(W(index="deepct")) == "alphanumeric"


def test_another_language_is_named_where_it_decides() -> None:
    plan = plan_of(CHINESE)
    job = W(collection="both", corpus="wiki", shard="0", index="rank")
    assert plan.settings("text")["language"] == "chinese"
    assert plan.corpora.options(job)["language"] == "chinese"
    assert "language" not in plan.corpora.options(W(corpus="web", shard="0")), (
        "whole documents have no lengths"
    )
    assert plan.corpora.link_options(job)["language"] == "chinese"
    assert plan.retrieval.query_words(job) == "chinese:alphanumeric"
