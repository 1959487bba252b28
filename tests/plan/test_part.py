"""Parts of the configuration, files that it names, and shards of its corpora."""

import pickle

import pytest
import yaml
from small_plan import ROOT, W, plan_of

from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.plan.part import pattern_of, reading_options, without_keys


def test_settings_of_a_section_are_its_plain_values():
    assert plan_of("graph: {threads: 5}").settings("graph", include={"threads"}) == {"threads": 5}
    assert plan_of("axioms: {bm25: {k1: 1.5, b: 0.5}}").settings("axioms.bm25") == {"k1": 1.5, "b": 0.5}


def test_keys_that_decide_nothing_are_given_to_a_job_but_do_not_stand_in_its_text():
    """By the text Snakemake tells whether a job must run again."""
    settings = plan_of("graph: {threads: 5}").settings("graph", include={"threads", "segment_words"})
    assert settings == {"threads": 5, "segment_words": settings["segment_words"]}
    assert repr(settings) == repr({"segment_words": settings["segment_words"]})
    assert type(pickle.loads(pickle.dumps(settings))) is dict
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize(
    "key",
    [
        *(
            f"{section}.{key}"
            for section in ("graph", "axioms", "retrieval")
            for key in ("threads", "memory_mb")
        ),
        "encoder.label",
        "pretraining.log_every",
        "pretraining.compute.checkpoint_minutes",
    ],
)
def test_another_number_of_threads_or_status_lines_runs_no_job_again(key: str) -> None:
    def settings(value: int | str) -> object:
        changes: object = value
        for name in reversed(key.split(".")):
            changes = {name: changes}
        return plan_of(yaml.safe_dump(changes)).settings(key.partition(".")[0])

    first, second = map(settings, ("E1", "E2") if key == "encoder.label" else (300, 600))
    assert first != second
    assert repr(first) == repr(second)


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


@pytest.mark.parametrize(
    ("part", "shards", "several"), [("docs", 2, True), ("docs", 1, False), ("queries", 2, False)]
)
def test_only_documents_of_ir_datasets_are_shared_by_shards(part, shards, several):
    plan = plan_of()
    plan.config.corpora["web"] = plan.config.corpora["web"].model_copy(
        update={"path": "ir_datasets:vaswani", "shards": shards}
    )
    assert plan.several_shards(W(identifier="vaswani", part=part)) is several


def test_files_of_a_collection_keep_the_other_wildcards_of_the_job():
    files = plan_of().of_collection("{collection}/{objective}/{corpus}-{shard}")
    job = W(collection="both", objective="rop", corpus="web", shard="0")
    assert files(job) == ["both/rop/wiki-0", "both/rop/wiki-1", "both/rop/web-0"]


def test_files_of_the_data_set_that_a_job_or_its_entry_names():
    assert plan_of().of_dataset("{dataset}/{corpus}-{shard}")(W(dataset="news")) == ["news/web-0"]
    assert plan_of().file("{dataset}.txt", "experiments")(W(experiment="main")) == "news.txt"
    tuned = plan_of("first_stages: {deep: {tuned_on: news}}")
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
    assert without_keys({"a": 1, "about": 2, "b": {"about": 3, "c": 4}}, {"about"}) == {"a": 1, "b": {"c": 4}}
    assert "entry" not in reading_options(plan_of().config.corpora["web"])


def test_a_constraint_without_names_is_satisfied_by_nothing():
    assert pattern_of(["a", "b"]) == "a|b"
    assert pattern_of([]) == "(?!)"


def test_a_shard_s_inputs_are_the_files_that_it_reads_and_all_names_decide_which(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / f"web/{name}.jsonl").write_text("{}")

    def inputs(shards):
        corpora = plan_of(f"corpora: {{web: {{path: web, shards: {shards}}}}}").corpora
        return [corpora.files(W(corpus="web", shard=str(shard))) for shard in range(shards)]

    every = [f"web/{name}.jsonl" for name in ("a", "b", "c")]
    assert inputs(1) == [every]
    assert inputs(2) == [[every[0], every[2]], [every[1]]]
    assert inputs(4) == [every] * 4  # each reads a share of each file
    names = [plan_of("corpora: {web: {path: web}}").corpora.file_names(W(corpus="web", shard="0"))]
    (tmp_path / "web/b.jsonl").rename(tmp_path / "web/d.jsonl")
    names.append(plan_of("corpora: {web: {path: web}}").corpora.file_names(W(corpus="web", shard="0")))
    assert len(set(names)) == 2


def test_a_file_that_is_not_there_is_reported_with_its_key_and_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = plan_of("encoder: {path: data/bert-base-uncased}")
    with pytest.raises(ConfigError) as caught:
        plan.corpora.files(W(corpus="web", shard="0"))
    assert str(caught.value) == (
        f"corpora.web.path: web.jsonl: there is no such file or folder\n  Paths are relative to {tmp_path}."
    )
    with pytest.raises(ConfigError) as caught:
        plan.encoder_files(W(model="base"))
    first, entry, path, searched, how, _ = str(caught.value).splitlines()
    assert first == "encoder.path: data/bert-base-uncased: there is no such file or folder"
    assert entry.startswith("  bert-base-uncased, from https://")
    assert path == "    data/bert-base-uncased"
    assert searched == f"  Looked for in {tmp_path}/data and {ROOT}/data."
    assert "`make run ARGS=datasets` says" in how


def test_an_encoder_that_is_not_there_is_reported_with_the_command_of_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, reported in (("own/er", "`hf download own/er "), ("er", "named with its owner")):
        with pytest.raises(ConfigError, match=reported):
            plan_of(f"encoder: {{path: {name}}}").encoder_files(W(model="base"))
