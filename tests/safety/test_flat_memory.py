"""Streaming stages take the same memory for any number of documents."""

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fresh_process import call
from irpretrain.foundation.contracts import DOCUMENTS

pytestmark = pytest.mark.deep

SCRIPT = Path(__file__).with_name("memory_of_stages.py")
FEW = 6000
"""With fewer, the largest buffers of the reader are not full yet."""
TOLERANCE = 0.05
"""Share of the added text by which a peak may grow: identifiers and lengths are kept."""


def measured(folder: Path, encoder: Path, documents: int) -> dict[str, float]:
    folder.mkdir()
    command = [sys.executable, str(SCRIPT), str(folder), str(encoder), str(documents)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_twice_the_documents_take_no_more_memory(tmp_path: Path, tiny_encoder: Path) -> None:
    few = measured(tmp_path / "few", tiny_encoder, FEW)
    many = measured(tmp_path / "many", tiny_encoder, 2 * FEW)
    added = many.pop("characters") - few.pop("characters")
    assert added > 15
    grown = {stage: round(many[stage] - few[stage], 1) for stage in few}
    assert {stage: mb for stage, mb in grown.items() if mb > TOLERANCE * added} == {}, (few, many)


def long_rows(number: int) -> Iterator[dict[str, Any]]:
    for n in range(number):
        body = f"{n} " * (800_000 // (len(str(n)) + 1))
        yield {"document_id": str(n), "part": 0, "position": n, "title": "", "url": "", "body": body}


def print_peak_of_long_rows(path: Path, number: int) -> None:
    tracemalloc.start()
    DOCUMENTS.write(path, long_rows(number))
    for _ in DOCUMENTS.stream(path, ["body"]):
        pass
    print(tracemalloc.get_traced_memory()[1] + pa.default_memory_pool().max_memory())


def test_long_rows_are_written_and_read_in_flat_memory(tmp_path: Path) -> None:
    """500 and 1,000 rows of 800 kB: a row group ends by its bytes."""
    peaks = []
    for number in (500, 1000):
        command = call(print_peak_of_long_rows, tmp_path / f"{number}", number)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 0.05 * 500 * 800_000, peaks
    assert max(peaks) < 600e6, peaks
