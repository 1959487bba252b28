"""The report: one HTML file that needs no network, made from the same tables and figures as the files beside it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from irpretrain.config import Config
from irpretrain.config.query_pages import ShownRankingConfig
from irpretrain.papers.published import load_published
from irpretrain.report import run_views
from irpretrain.report.cells import OUTCOMES
from irpretrain.report.claim_answers import count_answers
from irpretrain.report.figure_views import figure_views, headline_bars, svg_uri
from irpretrain.report.introduction import background, this_run
from irpretrain.report.lineage import Lineage
from irpretrain.report.naming import dataset_label, first_stage_labels, regime_label
from irpretrain.report.pages import script_json, write_page
from irpretrain.report.probes import EXPLAINED, INPUTS, probe_views
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.sampling_figures import sample_counts
from irpretrain.report.table_views import CellBook, table_view
from irpretrain.report.tables import build_tables
from irpretrain.report.verdict_summary import of_tables, summary_views
from irpretrain.report.verdicts import MEANINGS

PROVENANCE_BYTES = 2_500_000
"""Most bytes of provenance inside the page, so that the whole stays under 5 MB."""


def write_report(
    config: Config,
    published: Sequence[str | Path],
    files: ResultFiles,
    results: str | Path,
    dag: str | Path,
    manifest: str | Path,
    output: str | Path,
) -> dict[str, Any]:
    """Write the report.

    Args:
        published: files of published numbers, `resources/published/<paper>.yaml`.
        results: the results directory: `figures/<paper>_<figure>.svg`, `metrics/selected/`, and the sidecars
            `*.meta.json` of all stages, of which those count that lead to the scores, verdicts or a figure; others are
            left from other configurations.
        dag: SVG of the rule graph.
        manifest: `resources/embedded.yaml`, for the licences.

    Returns:
        Counts: tables, figures, sidecars, bytes, and verdicts by outcome.
    """
    papers = [load_published(path) for path in published]
    tables = build_tables(papers, config, files)
    pictures = Path(results) / "figures"
    figures = [view for paper in papers for view in figure_views(paper, pictures)]
    made = [*files.paths(), str(dag), *(str(pictures / f"{figure['name']}.svg") for figure in figures)]
    lineage = Lineage.read(Path(results).rglob("*.meta.json")).leading_to(made)
    book = CellBook(config, lineage)
    counted = of_tables(tables)
    outcomes = {o: sum(n for (*_, of_verdict), n in counted.items() if of_verdict == o) for o in OUTCOMES}
    size = write_page(
        "report.html.j2",
        output,
        title=config.report.title,
        config=config,
        this_run=this_run(config, files.read()),
        background=background(papers),
        bars=headline_bars(tables[0]),
        confidence=f"{config.evaluation.confidence:.0%}",
        notes=config.report.notes,
        data=run_views.data_lines(config, lineage),
        headline=table_view(tables[0], book),
        tables=[table_view(table, book) for table in tables[1:]],
        figures=figures,
        verdicts=summary_views(tables),
        outcomes=outcomes,
        pages=page_views(config, files.pages, output),
        query_scores=[address(path, output) for path in files.per_query],
        meanings=MEANINGS,
        claims=count_answers(files.claims),
        selections=run_views.selections(config, lineage, results),
        probes=probe_views(config, files.probes),
        probe_inputs=list(INPUTS.values()),
        probe_explained=EXPLAINED,
        tunings=run_views.tunings(config, files.sweeps),
        index_costs=run_views.index_costs(config, files.costs),
        dag=svg_uri(Path(dag)),
        stages=run_views.stages(lineage),
        environments=run_views.environments(lineage),
        samples=run_views.samples(sample_counts(lineage.records)),
        counts=run_views.counts(lineage),
        licences=run_views.licences(config, manifest),
        configuration=yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=110),
        provenance=script_json({"cells": book.cells, **lineage.payload(book.reachable(), PROVENANCE_BYTES)}),
        citations=[f"{paper.citation} doi:{paper.doi}" for paper in papers],
    )  # fmt: skip
    return {
        "tables": len(tables),
        "figures": len(figures),
        "sidecars": len(lineage.records),
        "bytes": size,
        "verdicts": outcomes,
    }


def address(path: str | Path, report: str | Path) -> str:
    """Return what leads from the report's folder to a file."""
    return Path(os.path.relpath(path, Path(report).parent)).as_posix()


def page_views(config: Config, pages: Sequence[str | Path], report: str | Path) -> list[dict[str, str]]:
    """Return address, title and description of each page; addresses lead from the report's folder to the file."""
    views = []
    for path in pages:
        page = config.query_pages[Path(path).stem]
        title = " and ".join(_label(config, shown) for shown in (page.left, page.right))
        dataset = dataset_label(config, page.dataset, page.candidates)
        views.append({"address": address(path, report), "title": title, "dataset": dataset})
    return views


def _label(config: Config, shown: ShownRankingConfig) -> str:
    stages = first_stage_labels(config)
    if shown.model in stages:
        return stages[shown.model]
    return f"{config.models[shown.model].label} ({regime_label(shown.regime or 'zero-shot')})"
