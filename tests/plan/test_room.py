"""Parts of the configuration, files that it names, and shards of its corpora."""

from __future__ import annotations

import pytest
from small_plan import W, plan_of

from irpretrain.plan.room import described, one_of, without


def test_settings_of_a_section_are_its_plain_values():
    assert plan_of("graph: {threads: 5}").settings("graph", include={"threads"}) == {"threads": 5}
    assert plan_of("axioms: {bm25: {k1: 1.5, b: 0.5}}").settings("axioms.bm25") == {"k1": 1.5, "b": 0.5}


def test_settings_of_a_section_with_entries_are_those_of_the_entry_that_the_job_names():
    label = plan_of().settings("models.label")
    assert label(W(model="prop")) == "PROP"
    assert label(W(model="base", seed="3")) == "Base"
    tasks = plan_of().settings("models.tasks")
    assert [task["objective"] for task in tasks(W(model="prop"))] == ["rop"]


def test_an_entry_that_the_configuration_does_not_name_is_a_key_error():
    with pytest.raises(KeyError, match="nope"):
        plan_of().settings("models.label")(W(model="nope"))


def test_a_file_of_each_shard_of_corpora_in_their_order():
    assert plan_of().each_shard("{collection}/{corpus}-{shard}", ["web", "wiki"], collection="c") == [
        "c/web-0",
        "c/wiki-0",
        "c/wiki-1",
    ]


def test_files_of_a_collection_keep_the_other_wildcards_of_the_job():
    files = plan_of().of_collection("{collection}/{objective}/{corpus}-{shard}")
    job = W(collection="both", objective="rop", corpus="web", shard="0")
    assert files(job) == ["both/rop/wiki-0", "both/rop/wiki-1", "both/rop/web-0"]


def test_files_of_the_data_set_that_a_job_or_its_entry_names():
    assert plan_of().of_dataset("{dataset}/{corpus}-{shard}")(W(dataset="news")) == ["news/web-0"]
    assert plan_of().file("{dataset}.txt", "experiments")(W(experiment="main")) == "news.txt"
    tuned = plan_of("first_stages: {deep: {depth: null, tuned_on: news}}")
    assert tuned.file("{dataset}.txt", "first_stages", dataset="tuned_on")(W(candidates="deep")) == "news.txt"


def test_a_path_takes_keys_of_the_entry_then_wildcards_of_the_job_then_names_of_the_entry():
    file = plan_of().file("{candidates}/{model}/{dataset}", "experiments", model="seeds")
    assert file(W(experiment="main", model="prop", dataset="other")) == "bm25/[3]/other"


def test_a_path_with_a_key_that_is_null_is_nothing():
    assert plan_of().file("{collection}", "models")(W(model="base")) == []


def test_an_embedded_asset_is_read_from_its_verified_copy_and_other_files_where_they_are():
    assert plan_of().source("embedded:minilm") == "results/inputs/minilm"
    assert plan_of().source("data/mine") == "data/mine"


def test_what_does_not_decide_a_reading_is_left_out_at_any_depth():
    assert without({"a": 1, "about": 2, "b": {"about": 3, "c": 4}}, {"about"}) == {"a": 1, "b": {"c": 4}}
    assert "entry" not in described(plan_of().config.corpora["web"])


def test_a_constraint_without_names_is_satisfied_by_nothing():
    assert one_of(["a", "b"]) == "a|b"
    assert one_of([]) == "(?!)"
