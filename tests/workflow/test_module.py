"""The workflow as a module of another Snakefile, as docs/module.md shows and as snakedeploy writes it."""

import re
import subprocess
from pathlib import Path

import pytest
from tiny import ROOT, code_blocks, environment

from irpretrain.foundation.contracts import SCORES
from warm_snakemake import run_snakemake

[BLOCK] = code_blocks("module", "python")
DEPLOYED = """
configfile: "config/config.yaml"

module irpretrain:
    snakefile: "{snakefile}"
    config: config

use rule * from irpretrain
"""
"""As snakedeploy 0.17.1 writes workflow/Snakefile, with the path of a clone."""
pytestmark = pytest.mark.workflow


def run(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "Snakefile").write_text(text)
    command = ["--snakefile", str(folder / "Snakefile"), "--directory", str(folder), "--cores", "1"]
    return run_snakemake([*command, *arguments], environment())


def printed(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def test_the_page_is_followed(tmp_path: Path) -> None:
    (tmp_path / "irpretrain").symlink_to(ROOT)
    (tmp_path / "mine.yaml").write_text(
        "inherit: definitions\nexperiments: {zero-shot: {dataset: squad, models: [prop], regimes: [zero-shot]}}\n"
    )
    done = run(tmp_path, BLOCK, "mine", "--dry-run", "--quiet", "rules")
    assert done.returncode == 0, printed(done)
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", printed(done), re.MULTILINE))
    assert jobs["mine"] == jobs["irpretrain_pretrain"] == "1", "one model of the overlay alone"


def test_the_command_of_the_page_takes_the_best_mean_of_one_measure(tmp_path: Path) -> None:
    [command] = re.findall(r'shell: "(.*)"', BLOCK)
    rows = [
        ",".join(column.name for column in SCORES.columns),
        "squad,bm25,prop,zero-shot,1,3,RR@10,1.0,30",
        "squad,bm25,prop,zero-shot,1,0,nDCG@20,0.9,150",
        "squad,bm25,prop,zero-shot,1,0,RR@10,0.5,150",
        "squad,bm25,control,zero-shot,1,0,RR@10,5e-05,150",
    ]
    assert [column.name for column in SCORES.columns][5:8] == ["fold", "measure", "value"]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n")
    done = command.format(input="scores.csv", output="best.txt")
    subprocess.run(["bash", "-c", done], cwd=tmp_path, check=True)
    assert (tmp_path / "best.txt").read_text().startswith("squad,bm25,prop,zero-shot,1,0,RR@10,0.5,")


def test_the_default_target_is_the_other_snakefiles(tmp_path: Path) -> None:
    (tmp_path / "irpretrain").symlink_to(ROOT)
    (tmp_path / "mine.yaml").write_text("{}\n")
    done = run(tmp_path, f"rule all:\n    shell: 'true'\n\n{BLOCK}", "--dry-run", "--quiet", "rules")
    assert dict(re.findall(r"^(\w+) +(\d+)$", printed(done), re.MULTILINE)) == {"all": "1", "total": "1"}


def test_as_snakedeploy_writes_it(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text((ROOT / "config/config.yaml").read_text())
    text = DEPLOYED.format(snakefile=ROOT / "workflow/Snakefile")
    done = run(tmp_path, text, "datasets", "--quiet", "all")
    assert done.returncode == 0, printed(done)
    assert (tmp_path / "results/datasets.txt").is_file()
    assert re.search(
        r"^total +\d{3}$", printed(run(tmp_path, text, "--dry-run", "--quiet", "rules")), re.MULTILINE
    )
    (tmp_path / "config/config.yaml").write_text("sed: 3\n")
    refused = run(tmp_path, text, "--dry-run")
    assert refused.returncode == 1
    assert "config of the module" in printed(refused)
    assert "sed: unknown key; did you mean seed?" in printed(refused)


def test_the_catalogues_position_is_the_workflow_itself(tmp_path: Path) -> None:
    command = ["--snakefile", str(ROOT / "workflow/Snakefile"), "--directory", str(tmp_path), "--dry-run"]
    done = run_snakemake([*command, "results/datasets.txtt"], environment())
    assert "no rule makes such a file" in printed(done), "not a module: its own refusals"


def test_without_the_library_beside_it_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/Snakefile").write_text((ROOT / "Snakefile").read_text())
    done = run(
        tmp_path,
        DEPLOYED.format(snakefile="alone/Snakefile").replace("configfile", "# configfile"),
        "--dry-run",
    )
    assert done.returncode == 1
    assert "the library is not beside the Snakefile. Clone the repository" in printed(done)
