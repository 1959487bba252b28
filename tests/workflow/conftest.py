"""One finished run of the tiny project, shared by the tests of the workflow and of the README."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tiny import make_project, readme_command, run_command

SEEN = Path(__file__).parent / "seen_imports"


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The tiny project after `make run`, uninterrupted, on one core with one shard; and what it printed."""
    folder = tmp_path_factory.mktemp("tiny")
    make_project(folder)
    (folder / "imports").mkdir()
    seen = {
        "SEEN_IMPORTS": str(folder / "imports"),
        "PYTHONPATH": os.pathsep.join([str(SEEN), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    return folder, run_command(readme_command("make run", folder, cores=1), more=seen)
