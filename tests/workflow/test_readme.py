"""Every command of the README runs; where the real one takes long, on the tiny project or as a dry run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tiny import ROOT, make_project

from irpretrain.report.dag import write_dag

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]

BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
COMMANDS = [line for block in BLOCK.findall((ROOT / "README.md").read_text()) for line in block.splitlines()]
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    make_project(folder)
    return folder


def on_the_tiny_project(command: str, folder: Path) -> list[str]:
    """The README's command with the tiny project's overlay and folder added; nothing else is changed."""
    words = shlex.split(command)
    tiny = f"--configfile {folder / 'tiny.yaml'} --directory {folder}"
    if words[0] == "make":
        # this environment is the one that make would set up
        words[1:1] = [f"VENV={BIN.parent}", "--assume-old", f"{BIN.parent}/.installed", "CORES=2"]
        if words[-1] == "test":
            return [*words, "ARGS=tests/config"]
        if "configs/prop-long.yaml" in command:
            return [*words[:-1], f"{words[-1].replace('runs/', f'{folder}/')} --dry-run"]
        return [*words, f"ARGS={tiny}"]
    words[1:1] = ["--snakefile", str(ROOT / "Snakefile")]
    if "--directory" in words:
        return [*words, "--dry-run"]
    return [*words, *shlex.split(tiny)]


def test_the_readme_has_commands():
    assert {"make run", "make test", "make resume"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(command, project):
    done = subprocess.run(
        on_the_tiny_project(command, project),
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    if command == "make run":
        assert "results/report.html" in done.stdout + done.stderr
        assert (project / "results/report.html").exists()


def test_its_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?://)([^)#]+)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_picture_shows_the_workflow_of_today(tmp_path):
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--directory",
        str(tmp_path),
    ]
    graph = subprocess.run(
        [*command, "--quiet", "--rulegraph"], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert graph.returncode == 0, graph.stderr[-2000:]
    (tmp_path / "rulegraph.dot").write_text(graph.stdout)
    write_dag(tmp_path / "rulegraph.dot", tmp_path / "dag.svg")
    drawn = (ROOT / "docs/images/dag.svg").read_text()
    assert drawn == (tmp_path / "dag.svg").read_text(), "copy results/figures/dag.svg to docs/images/"
