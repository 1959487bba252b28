"""The line under a table on what its rows differ in, and the ledger beside it."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter
from small_run import DEEPCT_YAML, PROP_YAML, QUERIES, flat_rows, rows_of, write_results

from irpretrain.config import Config, load_config
from irpretrain.config.base import deep_merge
from irpretrain.config.corpora import CorpusText
from irpretrain.config.experiments import ModelConfig, SelectionConfig
from irpretrain.config.finetuning import NeuralConfig
from irpretrain.config.objectives import read_options
from irpretrain.config.papers import load_published
from irpretrain.config.retrieval import FirstStageConfig, IndexConfig, PassagesConfig
from irpretrain.config.run import Run, weighting_facts
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.evaluation.claims import read_claims
from irpretrain.evaluation.ledger import (
    COLUMNS,
    FACT_LABELS,
    LONGEST_LINE,
    OPTION_LABELS,
    RunFacts,
    differences_text,
    parameters_text,
    reading_notes,
    shorten,
    teaching_text,
)
from irpretrain.evaluation.runs import ListSizes
from irpretrain.foundation.errors import IntegrityError
from irpretrain.report.claim_answers import answer, claims_tables, write_answers
from irpretrain.report.claim_tests import ClaimTester
from irpretrain.report.remarks import measures_text, weight_notes
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Results, RunName, Scores
from irpretrain.report.tables import build_headline, make_tables
from like_with_like import unlike

ROOT = Path(__file__).parents[2]
COUNTS = {
    "prop": {"steps": 200, "groups": {"rop": 3200}, "tokens": 380000},
    "ares-simple": {"steps": 200, "groups": {"ares": 3200}, "tokens": 380000},
    "wikiformer": {
        "steps": 100,
        "groups": dict.fromkeys(("srr", "rwi", "ati", "ltm"), 800),
        "tokens": 900000,
    },
}


@pytest.fixture(scope="module")
def default() -> Config:
    return load_config(ROOT / "config.yaml")


@pytest.fixture
def trainings(tmp_path: Path) -> list[Path]:
    """Sidecars of three pre-trainings."""
    files = []
    for model, counts in COUNTS.items():
        path = tmp_path / model / "seed-1.meta.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"counts": {**counts, "documents": 10, "text_pieces": 99}}))
        files.append(path)
    return files


def scores_of(folder: Path, trainings: list[Path], seeds: tuple[int, ...] = (1,)) -> Scores:
    rows = [row for row in rows_of("squad", seeds, ("control", "prop")) if "few" not in row["regime"]]
    others = [{**row, "model": model} for row in rows for model in COUNTS if row["model"] == "prop" != model]
    _, per_query = write_results(folder, [*rows, *others])
    return Scores.read(per_query, trainings)


def test_the_line_says_what_rows_differ_in(default: Config, trainings: list[Path], tmp_path: Path) -> None:
    *read, parameters, taught, line = build_headline(default, scores_of(tmp_path, trainings)).notes[:6]
    with_query = "word pieces with the query, query at"
    title = "at most 30 of a document, title in the first alone,"
    passages = f"passages of 40 words every 40, {title} cut at 96 {with_query} 32"
    cut = f"documents cut at 64 {with_query}"
    assert read == [
        f"Read in test: {passages} (PROP, control, ARES_simple, Wikiformer), whole texts (BM25, QL).",
        "Read in fine-tuning and the test after it: as zero-shot (PROP, control, ARES_simple, Wikiformer).",
        f"Read in pre-training: passages of 40 words cut at 64 {with_query} 16 (PROP, ARES_simple), "
        f"{cut} 16 / {cut} 30 (Wikiformer).",
    ]
    assert parameters == "Parameters: k1 0.9, b 0.4, not tuned (BM25), μ 1000, not tuned (QL)."
    assert taught == (
        "Taught by judged queries: ARES_simple's predictor, which labels its pre-training pairs (SQuAD 1.1 train, "
        "10,000 questions); PROP, control, ARES_simple, Wikiformer when fine-tuned (SQuAD 1.1 train, 600 questions: "
        "600); others by none."
    )
    assert line == (
        "Not equal between rows: score head: fresh (PROP, control, Wikiformer), pooler kept (ARES_simple); groups "
        "read: 3,200 (PROP, ARES_simple), 800 in each of 4 tasks (Wikiformer); word pieces read: 380,000 (PROP, "
        "ARES_simple), 900,000 (Wikiformer); steps of pre-training: 200 (PROP, ARES_simple), 100 (Wikiformer); "
        "options of pre-training; headline.ledger.csv has the rest."
    )


def test_a_note_on_some_measures_or_objectives_is_there_once(default: Config) -> None:
    measures = [["AP"], ["AP", "RR@10", "RR@5"], ["RR"]]
    assert [measures_text(names).count("The mean of RR is MRR.") for names in measures] == [0, 1, 1]
    rop, rqp = default.objectives["rop"], read_options("rqp", {"type": "rqp"})
    assert [len(weight_notes(options)) for options in ([rop], [rop, rqp], [rqp, rqp])] == [0, 1, 1]


def test_where_nothing_is_taught_no_note_names_teachers(default: Config) -> None:
    untaught, taught = (Run(default, "squad", "bm25", "control", r).facts for r in ("zero-shot", "full"))
    assert teaching_text(default, [untaught]) == ""
    assert "none" not in teaching_text(default, [taught])
    assert teaching_text(default, [untaught, taught]).endswith("; others by none.")


def test_a_note_says_what_fine_tuned_rows_read_where_zero_shot_ones_read_less(default: Config) -> None:
    reranking = default.reranking.model_copy(update={"passages": None, "max_length": 24, "query_length": 8})
    config = default.model_copy(update={"reranking": reranking})
    rows = [Run(config, "squad", "bm25", "control", regime).facts for regime in ("zero-shot", "full")]
    cut = "documents cut at {} word pieces with the query, query at {} (control)"
    assert reading_notes(config, rows) == [
        f"Read in test: {cut.format(24, 8)}.",
        f"Read in fine-tuning and the test after it: {cut.format(96, 32)}.",
    ]
    assert reading_notes(config, rows[1:]) == [
        f"Read in fine-tuning and the test after it: {cut.format(96, 32)}."
    ]


def ledger_rows(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The lines of a ledger by model and regime."""
    with open(path, newline="") as file:
        return {(row["model"], row["regime"]): row for row in csv.DictReader(file)}


