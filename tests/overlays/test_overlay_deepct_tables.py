"""Every row of DeepCT's tables is filled by the default or an overlay, but for those of other people's systems.

The report finds first stages and models by name, so a misspelt name would leave a hole.
"""

from functools import cache

import numpy as np
import pytest
from overlay_layers import QUERIES, load, made_scores

from irpretrain.config import Config
from irpretrain.config.papers import load_published
from irpretrain.evaluation.evaluate import at_depth
from irpretrain.report.cells import Cell
from irpretrain.report.scores import Results, RunName, Scores
from irpretrain.report.tables import build_table
from overlay_commands import ROOT

PAPER = load_published(ROOT / "resources/published/deepct.yaml")
ELSEWHERE = {
    "table2": {"doc2query-bm25", "doc2query-ql", "deepct-e-bm25", "deepct-e-ql"},
    "table3": {"doc2query-bm25", "letor", "fasttext-conv-knrm"},
    "table6": set(),
}
"""Rows of systems that the overlays on the embedded data do not have: their models come in no package."""
NOWHERE = {"deepct-e-bm25", "deepct-e-ql", "letor"}
"""Rows that no overlay fills."""
ABSENT = {"msmarco-passage-eval"}
"""Data sets that no overlay has: hidden judgements."""


@cache
def embedded() -> Config:
    return load(ROOT / "configs/embedded-full.yaml").of_papers(["deepct"])


@cache
def overlay(name: str) -> Config:
    return load(ROOT / f"configs/deepct-{name}.yaml").of_papers(["deepct"])


def filled(config: Config, table: str, position: int | None = None) -> set[tuple[str, str]]:
    """(row, data set) of a table's cells with a number of ours, in all panels or in one."""
    made = build_table(PAPER, table, config, made_scores(config)).panels
    chosen = made if position is None else [made[position]]
    cells = [cell for panel in chosen for row in panel.rows for cell in row.cells]
    return {(cell.row, cell.dataset) for cell in cells if isinstance(cell, Cell) and cell.ours}


@pytest.mark.parametrize("table", ["table2", "table6"])
def test_the_default_fills_every_row(table: str) -> None:
    config = embedded()
    rows = {row for row, _ in filled(config, table)}
    printed = {row.key for row in PAPER.tables[table].rows}
    assert rows & printed == printed - ELSEWHERE[table]
    assert rows - printed <= set(config.first_stages)


def test_systems_beside_first_stages_are_filled_by_an_overlay() -> None:
    rows = {row for row, _ in filled(overlay("rerankers"), "table3")}
    assert rows == {row.key for row in PAPER.tables["table3"].rows} - ELSEWHERE["table3"]


@pytest.mark.parametrize("table", ["table2", "table3", "table6"])
def test_at_the_papers_scale_its_own_cells_are_filled(table: str) -> None:
    """Each row on each data set of the paper's panel, the first one."""
    requested = {
        (row.key, column.dataset)
        for row in PAPER.tables[table].rows
        for column in PAPER.tables[table].columns
        if row.key not in NOWHERE and column.dataset not in ABSENT
    }
    assert filled(overlay("paper"), table, 0) == requested


def depth_scores(config: Config) -> Scores:
    """As if every experiment at depths had been run."""
    found = {}
    for experiment in config.active_experiments.values():
        for depth in experiment.depths:
            candidates = at_depth(experiment.candidates, depth)
            runs = [(experiment.candidates, "first-stage", m) for m in (f"R@{depth}", "RR@10")]
            runs += [(model, regime, "RR@10") for model in experiment.models for regime in experiment.regimes]
            for model, regime, measure in runs:
                run = RunName(experiment.dataset, candidates, model, regime)
                values = np.linspace(0.1, 0.9, len(QUERIES))[None, :] * len(candidates) / 100
                found[run, measure] = Results((1,), QUERIES, values)
    return Scores(found)


def holes(config: Config) -> list[list[str]]:
    """Of each panel of the table of depths, the columns in which a depth has no number."""
    table = build_table(PAPER, "table4", config, depths=depth_scores(config))
    return [
        sorted(
            {
                column.group
                for row in panel.rows
                for column, cell in zip(panel.columns, row.cells, strict=True)
                if not cell.ours
            }
        )
        for panel in table.panels
    ]


def test_depths_are_filled() -> None:
    for config in (embedded(), overlay("rerankers")):
        theirs, here = holes(config)
        assert theirs
        assert here == []
    assert holes(overlay("paper"))[0] == []
