"""Exported runs say in their header how they were made, and keep their lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from irpretrain.errors import InputError
from irpretrain.report.run_export import RunFacts, export_run

FACTS = RunFacts(
    tag="bm25-prop-full",
    dataset="SQuAD 1.1",
    source="https://example.org/squad",
    measures=["RR@10"],
    stages=["bm25", "prop"],
    training=["enwiki-excerpt", "SQuAD 1.1, training questions"],
)
RECORD = {
    "commit": "0a1b2c3",
    "versions": {"torch": "2.13.0", "pyserini": None},
    "hardware": {"cores": 2, "cpu": "EPYC", "machine": "x86_64"},
    "cost": {"wall_seconds": 0.5, "peak_memory_mb": 512, "started": 1},
    "parameters": {"options": {"max_length": 48, "note": "a\nb: # c"}},
}
LINES = "1 Q0 d1 1 2.5 irpretrain\n1 Q0 d2 2 1.5 irpretrain\n"


def test_the_header_is_read_and_the_lines_stay(tmp_path: Path) -> None:
    run = tmp_path / "fold-1.run.gz"
    run.write_bytes(gzip.compress(LINES.encode()))
    (tmp_path / "fold-1.run.gz.meta.json").write_text(json.dumps(RECORD))
    export_run(run, FACTS, tmp_path / "fold-1.txt")
    written = (tmp_path / "fold-1.txt").read_text().splitlines(keepends=True)
    assert "".join(line for line in written if not line.startswith("#")) == LINES
    assert written[0] == "# ir_metadata.start\n"
    end = written.index("# ir_metadata.end\n")
    header = yaml.safe_load("".join(line.removeprefix("# ") for line in written[1:end]))
    components = {"actor", "platform", "implementation", "research goal", "method", "data"}
    assert components <= header.keys()
    assert header["platform"]["software"]["libraries"]["python"] == ["torch==2.13.0"]
    assert header["resources"] == {"wall_seconds": 0.5, "peak_memory_mb": 512}
    first, second = header["method"]["retrieval"]
    assert (first, second["reranks"]) == ({"name": "bm25"}, "bm25")
    assert second["parameters"] == RECORD["parameters"], "whatever characters an option has"
    assert header["data"]["test collection"]["name"] == "SQuAD 1.1"


def test_a_run_without_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no record"):
        export_run(tmp_path / "absent.run.gz", FACTS, tmp_path / "out.txt")