def test_the_ledger_beside_a_table_has_a_line_for_each_run(
    default: Config, trainings: list[Path], tmp_path: Path
) -> None:
    scores, per_query = write_results(tmp_path, rows_of("squad", models=("control", "prop")))
    sidecar = {"inputs": {"results/runs/squad/bm25/first-stage.run.gz": "abc"}}
    (tmp_path / "per_query.parquet.meta.json").write_text(json.dumps(sidecar))
    files = ResultFiles(scores, per_query, trainings=trainings)
    make_tables(PROP_YAML, default, files, tmp_path / "tables")
    rows = ledger_rows(tmp_path / "tables/prop_headline.ledger.csv")
    assert {model.partition("-")[0] for model, _ in rows} == {"bm25", "ql", "control", "prop"}
    prop, bm25 = rows["prop", "zero-shot"], rows["bm25", "first-stage"]
    assert (prop["groups"], prop["word_pieces"], prop["seeds"]) == ("rop 3200", "380000", "1")
    assert prop["lists"] == bm25["lists"] == "abc"
    assert prop["queries"] == bm25["queries"]
    assert bm25["depth"] == prop["depth"] == "10"
    text = (tmp_path / "tables/prop_headline.md").read_text()
    assert "Not equal between rows: " not in text, "they differ in nothing but the experiment"


