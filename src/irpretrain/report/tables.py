"""All tables: built, and written as Markdown, CSV and LaTeX."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.errors import ConfigError
from irpretrain.papers.published import Published, load_published
from irpretrain.report.answer_table import AnswerTable
from irpretrain.report.axiom_results import AxiomResults
from irpretrain.report.cells import Table
from irpretrain.report.claim_answers import answer_claims
from irpretrain.report.claims_table import claims_tables
from irpretrain.report.depth_table import DepthTable
from irpretrain.report.diagnosis_table import plan_diagnosis
from irpretrain.report.filled_tables import filled_tables
from irpretrain.report.headline_table import build_headline
from irpretrain.report.latex import write_latex
from irpretrain.report.longform import write_cells, write_verdicts
from irpretrain.report.markdown import write_markdown
from irpretrain.report.paper_table import PaperTable
from irpretrain.report.rank_interval_table import RankIntervalTable
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Scores
from irpretrain.report.settings_table import SettingsTable
from irpretrain.report.table_engine import build

NO_SCORES, NO_AXIOMS = Scores({}), AxiomResults()


def build_tables(published: Sequence[Published], config: Config, files: ResultFiles) -> list[Table]:
    """Return the headline table, and of each paper the table of its claims and every table that it prints, from its own
    experiments; a single paper's headline is called after it."""
    name = f"{published[0].paper}_headline" if len(published) == 1 else "headline"
    tables = [build_headline(config, files.read(), name)]
    claims = claims_tables(published, config, files.claims)
    for paper in published:
        tables += [claims[paper.paper]] if paper.paper in claims else []
        tables += _paper_tables(paper, config, files.of_paper(paper.paper, config))
    return tables


def _paper_tables(paper: Published, config: Config, files: ResultFiles) -> list[Table]:
    scores, axioms = files.read(), files.read_axioms()
    depths, answers = Scores.read(files.depths), Scores.read(files.answers)
    return [
        build_table(paper, name, config, scores, axioms, depths, answers)
        for name in filled_tables(paper, config)
    ]


def build_table(
    paper: Published,
    name: str,
    config: Config,
    scores: Scores = NO_SCORES,
    axioms: AxiomResults = NO_AXIOMS,
    depths: Scores = NO_SCORES,
    answers: Scores = NO_SCORES,
) -> Table:
    """Return one table of a paper: the printed values, ours, significance marks and verdicts.

    Args:
        name: one of `Published.table_names`.
        depths: scores of the experiments at several depths.
        answers: scores of tasks beside retrieval.
    """
    if name in paper.tables:
        return build(PaperTable(paper, name, config, scores).plan(), config, scores)
    if paper.depths and name == paper.depths.key:
        return build(DepthTable(paper, paper.depths, config, depths).plan(), config, depths)
    if paper.answers and name == paper.answers.key:
        return build(AnswerTable(paper, paper.answers, config, answers).plan(), config, answers)
    assert paper.axioms is not None
    if name == paper.axioms.predictors.key:
        plan = SettingsTable(paper, paper.axioms, config, axioms.predictors).plan()
    elif name == paper.axioms.rank_intervals.key:
        plan = RankIntervalTable(paper, paper.axioms, config, axioms).plan()
    else:
        plan = plan_diagnosis(paper, paper.axioms, config, axioms.diagnoses)
    return build(plan, config, NO_SCORES)


def make_tables(
    papers: Sequence[str | Path],
    config: Config,
    files: ResultFiles,
    output_directory: str | Path,
    verdicts: str | Path,
    claims: str | Path | None = None,
) -> dict[str, Any]:
    """Write every table as Markdown, CSV and LaTeX, the verdicts and the answers to claims; return how many there are.

    Args:
        papers: files of published numbers, `resources/published/<paper>.yaml`.
        output_directory: where `<table>.md`, `.csv` and `.tex` go.
        verdicts: CSV, one line each.
        claims: CSV, one line each, for one paper; None: claims are not tested.
    """
    published = [load_published(path) for path in papers]
    _check_papers(published)
    answers = {} if claims is None else answer_claims(published[0].paper, config, files, claims)
    files = replace(files, claims=[] if claims is None else [claims])
    tables = build_tables(published, config, files)
    for table in tables:
        write_table(table, output_directory)
    counts = write_verdicts(tables, verdicts)
    return {
        "tables": len(tables),
        "cells": sum(1 for t in tables for _ in t.cells()),
        "verdicts": counts,
        **answers,
    }


def write_table(table: Table, directory: str | Path) -> None:
    """Write a table into `directory` as Markdown, CSV and LaTeX."""
    base = Path(directory) / table.name
    write_markdown(table, base.with_suffix(".md"))
    write_cells(table, base.with_suffix(".csv"))
    write_latex(table, base.with_suffix(".tex"))


def _check_papers(published: Sequence[Published]) -> None:
    names = [paper.paper for paper in published]
    if len(set(names)) != len(names):
        raise ConfigError(f"report.papers: a paper is given twice: {', '.join(names)}")
