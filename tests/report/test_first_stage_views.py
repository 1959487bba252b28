"""What the page says of first stages: what they were tuned to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from small_run import DEEPCT_YAML, ROOT, flat_rows, write_results

from irpretrain.config import Config
from irpretrain.report.html import write_report
from irpretrain.report.page_views import tunings
from irpretrain.report.result_files import ResultFiles

MANIFEST = ROOT / "resources" / "embedded.yaml"


@pytest.fixture
def sweeps(tmp_path: Path) -> list[Path]:
    """DeepCT's first stage with k1 in the middle of its grid and b at an edge."""
    results = tmp_path / "results"
    for folder in ("tuning", "figures"):
        (results / folder).mkdir(parents=True)
    found = {
        "measure": "RR@10",
        "queries": 500,
        "parameters": {"k1": 10.0, "b": 0.9},
        "value": 0.75,
        "at_edge": ["b"],
    }
    (results / "tuning/deepct-bm25.json").write_text(json.dumps(found))
    (results / "figures/deepct_figure1.svg").write_text("<svg/>")
    return [results / "tuning/deepct-bm25.json"]


def test_tuned_parameters(config: Config, sweeps: list[Path]) -> None:
    made = tunings(config, sweeps)
    label, dataset = config.first_stages["deepct-bm25"].label, config.datasets["squad-held-out"].label
    assert made == [(label, f"{dataset}, 500 queries", "k₁ = 10, b = 0.9", "b", "RR@10", 0.75)]
    assert tunings(config, []) == []


def test_the_page_shows_them(config: Config, sweeps: list[Path], tmp_path: Path) -> None:
    results = write_results(tmp_path, flat_rows("squad-first-stages", {}))
    pages = []
    for extra in ({}, {"sweeps": sweeps}):
        page = tmp_path / "page.html"
        deepct = config.of_papers(["deepct"])
        write_report(
            deepct, [DEEPCT_YAML], ResultFiles(*results, **extra), tmp_path / "results", MANIFEST, page
        )
        pages.append(page.read_text(encoding="utf-8"))
    without, page = pages
    assert 'id="first-stages"' not in without
    [section] = re.findall(r'<details id="first-stages">.*?</details>', page, re.DOTALL)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section))
    assert "k₁ = 10, b = 0.9 b RR@10 0.750" in text
