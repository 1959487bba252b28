"""What reports show, and what targets make."""

import pytest
from small_plan import W, plan_of

from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.costs.estimate import costs_text
from irpretrain.workflow.plan.preparation import Prepared
from irpretrain.workflow.screen.closing import closing_text


def test_a_report_shows_the_experiments_and_trainings_of_its_papers():
    plan = plan_of(
        "experiments: {main: {papers: [prop]}, other: {dataset: news, models: [base], papers: [php]}}"
    )
    displayed = plan.shown_by("prop")
    assert displayed.scores == ["results/scores/main.csv"]
    assert displayed.metrics == ["results/metrics/pretrained/prop/seed-3.jsonl"]
    assert plan.shown_by("php").scores == ["results/scores/other.csv"]
    assert plan.shown_by("php").metrics == []
    assert plan.shown_by("prop", "php").claims == ["results/claims/prop.csv", "results/claims/php.csv"]


FURTHER = """
models: {further: {label: Further, collection: both, start: prop, tasks: [{objective: rop}]}}
experiments: {main: {models: [base, further]}}
"""


def test_a_report_shows_the_probes_of_what_models_start_from():
    displayed = plan_of(FURTHER).shown
    folder = "results/metrics/pretrained"
    assert displayed.metrics == [f"{folder}/further/seed-3.jsonl"]
    assert displayed.probes == [f"{folder}/{model}/seed-3.probe.csv" for model in ("prop", "further")]


WEIGHTINGS = """
term_weights:
  deepct: {label: D, dataset: held}
  longer: {label: L, dataset: held, max_length: 256}
  pairs: {label: P, dataset: held, labels: {rows: per-pair}}
  oracle: {label: O, model: oracle, dataset: held}
datasets:
  held: {label: H, corpus: wiki, queries: {format: tsv, path: h.tsv}, qrels: {format: trec, path: h.qrels}}
first_stages:
  deep: {index: deepct}
  longer-bm25: {label: L, model: bm25, index: longer}
  pairs-bm25: {label: P, model: bm25, index: pairs}
  oracle-bm25: {label: O, model: bm25, index: oracle}
experiments:
  main: {papers: [prop], first_stages: [deep, longer-bm25, pairs-bm25, oracle-bm25]}
  other: {dataset: news, models: [base], regimes: [zero-shot], papers: [php]}
"""


def test_a_report_has_an_example_of_each_objective_and_of_each_kind_of_targets():
    displayed = plan_of(f"{WEIGHTINGS}report: {{papers: [prop, php]}}")
    examples = [f"results/examples/{name}.json" for name in ("both/rop", "deepct", "pairs")]
    assert displayed.shown_by("prop").examples == examples
    assert displayed.shown_by("php").examples == []


def test_every_trained_model_is_exported_those_that_others_start_from_too():
    assert plan_of(FURTHER).exports.models(W()) == [
        f"results/exported/{model}/seed-3" for model in ("prop", "further")
    ]


def test_a_model_with_the_head_of_cedr_knrm_is_not_exported():
    cedr = "{label: CEDR, collection: both, tasks: [{objective: rop}], training: {head: cedr-knrm}}"
    further = "{label: Further, collection: both, start: cedr, tasks: [{objective: rop}]}"
    plan = plan_of(
        f"models: {{cedr: {cedr}, further: {further}}}\nexperiments: {{main: {{models: [prop, cedr, further]}}}}"
    )
    assert plan.exports.models(W()) == ["results/exported/prop/seed-3"]


def test_experiments_at_several_depths_have_no_scores_of_their_own():
    changes = "experiments: {main: {depths: [5, 10], regimes: [zero-shot]}}\nreport: {papers: [deepct]}"
    assert plan_of(changes).shown.scores == []
    assert plan_of(changes).shown.depths == ["results/depths/main.parquet"]
    assert plan_of(changes).shown_by("prop").depths == [], "PROP has no table of depths"


def test_tables_and_figures_are_written_in_every_format():
    assert plan_of().shown.tables[:3] == [
        f"results/tables/prop_headline.{kind}" for kind in ("md", "csv", "tex")
    ]
    assert plan_of().shown.figures[:2] == [f"results/figures/prop_figure1a.{kind}" for kind in ("svg", "png")]
    assert plan_of().targets.overview_tables[0] == "results/tables/headline.md"


def test_the_target_of_a_paper_makes_its_report_and_is_refused_where_it_is_left_out():
    assert plan_of().paper_results("prop")(W())[0] == "results/reports/prop.html"
    with pytest.raises(ConfigError, match=r"report\.papers of the configuration does not name php"):
        plan_of().paper_results("php")(W())


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda plan: plan.targets.pages("attributions"), "no page of attributions .* under attributions"),
        (
            lambda plan: plan.targets.pages("term_weight_pages"),
            "no page of term weights .* under term_weight_pages",
        ),
        (lambda plan: plan.downstream.tables, "runs no downstream task"),
    ],
    ids=["attributions", "term_weight_pages", "downstream"],
)
def test_a_target_of_which_nothing_is_requested_says_where_to_add_it(target, message):
    with pytest.raises(ConfigError, match=message):
        target(plan_of())(W())


