"""From documents to a model's queries for them, to an index of both, to a run, on tiny input."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from tiny import overlay_config, run_workflow

from irpretrain.contracts import EXPANSIONS
from tiny_models import write_t5

pytestmark = [pytest.mark.deep, pytest.mark.workflow]


def test_documents_are_expanded_by_a_models_queries(copied: Path) -> None:
    index = {"type": "doc2query", "model": "data/generator", "queries": 2, "query_length": 5}
    stage = {"doc2query-bm25": {"label": "BM25, Doc2Query", "index": "doc2query"}}
    stages = overlay_config()["first_stages"] | stage
    overlay = overlay_config(shards=2, indexes={"doc2query": index}, first_stages=stages)
    (copied / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    write_t5(copied / "data/generator")
    run = "results/runs/tiny-unseen/doc2query-bm25/first-stage.run.gz"
    run_workflow(copied, run)
    queries = [
        EXPANSIONS.read(copied / f"results/generated_queries/doc2query/tiny-{shard}.parquet")
        for shard in (0, 1)
    ]
    assert [table.num_rows for table in queries] == [36, 36]
    assert sum(len(found) for table in queries for found in table["queries"].to_pylist()) > 36
    sidecar = json.loads(
        (copied / "results/generated_queries/doc2query/tiny-0.parquet.meta.json").read_text()
    )
    assert sidecar["counts"]["documents"] == 36
    assert any(name.endswith("model.safetensors") for name in sidecar["inputs"])
    lines = gzip.decompress((copied / run).read_bytes()).decode().splitlines()
    assert {line.split()[0] for line in lines} == {f"u{n:02d}" for n in range(4)}
