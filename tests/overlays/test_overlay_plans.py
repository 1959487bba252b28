"""The workflow plans every overlay by its own command; empty files stand where the user's data would lie."""

import os
import re
from pathlib import Path

import pytest
from overlay_layers import load

from irpretrain.config import Config
from irpretrain.workflow.costs.plan import write_stand_ins
from overlay_commands import OVERLAYS, ROOT, layers, targets
from warm_snakemake import run_snakemake

pytestmark = pytest.mark.workflow

CALIBRATED = {"ares-paper": {"pretraining-msmarco"}, "paper": {"pretraining-msmarco"}}
"""Collections whose pseudo-queries are drawn at the papers' scale."""


def reported_jobs(overlay: Path) -> list[int]:
    """The pre-trainings, re-rankings and fine-tunings that an overlay says it makes; nothing where it says none."""
    reported = re.search(
        r"# (\d+) pre-trainings, (\d+) re-rankings and (\d+) fine-tunings", overlay.read_text()
    )
    return [int(number) for number in reported.groups()] if reported else []


def jobs(config: Config, planned: set[str]) -> list[int]:
    """The planned pre-trainings, re-rankings and fine-tunings; an encoder with fresh heads is not trained."""
    trained = re.compile(r"results/models/pretrained/([^/]+)/seed-\d+")
    found = [match[1] for path in planned if (match := trained.fullmatch(path))]
    rankings = r"results/runs/.+/zero-shot/seed-\d+\.run\.gz", r"results/runs/.+/fold-\d+\.run\.gz"
    return [
        sum(bool(config.models[model].tasks) for model in found),
        *(sum(bool(re.fullmatch(pattern, path)) for path in planned) for pattern in rankings),
    ]


def test_overlays_that_were_not_timed_count_their_jobs() -> None:
    assert {path.stem for path in OVERLAYS if reported_jobs(path)} == {
        "ares-ablations",
        "php-ablations",
        "wikiformer-ablations",
    }


PLANNED = [
    pytest.param(path, marks=pytest.mark.deep) if "paper" in path.stem else path
    for path in OVERLAYS
    if not targets(path)
]
"""Those at the papers' scale have thousands of jobs; tests/costs/test_plan.py plans all of them. The others are
walked in tests/workflow/test_journeys.py."""


@pytest.mark.parametrize("overlay", PLANNED, ids=lambda path: path.stem)
def test_it_gives_a_plan(overlay, tmp_path):
    config = load(overlay)
    write_stand_ins(config, tmp_path)
    command = ["--snakefile", ROOT / "Snakefile", "--directory", tmp_path]
    command += ["--dry-run", "--quiet", "all", "--cores", "2", "--configfile", *layers(overlay)]
    command += ["--config", "skip_absent=true", "--summary"]
    done = run_snakemake(list(map(str, command)), os.environ)
    assert done.returncode == 0, done.stderr[-4000:]
    # A line of the summary begins with a file that a job makes.
    planned = {line.split("\t")[0] for line in done.stdout.splitlines()}
    if reported := reported_jobs(overlay):
        assert reported == jobs(config, planned)
    for model in config.used_models:
        if config.models[model].cross_encoder is not None:
            continue
        made = "neural" if config.models[model].neural else "pretrained"
        assert any(path.startswith(f"results/models/{made}/{model}/") for path in planned), model
    drawn = r"results/pseudo_queries/([^/]+)/temperature\.json"
    calibrated = {match[1] for path in planned if (match := re.fullmatch(drawn, path))}
    if overlay.stem.endswith("paper"):
        assert calibrated == CALIBRATED.get(overlay.stem, set())
    else:
        assert calibrated <= {"questions", "pretraining"}
    assert "results/report.html" in planned


def test_a_run_has_its_own_rules_alone(tmp_path):
    """What an overlay does not inherit stays away."""
    for name in ("docs.jsonl", "topics.tsv", "qrels.txt"):
        (tmp_path / name).write_text("")
    mine = tmp_path / "mine.yaml"
    mine.write_text("""inherit: definitions
corpora: {mine: {format: jsonl, path: docs.jsonl}}
datasets:
  mine:
    {label: M, corpus: mine, queries: {format: tsv, path: topics.tsv}, qrels: {format: trec, path: qrels.txt}, folds: 3}
pretraining: {steps: 4, mlm_head_steps: 2}
experiments: {mine: {dataset: mine}}
report: {papers: [prop]}
""")
    command = ["--snakefile", ROOT / "Snakefile", "--directory", tmp_path]
    command += ["--quiet", "--rulegraph", "--configfile", mine]
    done = run_snakemake(list(map(str, command)), os.environ)
    assert done.returncode == 0, done.stderr[-4000:]
    rules = set(re.findall(r'label = "(\w+)', done.stdout))
    assert {"search", "evaluate"} <= rules
    assert not {"pretrain", "rerank", "build_groups"} & rules
