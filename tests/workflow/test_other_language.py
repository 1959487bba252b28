"""configs/other-language.yaml on a complete Wikipedia in Latgalian: its own command, with a tiny encoder."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiny import ROOT, make_encoder, run_project

from latgalian_dump import latgalian_dump

pytestmark = [pytest.mark.workflow, pytest.mark.deep]

OVERLAY = ROOT / "configs/other-language.yaml"
OBJECTIVES = {"pretraining": {"rop"}, "articles": {"srr", "rwi", "ati", "ltm", "hp", "shp", "mrds"}}


def counts(path: Path) -> dict[str, Any]:
    """What a job counted."""
    record: dict[str, Any] = json.loads(path.with_name(path.name + ".meta.json").read_text())
    return record.get("counts", record)


def test_a_wikipedia_in_another_language_is_learnt_from(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    shutil.copy(latgalian_dump(tmp_path), tmp_path / "dump")
    make_encoder(tmp_path / "encoder")
    small = {
        "encoder": {"path": str(tmp_path / "encoder"), "label": "tiny", "layers": 2, "vocabulary_size": None}
    }
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small))
    [command] = re.findall(r'ARGS="(.*)"', OVERLAY.read_text(encoding="utf-8"))
    targets, _, options = command.partition(" --configfile ")
    assert options.split()[0] == "configs/other-language.yaml"
    run_project(ROOT, tmp_path, *targets.split(), overlays=[OVERLAY, tmp_path / "small.yaml"])
    results = tmp_path / "results"
    assert counts(results / "corpora/my-wiki/documents-0.parquet")["written"] == 896
    assert counts(results / "links/articles/links/my-wiki-0.parquet")["see_also"] == 40
    graph = counts(results / "graphs/articles")
    assert (graph["links"]["used"], graph["see_also"]["used"]) == (2261, 23)
    for collection, objectives in OBJECTIVES.items():
        made = {
            path.stem: counts(path)["groups"] for path in (results / f"groups/{collection}").glob("*.parquet")
        }
        assert made.keys() == objectives
        assert all(made.values()), made
    from transformers import AutoModelForSequenceClassification

    for model in ("prop", "wikiformer", "php"):
        exported = results / f"exported/{model}/seed-1"
        assert AutoModelForSequenceClassification.from_pretrained(exported).config.num_labels == 1
