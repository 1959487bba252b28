"""A data set of ir_datasets is searched and re-ranked by its identifier alone."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "corpora"))
from test_ir_datasets import FOLDER, write_vaswani
from tiny import make_encoder, run_command, snakemake_command

from irpretrain.foundation.atomic import read_csv

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.deep,
    pytest.mark.skipif(FOLDER is None, reason="IR_DATASETS names no folder with ir_datasets"),
]
OVERLAY: dict[str, Any] = {
    "inherit": "definitions",
    "encoder": {"path": "encoder", "label": "tiny", "layers": 2, "vocabulary_size": None},
    "corpora": {"ir-datasets-vaswani": {"shards": 2}},
    "retrieval": {"depth": 20},
    "reranking": {"depth": 20, "max_length": 48, "query_length": 8},
    "experiments": {
        "one": {"dataset": "ir_datasets:vaswani", "models": ["control"], "regimes": ["zero-shot"]}
    },
}


def run(folder: Path, *arguments: str, expect: int = 0) -> str:
    variables = {
        "IR_DATASETS_HOME": str(folder / "home"),
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    done = run_command(snakemake_command(folder, *arguments), expect, more=variables)
    return done.stdout + done.stderr


def test_a_data_set_is_searched_and_re_ranked_by_its_identifier(tmp_path):
    make_encoder(tmp_path / "encoder")
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(OVERLAY))
    refused = run(tmp_path, "--dry-run", expect=1)
    assert "`ir_datasets export vaswani docs > /dev/null` downloads them" in refused

    write_vaswani(tmp_path / "home", documents=30)
    assert "vaswani docs: present" in run(tmp_path, "datasets")
    run(tmp_path, "results/scores/one.csv")
    rows = read_csv(tmp_path / "results/scores/one.csv")
    bm25 = {row["measure"]: float(row["value"]) for row in rows if row["model"] == "bm25"}
    assert bm25["RR@10"] == 1
    assert "control" in {row["model"] for row in rows}
