"""Pages of single queries, the axioms' parts, tasks beside retrieval, and the catalogue."""

from small_plan import W, plan_of

from irpretrain.workflow.plan.part import files_in

PAGES = """
models: {mono: {label: M, cross_encoder: "embedded:minilm"}}
attributions: {words: {dataset: news, query: q1, document: d1, models: [prop], seed: 3}}
"""


def test_a_page_of_attributions_reads_the_runs_in_which_its_document_has_a_rank():
    page = plan_of(PAGES).attributions
    run = "results/runs/news/bm25/prop/zero-shot/seed-3.run.gz"
    assert files_in(page.shown_models, "run")(W(page="words")) == [run]
    assert page.model_files_of_page(W(page="words")) == ["results/models/pretrained/prop/seed-3"]
    [model] = page.shown_models(W(page="words"))
    assert (model["label"], model["run"]) == ("PROP", run)


def test_the_report_makes_no_page_of_models_that_its_experiments_do_not_rank_with():
    assert plan_of(PAGES).shown.attributions == ["results/attributions/words.json"]
    assert plan_of(PAGES.replace("[prop]", "[base, prop]")).shown.attributions != []
    assert plan_of(PAGES.replace("seed: 3", "seed: 4")).shown.attributions == []
    assert plan_of(PAGES.replace("[prop]", "[prop, mono]")).shown.attributions == []


def test_an_objective_reads_what_it_needs_and_nothing_else():
    corpora = plan_of("objectives: {links: {type: srr}}").corpora
    job = W(collection="both", objective="rop", corpus="web", shard="0")
    assert corpora.if_needed("statistics", "results/{collection}.words")(job) == "results/both.words"
    assert corpora.if_needed("graph", "results/{collection}.graph")(job) == []
    assert corpora.predictor(job) == []
    assert corpora.axiom_settings(job) == {}


def test_shards_of_a_collection_are_counted_in_its_order():
    assert plan_of().corpora.shard_counts(W(collection="both")) == [["wiki", 2], ["web", 1]]


def test_titles_are_looked_for_where_mentions_are_titles():
    job = W(collection="both", corpus="web", shard="0")
    assert plan_of("graph: {mentions: titles}").corpora.titled_documents(job)[0] == (
        "results/corpora/wiki/documents-0.parquet"
    )
    assert plan_of("graph: {mentions: none}").corpora.titled_documents(job) == []


def test_a_temperature_is_found_where_the_configuration_gives_none():
    job = W(collection="both")
    found = plan_of("pseudo_queries: {temperature: calibrated}").axioms.calibrated_temperature(job)
    assert found == "results/pseudo_queries/both/temperature.json"
    assert plan_of("pseudo_queries: {temperature: 0.5}").axioms.calibrated_temperature(job) == []


def test_files_from_the_catalogue_wait_for_their_verification():
    plan = plan_of()
    assert plan.soundness("corpora")(W(corpus="web")) == ["results/catalogue/robust04.sound.json"]
    assert plan.soundness("corpora")(W(corpus="wiki")) == []


def test_of_the_catalogue_only_what_is_there_has_a_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = plan_of("data_folder: elsewhere")
    assert plan.catalogue.present() == []
    path = next(iter(plan.catalogue.entries["robust04"].files))
    (tmp_path / "elsewhere" / path).parent.mkdir(parents=True)
    (tmp_path / "elsewhere" / path).write_text("")
    assert plan.catalogue.present() == ["robust04"]
    assert plan.catalogue.reports() == ["results/catalogue/robust04.json"]


TASK = """
downstream_tasks:
  spans: {label: S, questions: {train: {format: squad, path: "embedded:squad-train"},
          development: {format: squad, path: dev.json}}}
downstream: {answers: {tasks: [spans], models: [base, prop], seeds: [1]}}
"""


def test_a_task_is_fine_tuned_for_with_each_model_and_seed():
    downstream, job = plan_of(TASK).downstream, W(experiment="answers")
    assert files_in(downstream.runs, "path")(job) == [
        f"results/downstream/predictions/spans/{model}/seed-1.json" for model in ("base", "prop")
    ]
    assert files_in(downstream.tasks, "examples")(job) == ["results/downstream/examples/spans.parquet"]
    assert downstream.tables(W()) == ["results/downstream/answers.md"]


def test_the_name_in_tables_does_not_decide_the_examples_of_a_task():
    assert plan_of(TASK).downstream.data(W(task="spans"))["label"] == "spans"


def test_the_name_of_an_entry_of_downstream_is_one_of_an_experiment():
    assert (
        list(plan_of(TASK).targets.faults("results/downstream/answers.md", {"experiment": "answers"})) == []
    )


def test_a_predictor_reads_the_pseudo_queries_of_its_documents_or_of_its_judged_queries():
    section = "predictors: {simple: {label: I, collection: both, dataset: news%s}}"
    job = W(predictor="simple")
    assert plan_of(section % "").axioms.negatives(job) == ["results/axioms/both/web-0.parquet"]
    equal = plan_of(section % ", negative_terms: equal").axioms.negatives(job)
    assert equal == ["results/judged/both/news/all-terms-negatives-axioms.parquet"]
