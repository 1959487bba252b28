"""What the page says of first stages: what they were tuned to, and what their indexes cost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from small_run import DEEPCT_YAML, ROOT, flat_rows, write_results

from irpretrain.config import Config
from irpretrain.errors import InputError
from irpretrain.report.html import write_report
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.run_views import index_costs, tunings

MANIFEST = ROOT / "resources" / "embedded.yaml"
INDEX = {"documents": 4, "documents_without_terms": 0, "length": 10.0, "queries": 3, "mean_ms": 0.5}
INDEX |= {"k1": 10.0, "b": 0.9, "depth": 1000}


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
    for name in ("sweep-deepct-bm25", "deepct_figure1"):
        (results / f"figures/{name}.svg").write_text("<svg/>")
    return [results / "tuning/deepct-bm25.json"]


@pytest.fixture
def costs(tmp_path: Path) -> list[Path]:
    """Half the postings of tf, twice its time; an index whose queries all lack terms has no time."""
    rows = [
        {"index": "tf", "terms": 10, "postings": 40, "bytes": 2_000_000, "median_ms": 0.2, **INDEX},
        {"index": "deepct", "terms": 10, "postings": 20, "bytes": 1_000_000, "median_ms": 0.4, **INDEX},
        {
            "index": "oracle",
            "terms": 0,
            "postings": 0,
            "bytes": 9000,
            **INDEX,
            "median_ms": None,
            "mean_ms": None,
        },
    ]
    path = tmp_path / "squad-first-stages.json"
    path.write_text(json.dumps(rows))
    return [path]


def test_tuned_parameters(config: Config, sweeps: list[Path]) -> None:
    [row] = tunings(config, sweeps)
    assert row["label"] == config.first_stages["deepct-bm25"].label
    assert row["dataset"] == config.datasets["squad-held-out"].label
    assert (row["parameters"], row["at_edge"]) == ("k₁ = 10, b = 0.9", "b")
    assert row["image"].startswith("data:image/svg+xml")


def test_costs_are_compared_with_the_first_index(config: Config, costs: list[Path]) -> None:
    [found] = index_costs(config, costs)
    assert (found["dataset"], found["first"]) == (config.datasets["squad-first-stages"].label, "tf")
    tf, deepct, oracle = (row["ratios"] for row in found["rows"])
    assert set(tf.values()) == {None}
    assert deepct == {"terms": 1, "postings": 0.5, "bytes": 0.5, "median_ms": 2, "mean_ms": 1}
    assert oracle["median_ms"] is None


def test_the_page_shows_both(config: Config, sweeps: list[Path], costs: list[Path], tmp_path: Path) -> None:
    results = write_results(tmp_path, flat_rows("squad-first-stages", {}))
    (tmp_path / "dag.svg").write_text("<svg/>")
    pages = []
    for extra in ({}, {"sweeps": sweeps, "costs": costs}):
        page, dag = tmp_path / "page.html", tmp_path / "dag.svg"
        deepct = config.of_papers(["deepct"])
        write_report(
            deepct, [DEEPCT_YAML], ResultFiles(*results, **extra), tmp_path / "results", dag, MANIFEST, page
        )
        pages.append(page.read_text(encoding="utf-8"))
    without, page = pages
    assert 'id="first-stages"' not in without
    assert '<a href="#first-stages">' in page
    [section] = re.findall(r'<section id="first-stages">.*?</section>', page, re.DOTALL)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section))
    for wanted in (
        "k₁ = 10, b = 0.9 b RR@10 0.750",
        "deepct 4 0 10 (1.00) 20 (0.50) 1.00 (0.50)",
        "10.0 k1 = 10, b = 0.9, depth 1,000 0.400 (2.00)",
        "another run gives others",
    ):
        assert wanted in text, wanted
    assert re.search(r"oracle 4 0 .* – – ", text)


def test_a_broken_file_is_named(config: Config, costs: list[Path]) -> None:
    costs[0].write_text("[")
    with pytest.raises(InputError, match=r"squad-first-stages\.json"):
        index_costs(config, costs)
