"""What a user can get wrong, through the real workflow: one message, no traceback, nothing half-written.

Whatever can be known before a job starts is refused then: those cases only plan the workflow.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiny import document, overlay_config, run_workflow

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


FOLDS = "results/datasets/tiny/folds.json"


def test_refused_when_the_data_is_read(project):
    (project / "data/documents/part-9.jsonl").write_text(json.dumps(document(3)) + "\n")
    displayed = refusal(project, FOLDS)
    assert "document id 'd03' occurs 2 times" in displayed
    assert "part-0.jsonl (record 4) and in data/documents/part-9.jsonl (record 1)" in displayed
    assert not list((project / "results/datasets").rglob("*.*"))


def test_queries_without_a_relevant_document_are_left_out_and_reported_so(project):
    qrels = project / "data/qrels.txt"
    qrels.write_text(re.sub("^q05 .*\n", "", qrels.read_text(), flags=re.MULTILINE))
    configure(project, {})
    done = run_workflow(project, FOLDS)
    assert len(json.loads((project / FOLDS).read_text())["queries"]) == 23
    assert "1 of 24 queries have no relevant document and are left out" in done.stdout + done.stderr


def test_a_copy_of_the_test_queries_is_refused_before_anything_is_trained(project):
    """Training itself waits for the check, not the table alone."""
    shutil.copy(project / "data/queries.tsv", project / "data/copied.tsv")
    copy = {"label": "copy", "corpus": "tiny", "qrels": {"format": "trec", "path": "data/qrels.txt"}}
    queries = {"format": "tsv", "path": "data/copied.tsv"}
    changes = {
        "datasets/tiny-copy": {**copy, "queries": queries, "folds": 3},
        "datasets/tiny/train_on": "tiny-copy",
        "report": {"papers": ["prop"]},
    }
    displayed = refusal(project, "results/runs/tiny/bm25/prop/full/seed-1/fold-0.run.gz", changes=changes)
    assert "datasets.tiny.train_on" in displayed
    assert "data set tiny-copy has 24 of the 24 queries that tiny tests, such as " in displayed
    assert not (project / "results/datasets/tiny/apart-from-tiny-copy.json").exists()
    assert not (project / "results/models").exists()


def test_no_container_is_made_of_rules_without_environments(project: Path) -> None:
    text = refusal(project, "--containerize")
    assert "Containerfile, beside the Snakefile, is the recipe" in text
    assert "FROM " not in text