def test_the_line_and_the_ledger_have_the_depth_that_is_found_not_the_planned_one(
    default: Config, tmp_path: Path
) -> None:
    scores, per_query = write_results(tmp_path, rows_of("squad", models=("control", "prop")))
    sizes = {"bm25": (20, 10, 200), "ql": (19, 7, 133), "control": (20, 10, 200), "prop": (20, 10, 199)}
    lists = [
        {"dataset": "squad", "candidates": candidates, "model": model, "regime": regime, "seed": seed}
        | ListSizes(*sizes[model])._asdict()
        for model, regime, seed, candidates in (
            *((name, "first-stage", 0, name) for name in ("bm25", "ql")),
            *((name, regime, 1, "bm25") for name in ("control", "prop") for regime in ("zero-shot", "full")),
        )
    ]
    (tmp_path / "per_query.parquet.meta.json").write_text(json.dumps({"counts": {"lists": lists}}))
    files = ResultFiles(scores, per_query)
    make_tables(PROP_YAML, default, files, tmp_path / "tables")
    text = (tmp_path / "tables/prop_headline.md").read_text()
    assert (
        "Not equal between rows: documents scored per query, at most: 10 (PROP, BM25, control), 7 (QL); queries with "
        "a list: 20 (PROP, BM25, control), 19 (QL); documents scored in all: 199 (PROP), 200 (control)."
    ) in text
    ql = ledger_rows(tmp_path / "tables/prop_headline.ledger.csv")["ql", "first-stage"]
    assert [ql[name] for name in ("depth", "seen", "answered", "scored")] == ["7", "7", "19", "133"]
    runs = [RunName("squad", name, name, "first-stage") for name in ("bm25", "ql")]
    assert "seen" in unlike(files.read().facts_of(default, run) for run in runs)


def test_a_snapshot_has_read_as_far_as_its_step(
    default: Config, trainings: list[Path], tmp_path: Path
) -> None:
    """One that is chosen has its model's name, any other has its step in the name."""
    chosen = tmp_path / "selected/prop/seed-1.meta.json"
    chosen.parent.mkdir(parents=True)
    chosen.write_text(json.dumps({"counts": {"chosen_step": 60}}))
    named = RunName("squad", "bm25", "prop@60", "zero-shot")
    found = {(named, "RR@10"): Results((1,), ("q1",), np.ones((1, 1)))}
    for run, scores in (
        (RunName("squad", "bm25", "prop", "zero-shot"), scores_of(tmp_path, [chosen, *trainings])),
        (named, Scores(found, scores_of(tmp_path, trainings).job_counts)),
    ):
        facts = scores.facts_of(default, run)
        assert (facts.steps, facts.groups, facts.word_pieces, facts.documents) == (60, (), None, 10)


def test_a_ledger_has_no_baseline_that_was_not_run(default: Config, tmp_path: Path) -> None:
    files = ResultFiles(*write_results(tmp_path, rows_of("squad", models=("prop",))))
    make_tables(PROP_YAML, default, files, tmp_path / "tables")
    ledgers = map(ledger_rows, (tmp_path / "tables").glob("*.ledger.csv"))
    assert {model for ledger in ledgers for model, _ in ledger} == {"bm25", "ql", "prop"}


def test_a_claim_says_what_its_sides_differ_in(
    default: Config, trainings: list[Path], tmp_path: Path
) -> None:
    claims = read_claims("wikiformer")
    rows = {row.claim: row for row in answer(claims, ClaimTester(scores_of(tmp_path, trainings), default))}
    assert rows["zero-shot-better-than-encoder"].differs == ""
    difference = rows["zero-shot-better-than-prop"].differs
    assert [text.partition(": ")[0] for text in difference.split("; ")] == [
        "read in pre-training", "groups read", "word pieces read", "steps of pre-training", "options of pre-training",
    ]  # fmt: skip
    assert "; word pieces read: 900,000 (Wikiformer), 380,000 (PROP); " in difference
    assert difference.endswith("optimiser.weight_decay, optimiser.clip, loss, mlm_weight")
    write_answers(rows.values(), tmp_path / "claims.csv")
    published = load_published(PROP_YAML.with_name("wikiformer.yaml"))
    (table,) = claims_tables(published, default, [tmp_path / "claims.csv"])
    sides = "Wikiformer, zero-shot – PROP, zero-shot; Wikiformer, fine-tuned – PROP, fine-tuned"
    assert table.notes[0] == f"Not equal in {sides}: {difference}."


