"""All tables: built, and written as Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.errors import ConfigError
from irpretrain.report.answer_table import build_answer_tables
from irpretrain.report.axiom_results import AxiomFiles, AxiomResults
from irpretrain.report.axiom_tables import build_axiom_tables
from irpretrain.report.cells import Table
from irpretrain.report.depth_table import build_depth_tables
from irpretrain.report.filled_tables import filled_tables
from irpretrain.report.headline_table import build_headline
from irpretrain.report.paper_table import build_table
from irpretrain.report.published import Published, load_published
from irpretrain.report.scores import Scores


@dataclass(frozen=True)
class ResultFiles:
    """What a run measured: `results/scores/<experiment>.csv`, whose means are checked against
    `results/per_query/<experiment>.parquet`; `results/depths/<experiment>.parquet`; what it measured of axioms; and
    `results/downstream/<experiment>.parquet`."""

    scores: Sequence[str | Path]
    per_query: Sequence[str | Path]
    axioms: AxiomFiles = field(default_factory=AxiomFiles)
    depths: Sequence[str | Path] = ()
    answers: Sequence[str | Path] = ()

    def read(self) -> Scores:
        """Return the scores of all runs."""
        return Scores.read(self.per_query, self.scores)

    def of_paper(self, paper: str, config: Config) -> ResultFiles:
        """Return the files of the experiments that a paper shows, and those called after no experiment."""
        narrowed = config.of_papers([paper])  # type: ignore[list-item]
        others = config.experiments.keys() - narrowed.experiments.keys()
        tasks = config.downstream.keys() - narrowed.downstream.keys()
        kept = [
            [path for path in paths if Path(path).stem not in others]
            for paths in (self.scores, self.per_query, self.depths)
        ]
        answers = [path for path in self.answers if Path(path).stem not in tasks]
        return ResultFiles(kept[0], kept[1], self.axioms, kept[2], answers)


def build_tables(published: Sequence[Published], config: Config, files: ResultFiles) -> list[Table]:
    """Return the headline table and every table of the papers, each from its paper's own experiments; a single paper's
    headline is called after it."""
    name = f"{published[0].paper}_headline" if len(published) == 1 else "headline"
    tables = [build_headline(config, files.read(), name)]
    for paper in published:
        tables += _paper_tables(paper, config, files.of_paper(paper.paper, config))
    return tables


def _paper_tables(paper: Published, config: Config, files: ResultFiles) -> list[Table]:
    scores = files.read()
    others = build_axiom_tables(paper, config, AxiomResults.read(files.axioms))
    others |= build_depth_tables(paper, config, Scores.read(files.depths))
    others |= build_answer_tables(paper, config, Scores.read(files.answers))
    return [
        others.get(name) or build_table(paper, name, config, scores) for name in filled_tables(paper, config)
    ]


def make_tables(
    papers: Sequence[str | Path],
    config: Config,
    scores: Sequence[str | Path],
    per_query: Sequence[str | Path],
    output_directory: str | Path,
    verdicts: str | Path,
    axioms: AxiomFiles | None = None,
    depths: Sequence[str | Path] = (),
    answers: Sequence[str | Path] = (),
) -> dict[str, Any]:
    """Write every table as Markdown, CSV and LaTeX, and the verdicts; return how many there are.

    Args:
        papers: files of published numbers, `resources/published/<paper>.yaml`.
        config: the configuration.
        scores: `results/scores/<experiment>.csv`; the means are checked against the per-query values.
        per_query: `results/per_query/<experiment>.parquet`.
        output_directory: where `<table>.md`, `.csv` and `.tex` go.
        verdicts: CSV, one line each.
        axioms: what was measured of axioms, for the papers that show it.
        depths: `results/depths/<experiment>.parquet`, likewise.
        answers: `results/downstream/<experiment>.parquet`, likewise.
    """
    from irpretrain.report.longform import write_verdicts

    published = [load_published(path) for path in papers]
    _check_papers(published)
    files = ResultFiles(scores, per_query, axioms or AxiomFiles(), depths, answers)
    tables = build_tables(published, config, files)
    for table in tables:
        write_table(table, output_directory)
    counts = write_verdicts(tables, verdicts)
    return {"tables": len(tables), "cells": sum(1 for t in tables for _ in t.cells()), "verdicts": counts}


def write_table(table: Table, directory: str | Path) -> None:
    """Write a table into `directory` as Markdown, CSV and LaTeX."""
    from irpretrain.report.latex import write_latex
    from irpretrain.report.longform import write_cells
    from irpretrain.report.markdown import write_markdown

    base = Path(directory) / table.name
    write_markdown(table, base.with_suffix(".md"))
    write_cells(table, base.with_suffix(".csv"))
    write_latex(table, base.with_suffix(".tex"))


def _check_papers(published: Sequence[Published]) -> None:
    names = [paper.paper for paper in published]
    if len(set(names)) != len(names):
        raise ConfigError(f"report.papers: a paper is given twice: {', '.join(names)}")
