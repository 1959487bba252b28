"""The picture of a sweep says each point's value, which one was chosen, and whether it lies at the edge."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

from irpretrain.report.other_figures import draw_sweep

SVG = "{http://www.w3.org/2000/svg}"


def drawn(folder: Path, grid: str, tuning: dict) -> list[str]:
    """The texts of the picture."""
    (folder / "grid.csv").write_text(grid)
    (folder / "tuning.json").write_text(json.dumps(tuning))
    output = folder / "sweep-x.svg"
    counts = draw_sweep(folder / "tuning.json", folder / "grid.csv", "BM25, DeepCT", "SQuAD", output)
    assert counts == {"points": len(grid.splitlines()) - 1}
    assert output.with_suffix(".png").stat().st_size > 1000
    return [" ".join("".join(e.itertext()).split()) for e in ET.parse(output).iter(f"{SVG}text")]


def test_two_parameters_are_a_map(tmp_path: Path) -> None:
    grid = "k1,b,RR@10\n0.9,0.4,0.25\n0.9,0.8,0.5\n10.0,0.4,0.125\n10.0,0.8,0.75\n"
    tuning = {"measure": "RR@10", "queries": 500, "parameters": {"k1": 10.0, "b": 0.8}, "value": 0.75}
    texts = drawn(tmp_path, grid, tuning | {"at_edge": ["k1"]})
    assert {".250", ".500", ".125", ".750", "k₁", "b", "0.9", "10", "0.4", "0.8"} <= set(texts)
    said = " ".join(texts)
    assert "BM25, DeepCT: RR@10 over the grid of parameters" in said
    assert "500 training queries of SQuAD. Chosen: k₁ = 10, b = 0.8, RR@10 0.7500." in said
    assert "k₁ at the edge of the grid" in said


def test_one_parameter_is_a_line(tmp_path: Path) -> None:
    tuning = {"measure": "AP", "queries": 3, "parameters": {"smoothing": 0.5}, "value": 0.5, "at_edge": []}
    texts = drawn(tmp_path, "smoothing,AP\n0.1,0.25\n0.5,0.5\n0.9,0.125\n", tuning)
    assert {"λ", "AP"} <= set(texts)
    assert "edge" not in " ".join(texts)
