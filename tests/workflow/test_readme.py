"""Every command of the README runs; where the real one takes long, on the tiny project or as a dry run."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from tiny import ROOT, readme_command, run_command

pytestmark = pytest.mark.workflow

BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
COMMANDS = [line for block in BLOCK.findall((ROOT / "README.md").read_text()) for line in block.splitlines()]
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}


def on_the_tiny_project(command: str, folder: Path) -> list[str]:
    """The README's command on the tiny project; what would take long there too is only planned."""
    if command.endswith("make test"):
        return [*readme_command(command, folder)[:-1], "ARGS=-n 0 tests/text/test_compiled_draws.py"]
    words = shlex.split(command.replace("runs/", f"{folder}/runs/"))
    if words[0] == "make" and len(words) > 2:
        arguments = words[-1]
        return [*readme_command(shlex.join(words[:-1]), folder)[:-1], f"{arguments} --dry-run"]
    if "--directory" in words:
        return [words[0], "--snakefile", str(ROOT / "Snakefile"), *words[1:], "--dry-run"]
    return readme_command(command, folder)


def test_the_readme_has_commands():
    assert {"make run", "make test", "make resume"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(command, copied):
    run_command(on_the_tiny_project(command, copied))  # what `make run` has made


def test_its_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?://)([^)#]+)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_picture_has_every_file_of_rules():
    files = (ROOT / "rules").glob("*.smk")
    with_rules = [path.stem for path in files if re.search(r"^\s*rule ", path.read_text(), re.MULTILINE)]
    captions = re.findall(r'class="small"[^>]*>([\w, ]+)<', (ROOT / "docs/images/workflow.svg").read_text())
    drawn = [name for caption in captions for name in caption.split(", ")]
    assert sorted(set(drawn) - {"and re-ranking"}) == sorted(with_rules)