@pytest.mark.parametrize("excess", [0, 1])
def test_a_longer_line_names_the_longest_differences_in_short_and_then_fewer(excess: int) -> None:
    ending = "; headline.ledger.csv has the rest"
    whole, shortened = "x" * (LONGEST_LINE + excess), "y" * (LONGEST_LINE - len(ending) + excess)
    assert shorten([(whole, "texts")], ending) == (f"texts{ending}" if excess else whole)
    assert shorten([(whole + "x", shortened)], ending) == ("" if excess else shortened) + ending
    differences = [("steps: 200", "steps"), (whole + "x", shortened[len("steps: 200; ") :])]
    start = "steps" if excess else "steps: 200"
    assert shorten(differences, ending) == f"{start}; {differences[1][1]}{ending}"
    assert shorten([("steps", "steps"), (whole, whole)], ending) == f"steps{ending}"


NAMES = ("dataset", "model", "regime")
SUMS_AND_PARTS = {"seen": "depth", "tested_texts": "texts"}
"""Facts that differ only where another one does, or have a part of their own in the line."""


def test_the_line_names_every_fact_of_the_ledger(default: Config) -> None:
    assert set(COLUMNS) - FACT_LABELS.keys() - OPTION_LABELS.keys() == {*NAMES, *SUMS_AND_PARTS}
    rows = [
        RunFacts("squad", "bm25", model, "full", documents=size, text_pieces=9 * size, queries=f"{size} (a)")
        for model, size in (("prop", 5), ("ares-simple", 6))
    ]
    assert differences_text(default, [rows]) == (
        "queries: 5 (a) (PROP), 6 (a) (ARES_simple); documents of pre-training: 5 (PROP), 6 (ARES_simple)"
    )
    stages = (("bm25", 10), ("ql", 20))
    rows = [RunFacts("squad", name, "prop", "full", lists=name, depth=depth) for name, depth in stages]
    assert differences_text(default, [rows]) == (
        "candidates: bm25 (PROP on SQuAD 1.1), ql (PROP on SQuAD 1.1); "
        "documents scored per query, at most: 10 (PROP on SQuAD 1.1), 20 (PROP on SQuAD 1.1)"
    )


def test_distinct_groups_are_named_where_a_row_reads_groups_again(default: Config) -> None:
    prop, shorter, repeating = (
        RunFacts("squad", "bm25", model, "zero-shot", groups=groups, distinct_groups=distinct_groups)
        for model, groups, distinct_groups in (
            ("prop", (("rop", 3200),), 3200),
            ("ares-simple", (("ares-simple", 800),), 800),
            ("wikiformer", (("srr", 1600), ("rwi", 1600)), 312 + 87),
        )
    )
    assert differences_text(default, [[prop, repeating]]) == (
        "groups read: 3,200 (PROP), 1,600 in each of 2 tasks (Wikiformer); "
        "distinct groups: 3,200 (PROP), 399 (Wikiformer)"
    )
    assert differences_text(default, [[prop, shorter]]) == "groups read: 3,200 (PROP), 800 (ARES_simple)"


def test_a_model_that_differs_from_data_set_to_data_set_has_both_named(default: Config) -> None:
    first, second = (
        [
            RunFacts(dataset, "bm25", model, "full", depth=depth)
            for model, depth in (("bm25", 200), ("prop", prop))
        ]
        for dataset, prop in (("squad", 100), ("squad-fit", 60))
    )
    depths = "documents scored per query, at most: 200 (BM25), 100 (PROP"
    assert differences_text(default, [first]) == f"{depths})"
    label = default.datasets["squad"].label
    assert f"{depths} on {label}), 60 (PROP on " in differences_text(default, [first, second])


def test_the_line_says_which_first_stages_are_tuned(default: Config) -> None:
    stages = {
        "tuned": FirstStageConfig(label="T", tuned_on="squad-tuning"),
        "fixed": FirstStageConfig(label="F", parameters={"b": 0.7}),
        "theirs": FirstStageConfig(label="R", runs={"squad": {"path": "squad.run"}}),
    }
    config = with_sections(default, first_stages=stages)
    for names, difference in {
        ("bm25", "tuned"): "parameters: not tuned (BM25), tuned on squad-tuning by RR@10 (T)",
        ("bm25", "fixed"): "b: 0.4 (BM25), 0.7 (F)",
        ("bm25", "ql"): "ranking model: bm25 (BM25), ql (QL)",
        ("bm25", "theirs"): "read in test: whole texts (BM25), not known (R)",
    }.items():
        assert line(config, *names, regime="first-stage") == difference
    control = Run(config, "squad", "bm25", "control", "zero-shot").facts
    bm25, ql, tuned = (
        Run(config, "squad", stage, stage, "first-stage").facts for stage in ("bm25", "ql", "tuned")
    )
    assert parameters_text(config, [control, bm25, ql, replace(tuned, k1=4.0, b=0.5)]) == (
        "Parameters: k1 0.9, b 0.4, not tuned (BM25), μ 1000, not tuned (QL), "
        "k1 4, b 0.5, tuned on squad-tuning by RR@10 (T)."
    )
    assert parameters_text(config, [control]) == ""


