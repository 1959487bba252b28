"""All tables of a run: the headline, the papers' and their claims, built and written; and what joins the experiments
and papers of one run."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas

from irpretrain.config import Config
from irpretrain.config.finetuning import shots_of
from irpretrain.config.labels import BM25_MARK, CONTROL_MARK, regime_label
from irpretrain.config.papers import Published, load_published
from irpretrain.evaluation import ledger
from irpretrain.evaluation.evaluate import RUN_COLUMNS, SCORE_COLUMNS
from irpretrain.foundation.atomic import write_csv, write_text
from irpretrain.foundation.contracts import PER_QUERY
from irpretrain.report.axiom_results import NO_AXIOMS, AxiomResults, rank_interval_table, settings_table
from irpretrain.report.cells import AnyCell, Cell, CellValues, Column, Panel, Row, Table, comparison_cell
from irpretrain.report.claim_answers import answer_claims, claims_tables
from irpretrain.report.first_screen import result_sentences
from irpretrain.report.other_tables import AnswerTable, DepthTable
from irpretrain.report.paper_table import PaperTable
from irpretrain.report.remarks import headline_notes
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import (
    FIRST_STAGE,
    Baseline,
    Pair,
    RunName,
    Scores,
    TableTest,
    join_per_query,
    ordered_measures,
)
from irpretrain.report.table_files import latex, markdown, write_cells

# The headline table: first stages, the control and all models, in every measure of our own data sets.


AS_CLAIMS = TableTest("claims")


def build_headline(config: Config, scores: Scores, name: str = "headline") -> Table:
    """Return the table of all runs: first stages, control, all models."""
    table = HeadlineTable(config, scores).build(name)
    return replace(table, summary=result_sentences(table, config, scores))


class HeadlineTable:
    """The table of all runs, a panel a data set and its candidates."""

    def __init__(self, config: Config, scores: Scores) -> None:
        self.config, self.scores, self.stages = config, scores, config.stage_labels
        self.values = CellValues(config, scores, AS_CLAIMS)

    def build(self, name: str) -> Table:
        pairs = self.scores.pairs()
        panels, notes = tuple(map(self._panel, pairs)), headline_notes(self.config, self.scores, pairs)
        labels = dict.fromkeys(self.config.dataset_label(dataset) for dataset, _ in pairs)
        title = f"Runs on {'; '.join(labels)}" if pairs else "No runs, or runs at several depths alone"
        return Table(name, title, panels, tuple(notes)).with_ledger(self.config, self.scores)

    def _models(self, pair: Pair, measure: str) -> list[str]:
        runs = {name: [run] for name in self.stages if (run := self.scores.first_stage(pair[0], name))}
        for run in self.scores.reranked(pair):
            runs.setdefault(run.model, []).append(run)

        def best_mean(model: str) -> float:
            results = filter(None, (self.scores.get(run, measure) for run in runs[model]))
            return max((run_results.mean for run_results in results), default=-math.inf)

        models = (name for name in (*self.stages, *self.config.models) if name in runs)
        return sorted(models, key=best_mean, reverse=True)

    def _regimes(self, pair: Pair) -> list[str]:
        regimes = {run.regime for run in self.scores.reranked(pair)}
        return sorted(regimes, key=lambda regime: math.inf if regime == "full" else shots_of(regime)) or [
            FIRST_STAGE
        ]

    def _panel(self, pair: Pair) -> Panel:
        measures = ordered_measures(self.config, self.scores, pair[0])
        models = self._models(pair, measures[0])
        control = self.config.control_model(models)
        headings = {(measure, ""): measure for measure in measures}
        if control is not None:
            headings[measures[0], CONTROL_MARK] = f"{measures[0]} against the control"
        headings[measures[0], BM25_MARK] = f"{measures[0]} against BM25"
        columns = {
            (regime, measure, baseline_mark): Column(regime_label(regime), heading)
            for regime in self._regimes(pair)
            for (measure, baseline_mark), heading in headings.items()
        }

        def make_cell(model: str, column_key: tuple[str, str, str]) -> AnyCell:
            regime, measure, baseline_mark = column_key
            first_stage_run = self.scores.first_stage(pair[0], model) if model in self.stages else None
            run = first_stage_run or RunName(*pair, model, regime)
            has_results = self.scores.get(run, measure) is not None
            reason = "" if has_results else f"no experiment runs it {regime_label(regime)} on {pair[0]}"
            baselines = self._baselines(pair, regime, control, model)
            cell = Cell(model, *pair, measure, regime, run if has_results else None, reason, baselines)
            cell = self.values.fill(cell)
            return comparison_cell(cell, baseline_mark) if baseline_mark else cell

        rows = {model: Row(model, self.config.model_label(model)) for model in models}
        return Panel.of(self.config.dataset_label(*pair), rows, columns, make_cell)

    def _baselines(self, pair: Pair, regime: str, control: str | None, model: str) -> tuple[Baseline, ...]:
        baselines = []
        bm25_stage = self.config.bm25_baseline(model if model in self.stages else pair[1].partition("@")[0])
        if bm25_stage is not None and (bm25 := self.scores.first_stage(pair[0], bm25_stage)) is not None:
            baselines.append(Baseline(BM25_MARK, self.stages[bm25_stage], bm25))
        if control is not None:
            run = RunName(*pair, control, regime)
            baselines.append(Baseline(CONTROL_MARK, self.config.model_label(control), run))
        return tuple(baselines)


# All tables: built, and written as Markdown, CSV and LaTeX.


NO_SCORES = Scores({})


def build_tables(paper: Published | None, config: Config, files: ResultFiles) -> list[Table]:
    """Return the headline table, and of a paper the table of its claims and every table that it prints."""
    scores = files.read()
    if paper is None:
        return [build_headline(config, scores)]
    axioms = files.read_axioms()
    depths, answers = (
        Scores.read(paths, files.trainings, files.sweeps) for paths in (files.depths, files.answers)
    )
    return [
        build_headline(config, scores, f"{paper.paper}_headline"),
        *claims_tables(paper, config, files.claims),
        *(build_table(paper, name, config, scores, axioms, depths, answers) for name in paper.table_names()),
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
    """Return one of `paper.table_names()`: the printed values, ours and significance marks."""
    if name in paper.tables:
        return PaperTable(paper, paper.tables[name], config, scores).build()
    if paper.depths and name == paper.depths.key:
        return DepthTable(paper, paper.depths, config, depths).build()
    if paper.answers and name == paper.answers.key:
        return AnswerTable(paper, paper.answers, config, answers).build()
    assert paper.axioms is not None
    if name == paper.axioms.predictors.key:
        return settings_table(paper, paper.axioms, config, axioms.predictors)
    return rank_interval_table(paper, paper.axioms, config, axioms)


def make_tables(
    paper: str | Path,
    config: Config,
    files: ResultFiles,
    output_directory: str | Path,
    claims: str | Path | None = None,
) -> dict[str, Any]:
    """Write every table as Markdown, CSV and LaTeX, and the answers to claims (None: claims are not tested) as CSV;
    return how many there are."""
    published = load_published(paper)
    claim_counts = {} if claims is None else answer_claims(published.paper, config, files, claims)
    tables = build_tables(published, config, replace(files, claims=[] if claims is None else [claims]))
    for table in tables:
        write_table(table, output_directory)
    return {"tables": len(tables), "cells": sum(1 for table in tables for _ in table.cells()), **claim_counts}


def write_table(table: Table, directory: str | Path) -> None:
    """Write a table into `directory` as Markdown, CSV and LaTeX, and the ledger of its runs as `<table>.ledger.csv`."""
    base = Path(directory) / table.name
    write_text(base.with_suffix(".md"), markdown(table))
    write_cells(table, base.with_suffix(".csv"))
    write_text(base.with_suffix(".tex"), latex(table))
    if table.ledger is not None:
        write_csv(base.with_suffix(".ledger.csv"), ledger.COLUMNS, [row.cells() for row in table.ledger])


# What speaks of a whole run: the scores of all experiments in one table, the claims of all papers, the headline.


def write_overview(
    config: Config,
    files: ResultFiles,
    all_scores: str | Path,  # CSV with the rows of all scores, sorted by run
    # PER_QUERY table with the values of all queries, sorted by run, measure, seed and query.
    all_per_query: str | Path,
    all_claims: str | Path,  # CSV with the rows of all claims, in the order of the papers
    tables: str | Path,  # where `headline.md`, `.csv` and `.tex` go
) -> dict[str, Any]:
    """Join what experiments and papers left, each row once, and write the headline table over all of it."""
    write_table(build_headline(config, files.read()), tables)
    means = _join_csv(files.scores, SCORE_COLUMNS)
    # The sort is stable: measures and folds of a run keep the order in which they were evaluated.
    means = means.astype({"seed": int}).sort_values(list(RUN_COLUMNS), kind="stable")
    write_text(all_scores, means.to_csv(index=False, lineterminator="\n"))
    table = join_per_query(files.per_query)
    PER_QUERY.write(all_per_query, table)
    claims = join_claims(files.claims, all_claims)
    return {"scores": len(means), "per_query": table.num_rows, "claims": claims}


def join_claims(claims: Sequence[str | Path], all_claims: str | Path) -> int:
    """Join the claims of papers, in this order; return how many there are."""
    answers = _join_csv(claims, ())
    write_text(all_claims, answers.to_csv(index=False, lineterminator="\n"))
    return len(answers)


def _join_csv(paths: Sequence[str | Path], columns: Sequence[str]) -> pandas.DataFrame:
    tables = [pandas.read_csv(path, dtype=str, keep_default_na=False) for path in paths]
    return pandas.concat([pandas.DataFrame(columns=list(columns), dtype=str), *tables]).drop_duplicates()