def test_a_configuration_that_asks_for_nothing_is_reported_so():
    empty = plan_of()
    empty.config.experiments.clear()
    with pytest.raises(ConfigError, match="has nothing for a report to show"):
        empty.targets.all_tables()


VIEWS = """
diagnoses: {x: {collection: both, models: [prop]}}
weight_distributions: {y: {label: Y, corpora: [wiki], weightings: [tf]}}
"""
HIDDEN = [
    "Not in the report: diagnoses.x. Add ares to report.papers.",
    "Not in the report: weight_distributions.y. Add deepct to report.papers.",
]


def test_what_no_paper_of_the_report_shows_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = plan_of(VIEWS)
    closing = closing_text(plan, {}, ["all"], 0)
    planned = costs_text(Prepared(plan.config, plan.manifest, {}, as_if_there=False), [])
    for line in HIDDEN:
        assert f"\n{line}\n" in closing
        assert f"{line}\n" in planned
    plan.config.experiments.clear()
    with pytest.raises(
        ConfigError, match=r"has nothing for a report to show(.|\n)*Not in the report: diagnoses"
    ):
        plan.targets.all_tables()
    displayed = plan_of(VIEWS + "report: {papers: [ares, deepct]}")
    assert "Not in the report" not in closing_text(displayed, {}, ["all"], 0)


def test_a_target_with_an_unknown_name_gets_the_names_that_are_near():
    targets = plan_of().targets
    assert list(targets.faults("results/x", {"model": "prop", "seed": "3"})) == []
    [fault] = targets.faults("results/x", {"model": "porp"})
    assert fault.startswith("results/x: 'porp' is not in models of this configuration")
    assert "prop" in fault


def test_a_target_of_an_experiment_that_is_left_out_says_why():
    targets = plan_of("absent: {robust: {dataset: news, candidates: bm25, reason: no a.csv}}").targets
    faults = [*targets.faults("x", {"experiment": "robust"}), *targets.faults("x", {"model": "robust"})]
    assert faults[0] == "x: experiment robust is left out: no a.csv"
    assert faults[1].startswith("x: 'robust' is not in models")


STAGES = """
models:
  first: {label: A, collection: both, tasks: [{objective: hp}]}
  second: {label: B, start: first, collection: both, tasks: [{objective: rop}]}
graph: {segment_words: 20}
objectives: {hp: {type: hp, negatives: 1, segments_per_document: 2, positives_per_segment: 2}}
"""
"""A model that starts from another."""


def test_the_card_of_a_model_of_stages_names_each():
    plan = plan_of(STAGES)
    job = W(model="second", seed="3")
    first, last = plan.exports.card(job)["stages"]
    assert (first["model"], first["tasks"][0]["objective"], last["model"]) == ("first", "hp", "second")
    assert first.keys() == last.keys() == {"model", "tasks", "training"}
    trained = [f"results/models/pretrained/{model}/seed-3" for model in ("first", "second")]
    assert plan.exports.trained(job) == trained
    probes = [f"results/metrics/pretrained/{model}/seed-3.probe.csv" for model in ("first", "second")]
    assert plan.exports.probes(job) == probes


def test_an_encoder_of_the_catalogue_is_known_by_its_name_on_the_hub():
    plan = plan_of("{encoder: {path: data/bert-base-uncased}}")
    card = plan.exports.card(W(model="prop", seed="3"))
    assert card["encoder"] == ["E", "Apache-2.0.", "google-bert/bert-base-uncased"]


def test_the_card_of_a_german_model_says_that_its_encoder_is_english_and_which_stop_words_count():
    german = "{encoder: {path: 'embedded:minilm'}, text: {language: german}}"
    caveat = plan_of(german).exports.card(W(model="prop", seed="3"))["encoder_caveat"]
    assert "was trained on English texts, and text.language is german" in caveat
    assert caveat.endswith("it is the one of `text.language: german`.")
    english = plan_of("{encoder: {path: 'embedded:minilm'}}").exports.card(W(model="prop", seed="3"))
    assert "text.language" not in english["encoder_caveat"]


def test_an_export_is_made_again_where_its_scores_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan, job = plan_of(), W(model="prop", seed="3")
    [experiment] = (
        name for name in plan.shown.scored_experiments if "prop" in plan.config.experiments[name].models
    )
    assert plan.exports.scores(job) == {}
    path = tmp_path / "results/scores" / f"{experiment}.csv"
    path.parent.mkdir(parents=True)
    hashes = set()
    for text in ("1", "2"):
        path.write_text(text)
        hashes |= set(plan.exports.scores(job).values())
    assert len(hashes) == 2


def test_an_exported_model_has_a_card_with_the_licences_of_what_it_read():
    plan = plan_of()
    assert plan.exports.models(W()) == ["results/exported/prop/seed-3"]
    card = plan.exports.card(W(model="prop", seed="3"))
    assert [corpus for corpus, *_ in card["corpora"]] == ["wiki", "web"]
    assert card["encoder"] == ["E", "not known here: the user's own files", ""]
    assert len(card["papers"]) == 1