def test_the_ledger_has_the_parameters_that_were_tuned(default: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad-first-stages", {})
    rows += [
        {**row, "model": name, "candidates": name}
        for name in ("deepct-bm25", "tf-bm25")
        for row in rows[:QUERIES]
    ]
    scores, per_query = write_results(tmp_path, rows)
    sweep = tmp_path / "deepct-bm25.json"
    sweep.write_text('{"parameters": {"k1": 4.0, "b": 0.5}}')
    files = ResultFiles(scores, per_query, sweeps=[sweep])
    make_tables(DEEPCT_YAML, default, files, tmp_path / "tables")
    ledger = ledger_rows(tmp_path / "tables/deepct_headline.ledger.csv")
    parameters = {model: (row["k1"], row["b"]) for (model, _), row in ledger.items()}
    assert parameters["deepct-bm25"] == ("4.0", "0.5")
    assert parameters["bm25"] == ("0.9", "0.4")
    assert parameters["tf-bm25"] == ("", ""), "its sweep is not among the files"
    sweep.write_text("{}")
    with pytest.raises(IntegrityError, match=r"deepct-bm25\.json.*these are not tuned parameters"):
        files.read()


def with_sections(config: Config, **sections: dict[str, object]) -> Config:
    """The configuration with more entries of some sections."""
    return config.model_copy(update={name: getattr(config, name) | new for name, new in sections.items()})


def with_entries(config: Config, section: str, like: str, **changes: dict[str, object]) -> Config:
    """The configuration with more entries of a section, each a copy of one with changes."""
    entry = getattr(config, section)[like]
    copies = {name: entry.model_copy(update={"label": name, **new}) for name, new in changes.items()}
    return with_sections(config, **{section: copies})


def line(config: Config, *names: str, regime: str = "zero-shot", other_config: Config | None = None) -> str:
    """What models, or first stages, differ in; of a second configuration where there is one."""
    rows = [
        Run(rows_config, "squad", name if regime == "first-stage" else "bm25", name, regime).facts
        for rows_config in filter(None, (config, other_config))
        for name in names
    ]
    return differences_text(config, [rows])


OPTIONS = {
    "pretraining": "options of pre-training",
    "finetuning": "options of fine-tuning",
    "reranking": "options of re-ranking",
}


@pytest.mark.parametrize(
    ("section", "changes", "differing"),
    [
        ("pretraining", {"optimiser": {"learning_rate": 3e-5}}, "optimiser.learning_rate"),
        ("pretraining", {"masking": {"ratio": 0.2}}, "masking.ratio"),
        ("pretraining", {"dropout": 0.2}, "dropout"),
        ("pretraining", {"compute": {"precision": "bf16"}}, "compute.precision"),
        ("pretraining", {"compute": {"threads": 2, "device": "cpu"}, "log_every": 5}, ""),
        ("finetuning", {"compute": {"precision": "bf16"}}, "compute.precision"),
        ("finetuning", {"compute": {"threads": 7, "device": "cpu"}, "accumulation": 2}, ""),
        ("reranking", {"compute": {"precision": "bf16"}}, "compute.precision"),
        ("reranking", {"compute": {"threads": 7, "device": "cpu"}}, ""),
    ],
)
def test_the_line_names_options_that_differ_and_change_results(
    default: Config, section: str, changes: dict[str, object], differing: str
) -> None:
    options = getattr(default, section)
    merged = type(options).model_validate(deep_merge(options.model_dump(), changes))
    changed = default.model_copy(update={section: merged})
    regime = "full" if section == "finetuning" else "zero-shot"
    expected = f"{OPTIONS[section]}: {differing}" if differing else ""
    assert line(default, "prop", regime=regime, other_config=changed) == expected


def test_the_line_names_neither_most_rows_nor_texts_that_all_read(default: Config) -> None:
    models = ("control", "prop", "ares-simple", "wikiformer", "php", "ict")
    rows = [RunFacts("squad", "bm25", model, "full", queries="5 (a)") for model in models]
    odd = RunFacts("squad", "bm25", "harp", "full", queries="6 (b)")
    assert differences_text(default, [[*rows, odd]]).startswith("queries: 5 (a) (the others), 6 (b) (")
    shared, other = (CorpusText((name,), path=name) for name in ("shared", "other"))
    rows = [replace(rows[1], texts=(shared,)), replace(rows[3], texts=(shared, other)), rows[0]]
    text = "texts of pre-training: no others (PROP), other (Wikiformer)"
    assert differences_text(default, [rows]) == text


def test_the_line_names_what_chose_a_snapshot(default: Config) -> None:
    choice = SelectionConfig(dataset="squad-tuning", measure="RR@10")
    over_ql = choice.model_copy(update={"candidates": "ql"})
    early = {"training": {"snapshots": [60, 100]}}
    config = with_entries(
        default,
        "models",
        "prop",
        last=early,
        best={**early, "select_on": choice},
        by_others={"training": {"snapshots": [50, 100]}, "select_on": choice},
        over_ql={**early, "select_on": over_ql},
    )
    config = with_entries(
        config, "models", "last", after_best={"start": "best"}, after_last={"start": "last"}
    )
    best = "chosen on squad-tuning by RR@10 among 3 snapshots"
    assert line(config, "last", "best") == f"snapshot: last step (last), {best} (best)"
    assert Run(config, "squad", "bm25", "best", "zero-shot").facts.steps is None, "counted when it is chosen"
    assert line(config, "best", "by_others") == "options of pre-training: snapshots"
    assert line(config, "best", "over_ql") == "options of pre-training: select_on.candidates"
    assert line(config, "after_best", "after_last") == (
        f"snapshot: {best}, then last step (after_best), last step (after_last)"
    )


def test_the_line_names_the_stages_of_pre_training(default: Config) -> None:
    half = {"training": {"steps": 100}}
    config = with_entries(default, "models", "prop", one={"training": {"steps": 200}}, half=half)
    config = with_entries(config, "models", "half", two={"start": "half"})
    assert line(config, "one", "two") == ("stages of pre-training: one (one), 100 + 100 steps (two)")


def test_values_of_stages_and_tasks_keep_their_order(default: Config) -> None:
    config = default
    for model, rates in {"early": (1e-5, 2e-5, 1e-5), "late": (1e-5, 2e-5, 2e-5)}.items():
        start = "encoder"
        for stage, rate in enumerate(rates):
            name, training = f"{model}{stage}", {"optimiser": {"learning_rate": rate}}
            config = with_entries(config, "models", "prop", **{name: {"start": start, "training": training}})
            start = name
    assert line(config, "early2", "late2") == "options of pre-training: optimiser.learning_rate"
    # A stage more with the same value is no difference, with another value it is.
    assert line(config, "early0", "early1").endswith("options of pre-training: optimiser.learning_rate")
    for name, weights in {
        "first": (1, 0.1, 0.1, 0.1),
        "both": (1, 1, 0.1, 0.1),
        "without_one": (1, 0.1, 0.1),
        "other": (0.1, 1, 0.1),
    }.items():
        tasks = zip(default.models["wikiformer"].tasks, weights, strict=False)
        weighted = [task.model_copy(update={"weight": weight}) for task, weight in tasks]
        config = with_entries(config, "models", "wikiformer", **{name: {"tasks": weighted}})
    for other, is_said in (("both", True), ("without_one", False), ("other", True)):
        options = line(config, "first", other).partition("options of pre-training: ")[2].split(", ")
        assert ("weight" in options) == is_said, other
    facts = Run(config, "squad", "bm25", "first", "zero-shot").facts
    assert "weight 1 / 0.1 / 0.1 / 0.1" in facts.training


def test_the_line_names_options_of_parts_of_one_type(default: Config) -> None:
    """Of objectives, re-rankers' passages, rankers over words, and indexes."""
    objective = default.models["prop"].tasks[0].objective
    knrm = NeuralConfig(type="knrm", collection="pretraining")
    config = with_entries(default, "objectives", objective, other={"pairs_per_document": 3})
    tasks = [task.model_copy(update={"objective": "other"}) for task in config.models["prop"].tasks]
    cut = {"passages": PassagesConfig()}
    config = with_entries(config, "models", "prop", same={}, changed={"tasks": tasks}, cut=cut)
    rankers = {"a": knrm, "b": knrm.model_copy(update={"minimum_count": 5})}
    models = {name: ModelConfig(label=name, neural=neural) for name, neural in rankers.items()}
    read = TypeAdapter(IndexConfig).validate_python
    indexes = {name: read({"type": "expansion", "path": f"{name}.tsv"}) for name in ("first", "second")}
    stages = {name: FirstStageConfig(label=name, index=name) for name in indexes}
    config = with_sections(config, models=models, indexes=indexes, first_stages=stages)
    assert line(config, "same", "changed") == "options of pre-training: rop.pairs_per_document"
    assert line(config, "a", "b", regime="full") == "options of fine-tuning: knrm.minimum_count"
    assert (
        line(config, *stages, regime="first-stage") == "options of term weights and indexes: expansion.path"
    )
    read_part = "at most 30 of a document, title in the first alone, cut at 96 word pieces with the query, query at 32"
    assert line(config, "prop", "cut") == (
        f"read in test: passages of 40 words every 40, {read_part} (PROP), "
        f"passages of 150 words every 75, {read_part} (cut)"
    )


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"training": {"steps": 50}}, "training.steps"),
        (
            {"training": {"steps": 20, "optimiser": {"learning_rate": 1e-3}}},
            "training.optimiser.learning_rate",
        ),
        ({"training": {"steps": 20, "compute": {"precision": "bf16"}}}, "training.compute.precision"),
        ({"training": {"steps": 20, "compute": {"threads": 3}, "log_every": 5}}, ""),
        ({"training": {}}, "training.steps, training.epochs"),
        ({"inference": {"compute": {"precision": "bf16"}}}, "inference.compute.precision"),
        ({"inference": {"batch_tokens": 4096}}, ""),
        ({"seed": 2}, "seed"),
        ({"square_root": True}, "square_root"),
    ],
)
def test_the_line_names_options_of_term_weights_that_differ(
    default: Config, changes: dict[str, object], differing: str
) -> None:
    options = {"label": "", "dataset": "squad-train", "training": {"steps": 20}}
    weights = {"a": TermWeightsConfig(**options), "b": TermWeightsConfig(**options | changes)}
    stages = {name: FirstStageConfig(label=name, index=name) for name in weights}
    config = with_sections(default, term_weights=weights, first_stages=stages)
    expected = f"options of term weights and indexes: {differing}" if differing else ""
    assert line(config, "a", "b", regime="first-stage") == expected
    rows = [RunFacts("", "", name, "", **weighting_facts(config, name)) for name in weights]
    assert differences_text(config, [rows]) == expected, "as of the sides of a claim"


def test_a_weighting_has_only_the_options_that_its_model_reads(default: Config) -> None:
    options = {"label": "", "dataset": "squad-train", "collection": "pretraining"}
    weights = {
        "regressor": TermWeightsConfig(**options),
        "windows": TermWeightsConfig(**options, window_overlap=20),
        "wider": TermWeightsConfig(**options, window_overlap=30),
        "oracle": TermWeightsConfig(**options, model="oracle", seed=4, training={"steps": 5}),
        "counts": TermWeightsConfig(label="", model="tf"),
        "root": TermWeightsConfig(label="", same_as="regressor", square_root=True),
    }
    config = with_sections(default, term_weights=weights)
    facts = {name: RunFacts("", "", name, "", **weighting_facts(config, name)) for name in weights}
    assert facts["oracle"].weighting == ("square_root False",)
    assert facts["counts"].weighting == ()
    assert "training.epochs 3.0" in facts["regressor"].weighting
    for names, differing in (
        (("windows", "wider"), "window_overlap"),
        (("regressor", "root"), "square_root"),
    ):
        text = differences_text(config, [[facts[name] for name in names]])
        assert text == f"options of term weights and indexes: {differing}"
