"""What the page says of first stages: what they were tuned to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from irpretrain.config import Config
from irpretrain.report.page_views import tunings


@pytest.fixture
def sweeps(tmp_path: Path) -> list[Path]:
    """DeepCT's first stage with k1 in the middle of its grid and b at an edge."""
    parameters = {"k1": 10.0, "b": 0.9}
    found = {"measure": "RR@10", "queries": 500, "parameters": parameters, "value": 0.75, "at_edge": ["b"]}
    (tmp_path / "deepct-bm25.json").write_text(json.dumps(found))
    return [tmp_path / "deepct-bm25.json"]


def test_tuned_parameters(config: Config, sweeps: list[Path]) -> None:
    made = tunings(config, sweeps)
    label, dataset = config.first_stages["deepct-bm25"].label, config.datasets["squad-held-out"].label
    assert made == [(label, f"{dataset}, 500 queries", "k₁ = 10, b = 0.9", "b", "RR@10", 0.75)]
    assert tunings(config, []) == []


def test_the_page_shows_them(deepct_section, sweeps: list[Path]) -> None:
    assert deepct_section("first-stages") is None
    assert "k₁ = 10, b = 0.9 b RR@10 0.750" in deepct_section("first-stages", sweeps=sweeps)
