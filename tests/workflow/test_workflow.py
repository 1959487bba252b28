"""The real workflow on tiny input: real Lucene, real training steps, real tables."""

import gzip
import hashlib
import json
import random
import re
import shutil
from functools import partial
from pathlib import Path

import pytest
import yaml
from tiny import (
    DOCUMENTS,
    QUERIES,
    ROOT,
    copy_project,
    jobs_done,
    kill_when,
    overlay_config,
    readme_command,
    run_command,
    run_workflow,
    snakemake_command,
)
from tiny_wiki import ARTICLES

from irpretrain.foundation.atomic import read_csv
from irpretrain.report import recompute

pytestmark = pytest.mark.workflow

PROMISED = (
    "graphs/*/*.parquet",
    "pseudo_queries/*/temperature.json",
    "groups/*/*.parquet",
    "runs/**/*.run.gz",
    "tables/*",
    "depths/*",
    "searches/*",
    "examples/**/*",
    "scores/*",
    "scores.csv",
    "per_query.parquet",
    "claims.csv",
)
"""What must have the same bytes whatever the cores, shards and interruptions: graphs, groups, runs, tables, pages, and
what these show of searches and objectives. What indexes cost is measured, so it is in none of them."""


def promised_bytes(folder: Path) -> dict[str, str]:
    results = folder / "results"
    files = [path for pattern in PROMISED for path in results.glob(pattern) if path.is_file()]
    files = [p for p in files if not p.name.endswith(".meta.json")]
    return {str(p.relative_to(results)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(files)}


def test_it_ends_with_a_report_and_says_where(finished):
    folder, done = finished
    assert 10_000 < (folder / "results/report.html").stat().st_size <= 5_000_000
    assert "results/report.html" in done.stdout + done.stderr


def test_claims_are_answered(finished):
    folder, done = finished
    rows = read_csv(folder / "results/claims.csv")
    verdicts = {(row["paper"], row["claim"]): row["verdict"] for row in rows}
    assert list(dict.fromkeys(row["paper"] for row in rows)) == [
        "prop",
        "ares",
        "wikiformer",
        "php",
        "deepct",
    ]
    assert verdicts["prop", "better-than-bm25"] == "undecided", "one seed of training decides nothing"
    assert verdicts["deepct", "better-than-tf"] == "undecided", (
        "a tf index finds every document of a topic too, so that all values are equal"
    )
    assert verdicts["prop", "better-than-ict"] == "not run"
    assert 'href="reports/prop.html"' in (folder / "results/report.html").read_text(encoding="utf-8")
    text = (folder / "results/reports/prop.html").read_text(encoding="utf-8")
    assert 'id="prop_claims"' in text
    assert "Fine-tuned, PROP ranks better than BM25." in text
    assert "Claims: " in done.stdout + done.stderr
    assert "Best on tiny (" in done.stdout + done.stderr


def test_claims_are_recomputed_from_saved_scores_alone(finished, tmp_path: Path, capsys):
    folder, _ = finished
    saved, again = tmp_path / "saved", tmp_path / "again"
    for source, target in ((folder, saved), (saved, again)):
        arguments = ["--configfile", str(folder / "tiny.yaml"), "--directory", str(source)]
        assert recompute.main([*arguments, "--save", str(target)]) == 0, capsys.readouterr().err
    files = [path.relative_to(saved) for path in saved.rglob("*") if path.is_file()]
    (per_query, *_) = saved.glob("results/per_query/*.parquet")
    assert [(saved / path).read_bytes() for path in files] == [(again / path).read_bytes() for path in files]

    claims = saved / "results/claims.csv"
    before, row, after = claims.read_text().partition("deepct,better-than-tf,")
    claims.write_text(before + row + after.replace(",undecided,", ",supported,", 1))
    assert recompute.main(arguments) == 1
    assert (
        "results/claims.csv differs from what this configuration gives: deepct better-than-tf."
        in capsys.readouterr().err
    )
    assert recompute.main([*arguments, "--save", str(saved)]) == recompute.main(arguments) == 0
    assert [(saved / path).read_bytes() for path in files] == [(again / path).read_bytes() for path in files]
    per_query.write_bytes(b"")
    assert recompute.main(arguments) == 1
    assert per_query.name in capsys.readouterr().err
    shutil.rmtree(saved / "results")
    assert recompute.main(arguments) == 1
    assert "Name the folder of a finished run." in capsys.readouterr().err


def test_every_run_ranks_every_query(finished):
    folder, _ = finished
    with gzip.open(folder / "results/runs/tiny/bm25/first-stage.run.gz", "rt") as lines:
        candidates = {tuple(line.split()[i] for i in (0, 2)) for line in lines}
    assert len({query for query, _ in candidates}) == QUERIES
    with gzip.open(folder / "results/runs/tiny/bm25/prop/zero-shot/seed-1.run.gz", "rt") as lines:
        assert {tuple(line.split()[i] for i in (0, 2)) for line in lines} == candidates
    ranked = []
    for fold in (1, 2, 3):
        with gzip.open(folder / f"results/runs/tiny/bm25/prop/full/seed-1/fold-{fold}.run.gz", "rt") as lines:
            ranked += [tuple(line.split()[i] for i in (0, 2)) for line in lines]
    assert len(ranked) == len(set(ranked))
    assert set(ranked) == candidates


def test_a_data_set_that_trains_on_another_is_tested_whole(finished):
    folder, _ = finished
    path = folder / "results/runs/tiny-unseen/bm25/prop/full/seed-1/fold-0.run.gz"
    with gzip.open(path, "rt") as lines:
        assert {line.split()[0] for line in lines} == {"u00", "u01", "u02", "u03"}
    counts = json.loads((folder / f"{path}.meta.json").read_text())["counts"]
    # Nothing is chosen (one batch size, one rate, a set number of epochs), so that no fold is kept for validation.
    assert (counts["training_queries"], counts["validation_queries"], counts["test_queries"]) == (24, 0, 4)
    rows = [row for row in read_csv(folder / "results/scores.csv") if row["dataset"] == "tiny-unseen"]
    assert {(row["fold"], row["queries"]) for row in rows} == {("0", "4")}


def test_scores_are_there_for_every_cell(finished):
    folder, _ = finished
    rows = read_csv(folder / "results/scores.csv")
    cells = {(row["model"], row["regime"]) for row in rows}
    assert {
        ("bm25", "first-stage"),
        ("ql", "first-stage"),
        ("prop", "zero-shot"),
        ("prop@2", "zero-shot"),
    } <= cells
    assert {
        ("prop", "full"),
        ("control", "zero-shot"),
        ("prop", "few-shot-2"),
    } <= cells
    assert all(0 <= float(row["value"]) <= 1 for row in rows)
    bm25 = next(r for r in rows if (r["model"], r["measure"], r["fold"]) == ("bm25", "RR@10", "0"))
    assert float(bm25["value"]) > 0.9  # two words of its topic find a topic's documents


def test_structure_and_links_become_groups(finished):
    folder, _ = finished

    def counts(objective: str) -> dict[str, int]:
        path = folder / f"results/groups/articles/{objective}.parquet.meta.json"
        return json.loads(path.read_text())["counts"]

    # A set of siblings under the root and under each of two sections; an edge of See Also; a root; a node.
    each = {"srr": 3, "ltm": 1, "ati": 1, "rwi": 1}
    assert {name: counts(name)["groups"] for name in each} == {name: n * ARTICLES for name, n in each.items()}
    assert all(counts(name)["groups"] > 0 for name in ("hp", "shp", "mrds"))
    graph = json.loads((folder / "results/graphs/articles/counts.json").read_text())
    assert graph["see_also"]["edges"] == ARTICLES


def test_a_paper_needs_no_other_papers_runs(finished, tmp_path):
    folder, _ = finished
    for name in ("data", "tiny.yaml"):
        (tmp_path / name).symlink_to(folder / name)
    plan = run_workflow(tmp_path, "--dry-run", "--verbose", "php").stdout
    assert "models/pretrained/php/seed-1" in plan
    for other in ("pretrained/prop", "pretrained/wikiformer", "results/report.html", "results/scores.csv"):
        assert other not in plan
    others = {"deepct": {"tf", "bow"}}
    for paper in ("prop", "wikiformer", "php", "deepct"):
        assert (folder / f"results/reports/{paper}.html").exists()
        headline = read_csv(folder / f"results/tables/{paper}_headline.csv")
        models = {row["model"].partition("-")[0] for row in headline} - {""}
        assert models == {"bm25", "ql", paper} | others.get(paper, {"control"})


def test_attributions_of_the_models_that_a_page_names(copied):
    page = copied / "results/attributions/case.html"
    page.unlink()
    run_workflow(copied, "attributions")
    counts = json.loads((copied / "results/attributions/case.html.meta.json").read_text())["counts"]
    assert counts["models"] == 2
    assert counts["document"] in page.read_text()
    assert counts["largest_relative_residual"] < 0.05


def test_a_re_ranker_given_by_its_path_is_neither_trained_nor_given_our_word_pieces(finished, tmp_path):
    (tmp_path / "data").symlink_to(finished[0] / "data")
    given = {
        "theirs": {"label": "theirs", "cross_encoder": "data/encoder"}
    }  # planned only: it has no score head
    overlay = overlay_config()
    overlay["models"] |= given
    overlay["experiments"]["zero-shot"]["models"] = ["theirs"]
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    wanted = "results/runs/tiny/bm25/theirs/zero-shot/seed-1.run.gz"
    plan = run_workflow(tmp_path, "--dry-run", "--verbose", wanted).stdout
    assert "data/encoder/model.safetensors" in plan
    assert "results/corpora/tiny/documents-0.parquet" in plan
    assert not {"pretrain", "store_tokens"} & set(re.findall(r"^(?:local)?rule (\w+):", plan, re.MULTILINE))


def test_counts_reach_the_sidecars(finished):
    folder, _ = finished
    groups = json.loads((folder / "results/groups/pretraining/rop.parquet.meta.json").read_text())
    assert groups["counts"]["groups"] == DOCUMENTS * 5
    shard = json.loads((folder / "results/corpora/tiny/documents-0.parquet.meta.json").read_text())
    assert shard["counts"]["read"] == shard["counts"]["written"] == DOCUMENTS
    assert shard["cost"]["peak_memory_mb"] > 0


WITHOUT_DEVICE = {"select_model"}
"""Scripts that need torch though they compute on no device."""


def test_only_stages_that_need_torch_import_it(finished):
    """Whatever a script imports on its way, also inside functions: its process has been looked at as it ended."""
    folder, _ = finished
    seen = {tuple(path.name.split(".")) for path in (folder / "imports").iterdir()}
    ran, heavy = (
        {s for s, package in seen if package == "none"},
        {s for s, package in seen if package != "none"},
    )
    assert {"read_corpus", "store_tokens", "pretrain", "rerank", "write_report"} <= ran
    assert {"pretrain", "rerank", "finetune"} <= heavy, "imports are seen"
    rules = "\n".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    on_device = {part.partition(":")[0] for part in rules.split("\nrule ") if re.search(r"\bgpu=", part)}
    assert heavy <= on_device | WITHOUT_DEVICE


@pytest.mark.deep
def test_other_shards_and_cores_and_kills_at_random_moments_give_the_same_bytes(finished, tmp_path):
    """The whole run in three shards on two cores, killed five times and resumed, against one shard on one core."""
    folder, _ = finished
    shutil.copytree(folder / "data", tmp_path / "data")
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(overlay_config(shards=3)))
    moments = sorted(random.Random(20261120).sample(range(5, 130), 5))
    for command, moment in zip(["make run", *["make resume"] * 4], moments, strict=True):
        kill_when(
            lambda jobs=moment: jobs_done(tmp_path) > jobs,
            readme_command(command, tmp_path),
            tmp_path / "killed.log",
        )
    run_command(readme_command("make resume", tmp_path))
    expected, found = promised_bytes(folder), promised_bytes(tmp_path)
    assert len(expected) > 20
    assert "pseudo_queries/pretraining/temperature.json" in expected
    assert found == expected


