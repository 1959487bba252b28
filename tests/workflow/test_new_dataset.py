"""The tutorial on a new data set is followed to the letter, in a copy of the project, through the real workflow; and
what happens where data of the catalogue are missing or broken.
"""

import os
import re
from pathlib import Path

import pytest
import yaml
from tiny import code_blocks, copy_project, make_project, overlay_config, run_project

from irpretrain.evaluation.runs import read_run

pytestmark = pytest.mark.workflow

PAGE = "tutorials/new-dataset"
RUN = "results/runs/planets/theirs/control/zero-shot/seed-1.run.gz"


@pytest.fixture
def copy(tmp_path):
    """The project with the tutorial's one file in it, and beside it the tiny project with the tutorial's overlay."""
    project = copy_project(tmp_path / "project")
    before = {path.relative_to(project) for path in project.rglob("*")}
    (project / "resources/datasets/planets.yaml").write_text(code_blocks(PAGE, "yaml")[0])
    added = {path.relative_to(project) for path in project.rglob("*")} - before
    assert added == {Path("resources/datasets/planets.yaml")}, "one file and no change elsewhere"
    tiny = tmp_path / "tiny"
    make_project(tiny)
    (tiny / "tiny.yaml").write_text(yaml.safe_dump(overlay_config()))
    (tiny / "planets.yaml").write_text(code_blocks(PAGE, "yaml")[1])
    return project, tiny


def write_data(tiny: Path) -> None:
    contents = [*code_blocks(PAGE, "json"), *code_blocks(PAGE, "text")[:3]]
    names = list(yaml.safe_load(code_blocks(PAGE, "yaml")[0])["files"])
    for name, content in zip(names, contents, strict=True):
        (tiny / "data" / name).parent.mkdir(exist_ok=True)
        (tiny / "data" / name).write_text(content)


def snakemake(project: Path, tiny: Path, *arguments: str, expect: int = 0) -> str:
    overlays = [tiny / "tiny.yaml", tiny / "planets.yaml"]
    done = run_project(project, tiny, *arguments, overlays=overlays, expect=expect)
    displayed = done.stdout + done.stderr
    assert "Traceback" not in displayed
    return displayed


def state(tiny: Path, name: str) -> str:
    text = (tiny / "results/datasets.txt").read_text(encoding="utf-8")
    return re.findall(rf"^{name} +(\w+)", text, re.MULTILINE)[0]


@pytest.mark.deep
def test_following_it(copy):
    project, tiny = copy
    # Before the data are there: the table says what to do, and a run is refused unless it may leave them out.
    displayed = snakemake(project, tiny, "datasets")
    assert re.search(r"planets +missing +Planets", displayed)
    assert "put documents at data/planets/documents.jsonl" in displayed
    assert "https://example.org/planets/licence" in displayed
    assert "robust04" not in displayed, "of the data sets that the overlay reads alone"
    assert state(tiny, "planets") == "missing"
    refused = snakemake(project, tiny, "--dry-run", expect=1)
    assert "experiments.planets: files that this needs are missing." in refused
    assert "  planets, from https://example.org/planets\n    data/planets/documents.jsonl\n" in refused
    planned = snakemake(project, tiny, "--dry-run", "--config", "skip_absent=true")
    assert re.search(r"planets +data/planets/documents\.jsonl and 3 more", planned)
    # With them: verified, and re-ranked.
    write_data(tiny)
    displayed = snakemake(project, tiny, "datasets")
    assert re.search(r"planets +present +Planets", displayed)
    snakemake(project, tiny, RUN, "results/scores/planets.csv")
    run = read_run(tiny / RUN)
    assert {query: sorted(document for document, _ in ranking) for query, ranking in run.items()} == {
        "p1": ["mars", "venus"],
        "p2": ["mars", "saturn"],
        "p3": ["earth", "venus"],
    }
    assert "theirs,first-stage" in (tiny / "results/scores/planets.csv").read_text()
    # A file that is no longer the one described stops with the reason, and the table shows it.
    path = tiny / "data/planets/queries.tsv"
    path.write_text(path.read_text().replace("red", "blue"))
    os.utime(path)
    refused = snakemake(project, tiny, RUN, expect=1)
    assert "ERROR in require_dataset: data/planets/queries.tsv: its sha256 is" in refused
    displayed = snakemake(project, tiny, "datasets")
    assert re.search(r"planets +broken +Planets", displayed)
    assert "broken: data/planets/queries.tsv: its sha256 is" in " ".join(displayed.split())
    assert state(tiny, "planets") == "broken"
