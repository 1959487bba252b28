"""What a user can get wrong, through the real workflow: one message, no traceback, nothing half-written.

Whatever can be known before a job starts is refused then: those cases only plan the workflow.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiny import ROOT, document, overlay_config, run_workflow

pytestmark = pytest.mark.workflow


def configure(project: Path, changes: dict[str, Any]) -> None:
    """Write the overlay with values changed at dotted keys."""
    overlay = overlay_config()
    for dotted, value in changes.items():
        section = overlay
        *parents, last = dotted.split("/")
        for parent in parents:
            section = section.setdefault(parent, {})
        section[last] = value
    (project / "tiny.yaml").write_text(yaml.safe_dump(overlay))


def refusal(project: Path, *arguments: str, **changes: Any) -> str:
    """Run the workflow, which must refuse; return what it shows, with paths as seen from the project."""
    configure(project, changes.pop("changes", {}))
    done = run_workflow(project, *arguments, expect=1)
    assert "Traceback" not in done.stdout + done.stderr
    return (done.stdout + done.stderr).replace(f"{project}/", "")


def cut(project: Path, name: str, content: str) -> None:
    (project / "data" / name).write_text(content)


# One of each way to a refusal; the messages of the others have tests without Snakemake.
PLANNED = {
    "corpus that is not there": (
        {"corpora/tiny/path": "data/absent"},
        ["corpora.tiny.path: data/absent: there is no such file or folder", "relative to"],
    ),
    "another vocabulary": (
        {"encoder/vocabulary_size": 30522},
        ["encoder.path: data/encoder: the vocabulary has 116 entries, expected 30,522"],
    ),
    "regime": ({"experiments/few-shot/regimes": ["few-2"]}, ["'few-2' is not a regime"]),
    "overlay removes a corpus in use": (
        {"corpora/squad-dev-passages": None, "collections/target": ["squad-dev-passages"]},
        ["tiny.yaml", "collections.target: 'squad-dev-passages' is not in corpora"],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), PLANNED.values(), ids=PLANNED)
def test_refused_before_any_job_starts(project, changes, expected):
    displayed = refusal(project, changes=changes)
    for text in expected:
        assert text in displayed
    assert not (project / "results").exists()


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("attributions/case", "no page of attributions with all its files; add one under attributions"),
        (
            "term_weight_pages/cases",
            "no page of term weights with all its files; add one under term_weight_pages",
        ),
    ],
)
def test_what_only_its_own_target_makes_must_be_requested_for(project, entry, expected):
    section, name = entry.split("/")
    overlay = overlay_config()
    del overlay[section][name]
    (project / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    done = run_workflow(project, section, "--dry-run", expect=1)
    assert f"the configuration has {expected}" in done.stdout + done.stderr
    assert not (project / "results").exists()


def test_no_container_is_made_of_rules_without_environments(project: Path) -> None:
    text = refusal(project, "--containerize")
    assert "Containerfile, beside the Snakefile, is the recipe" in text
    assert "FROM " not in text


def test_a_report_of_nothing_is_refused(project):
    (project / "tiny.yaml").write_text(
        f"layers: [{ROOT / 'configs/minimal.yaml'}]\nexperiments: {{smallest: null}}\n"
    )
    done = run_workflow(project, "--dry-run", expect=1)
    assert "the configuration has nothing for a report to show" in done.stdout + done.stderr
    run_workflow(project, "results/indexes/squad-dev", "--dry-run")


FOLDS = "results/datasets/tiny/folds.json"


def repeat_document(project: Path) -> None:
    (project / "data/documents/part-9.jsonl").write_text(json.dumps(document(3)) + "\n")


def nothing_relevant(project: Path) -> None:
    cut(project, "qrels.txt", "q00 0 d00 0\nq01 0 d01 0\n")


SPOILED = {
    "id twice": (
        repeat_document,
        [
            "document id 'd03' occurs 2 times",
            "part-0.jsonl (record 4) and in data/documents/part-9.jsonl (record 1)",
        ],
    ),
    "nothing relevant": (
        nothing_relevant,
        ["qrels.txt: none of its 2 judgements marks a document as relevant"],
    ),
}


@pytest.mark.parametrize(("spoil", "expected"), SPOILED.values(), ids=SPOILED)
def test_refused_when_the_data_is_read(project, spoil, expected):
    spoil(project)
    displayed = refusal(project, FOLDS)
    for text in expected:
        assert text in displayed
    assert not (project / "results/datasets/tiny").exists() or not list(
        (project / "results/datasets/tiny").iterdir()
    )


def test_refused_when_queries_are_counted(project):
    displayed = refusal(project, FOLDS, changes={"datasets/tiny/folds": 25})
    assert (
        "datasets (tiny).folds: 25 folds cannot be made of 24 queries; lower folds, or give more queries"
        in displayed
    )
    displayed = refusal(
        project,
        FOLDS,
        changes={"experiments/few-shot/regimes": ["few-shot-9"], "experiments/few-shot/dataset": "tiny"},
    )
    assert "few-shot-9 asks for more training queries than tiny has: 8 for test fold" in displayed
    assert not (project / FOLDS).exists()


def test_queries_without_a_relevant_document_are_left_out_and_reported_so(project):
    retained = [
        line for line in (project / "data/qrels.txt").read_text().splitlines() if not line.startswith("q05")
    ]
    cut(project, "qrels.txt", "\n".join(retained) + "\n")
    configure(project, {})
    done = run_workflow(project, FOLDS)
    assert len(json.loads((project / FOLDS).read_text())["queries"]) == 23
    assert "1 of 24 queries have no relevant document and are left out" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "used_by",
    ["train_on", *(pytest.param(key, marks=pytest.mark.deep) for key in ("select_on", "tuned_on"))],
)
def test_a_copy_of_the_test_queries_is_refused_before_anything_is_trained(project, used_by):
    shutil.copy(project / "data/queries.tsv", project / "data/copied.tsv")
    copy = {"label": "copy", "corpus": "tiny", "qrels": {"format": "trec", "path": "data/qrels.txt"}}
    queries = {"format": "tsv", "path": "data/copied.tsv"}
    changes = {
        "datasets/tiny-copy": {**copy, "queries": queries, "folds": 3},
        "report": {"papers": ["prop"]},
        "experiments/first": {
            "papers": ["prop"],
            "dataset": "tiny",
            "models": ["prop-rop"],
            "regimes": ["zero-shot"],
        },
    }
    target, key = {
        # Training itself waits for the check, not the table alone.
        "train_on": ("results/runs/tiny/bm25/prop/full/seed-1/fold-0.run.gz", "datasets/tiny/train_on"),
        "select_on": ("results/scores/first.csv", "models/prop-rop/select_on"),
        "tuned_on": ("results/scores/first.csv", "first_stages/tf-bm25/tuned_on"),
    }[used_by]
    changes[key] = {"dataset": "tiny-copy"} if used_by == "select_on" else "tiny-copy"
    if used_by == "tuned_on":
        changes["experiments/first"]["first_stages"] = ["tf-bm25"]
    displayed = refusal(project, target, changes=changes)
    assert f"{key.replace('/', '.')}" in displayed
    assert "data set tiny-copy has 24 of the 24 queries that tiny tests, such as " in displayed
    assert not (project / "results/datasets/tiny/apart-from-tiny-copy.json").exists()
    assert not (project / "results/models").exists()
    assert not (project / "results/scores").exists()