@pytest.fixture
def planned_rules(finished, tmp_path):
    """Return a function that names the rules that a changed configuration would run again."""
    return partial(rules_run_again, finished[0], tmp_path / "changed.yaml")


def rules_run_again(folder: Path, changed: Path, **overrides: object) -> set[str]:
    overlay = overlay_config()
    for dotted, value in overrides.items():
        section = overlay
        *parents, last = dotted.split("__")
        for parent in parents:
            section = section.setdefault(parent.replace("_1", "-"), {})
        section[last] = value
    changed.write_text(yaml.safe_dump(overlay))
    plan = run_workflow(folder, "--configfile", str(changed), "--dry-run", "--verbose").stdout
    return {
        line.split()[1].rstrip(":") for line in plan.splitlines() if line.startswith(("rule ", "localrule "))
    }


def test_a_trained_model_can_be_taken_by_others(copied):
    run_workflow(copied, "results/exported/prop/seed-1")
    exported, trained = (
        copied / "results/exported/prop/seed-1",
        copied / "results/models/pretrained/prop/seed-1",
    )
    card = (exported / "README.md").read_text()
    for reported in ("# PROP", "objective: rop", "sha256"):
        assert reported in card
    for reported in ("| tiny | bm25 | zero-shot | nDCG@20 |", "| tiny | bm25 | full |", "model-index:"):
        assert reported in card, "the run has evaluated it"
    weights = "model.safetensors"
    assert (exported / weights).read_bytes() == (trained / weights).read_bytes()
    assert not (exported / "snapshots").exists()

    shutil.rmtree(copied / "results/runs")
    planned = run_workflow(
        copied, "results/exported/prop/seed-1", "--dry-run", "--verbose", "--forcerun", "pretrain"
    ).stdout
    assert "rule pretrain" in planned
    assert "rule rerank" not in planned, "an export evaluates nothing"


