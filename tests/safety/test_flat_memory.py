"""Streaming stages take the same memory for any number of documents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("memory_of_stages.py")
FEW = 2000
TOLERANCE = 0.25
"""Share of the added text by which a peak may grow: identifiers and lengths are kept, and allocators round up."""


def measured(folder: Path, encoder: Path, documents: int) -> dict[str, float]:
    folder.mkdir()
    plain = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, str(SCRIPT), str(folder), str(encoder), str(documents)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | plain)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel's counters are Linux's")
def test_four_times_the_documents_take_no_more_memory(tmp_path: Path, tiny_encoder: Path) -> None:
    few = measured(tmp_path / "few", tiny_encoder, FEW)
    many = measured(tmp_path / "many", tiny_encoder, 4 * FEW)
    added = many.pop("characters") - few.pop("characters")
    assert added > 15
    grown = {stage: round(many[stage] - few[stage], 1) for stage in few}
    assert {stage: mb for stage, mb in grown.items() if mb > TOLERANCE * added} == {}, (few, many)
