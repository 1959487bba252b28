"""The tutorial on a new objective and its paper is followed to the letter, in a copy of the project, through the real
workflow."""

import sys

import pytest
import yaml
from tiny import DOCUMENTS, code_blocks, copy_project, run_command

from irpretrain.foundation.atomic import read_csv
from irpretrain.objectives.groups import Span

pytestmark = [pytest.mark.workflow, pytest.mark.deep]

PAGE = "tutorials/new-objective"


@pytest.fixture
def copy(copied, tmp_path):
    """The project with the tutorial's files and line, and beside it the finished tiny project with its overlay."""
    project = copy_project(tmp_path / "project")
    (project / "src/irpretrain/objectives/lead.py").write_text(code_blocks(PAGE, "python")[0])
    (project / "resources/published/lead.yaml").write_text(code_blocks(PAGE, "yaml")[0])
    registry = project / "src/irpretrain/config/objectives.py"
    head = "OBJECTIVES = {\n"
    text = registry.read_text()
    assert head in text
    registry.write_text(text.replace(head, head + code_blocks(PAGE, "python")[1]))
    overlay = yaml.safe_load(code_blocks(PAGE, "yaml")[1].replace("dataset: squad", "dataset: tiny"))
    others = yaml.safe_load((copied / "tiny.yaml").read_text())["experiments"]
    overlay["experiments"] = dict.fromkeys(others) | overlay["experiments"]
    (copied / "lead.yaml").write_text(yaml.safe_dump(overlay))
    return project, copied


def test_following_it_gives_the_paper_s_table_and_report(copy):
    project, tiny = copy
    overlays = f"{tiny / 'tiny.yaml'} {tiny / 'lead.yaml'} --snakefile {project / 'Snakefile'}"
    command = [sys.executable, "-m", *code_blocks(PAGE, "sh")[0].replace("my-lead.yaml", overlays).split()]
    run_command([*command, "--directory", str(tiny)], project=project)
    assert (tiny / "results/runs/tiny/bm25/lead/zero-shot/seed-1.run.gz").exists()
    import pyarrow.parquet as pq

    groups = pq.read_table(tiny / "results/groups/pretraining/lead.parquet").to_pylist()
    assert len(groups) == DOCUMENTS
    assert all(len(g["queries"]) == 1 and len(g["documents"]) >= 2 for g in groups)
    assert groups[0]["documents"][0] == Span("d00", 0, 12)._asdict()
    cells = read_csv(tiny / "results/tables/lead_table1.csv")
    printed, ours = (cell for cell in cells if (cell["row"], cell["measure"]) == ("lead", "nDCG@20"))
    assert (printed["published"], printed["published_marks"], printed["ours"]) == ("0.431", "*†", "")
    assert "its documents come under a licence of their own" in printed["note"]
    assert ours["ours"]
    assert len(ours["over"].split(";")) == 2
    assert "Table 1: Lead against BM25 and BERT" in (tiny / "results/reports/lead.html").read_text()