DISPLAYED = re.compile(
    r"all|evaluate|evaluate_depths|collect_searches|make_(tables|figures)_\w+|write_(overview|report|paper_report)"
)
"""What shows results, and so depends on nearly everything; the picture of the rules is drawn for each configuration."""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"finetuning__learning_rates": [3e-4]}, {"finetune"}),
        pytest.param({"finetuning__epochs": 2}, {"finetune"}, marks=pytest.mark.deep),
        pytest.param({"datasets__tiny__validation_measure": "AP"}, {"finetune"}, marks=pytest.mark.deep),
        (
            {
                "datasets__tiny__measures": ["nDCG@20", "ERR@20"],
                "datasets__tiny__label": "another name",
                "corpora__tiny__about": 72,
                "datasets__tiny__queries__about": 24,
                "pretraining__log_every": 3,
                "graph__threads": 1,
            },
            set(),
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_a_changed_option_reruns_what_depends_on_it_and_nothing_else(planned_rules, changes, expected):
    planned = planned_rules(**changes)
    assert {rule for rule in planned if not DISPLAYED.fullmatch(rule)} == expected
    assert {"write_report", "all"} <= planned


def test_a_changed_option_reruns_exactly_what_depends_on_it(planned_rules):
    retrieval = planned_rules(retrieval__depth=25)
    assert {"search", "rerank", "finetune"} <= retrieval
    assert not retrieval & {"pretrain", "build_groups", "index_corpus"}
    pretraining = planned_rules(pretraining__steps=7)
    assert {"pretrain", "rerank", "finetune"} <= pretraining
    assert not pretraining & {"build_groups", "search", "count_words"}
    queries = planned_rules(pseudo_queries__per_document=12)
    assert {"sample_pseudo_queries", "compute_axioms"} <= queries
    assert not queries & {"calibrate_temperature", "build_postings"}


def test_a_moved_project_trains_nothing_again(finished, tmp_path):
    folder, _ = finished
    moved = copy_project(tmp_path / "moved")
    here = {str(ROOT / "Snakefile"): str(moved / "Snakefile")}
    command = [here.get(word, word) for word in snakemake_command(folder, "--dry-run", "--verbose")]
    planned = run_command(command)
    # Tables and reports read published numbers from the project's own folder.
    again = set(re.findall(r"(?m)^(?:local)?rule (\w+):", planned.stdout + planned.stderr))
    assert not {rule for rule in again if not rule.startswith(("make_", "write_", "all"))}, again
