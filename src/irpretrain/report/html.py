"""The report: HTML files that need no network, made from the same tables and figures as the files beside them.

The report of a run says what came out and leads to the report of each paper, which has the paper's tables and figures.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.config.papers import Published, load_published
from irpretrain.evaluation.significance import CONFIDENCE, bounds_text
from irpretrain.evaluation.verdicts import NOT_RUN, NOT_TESTABLE, TESTED
from irpretrain.foundation.errors import MAKE_AGAIN, refusing
from irpretrain.foundation.other_code import is_of_other_code, other_code_text
from irpretrain.foundation.provenance import mixed_versions_text
from irpretrain.foundation.yaml_scalars import dump_yaml
from irpretrain.report import page_views
from irpretrain.report.cells import difference_text
from irpretrain.report.claim_answers import count_answers
from irpretrain.report.difference_plot import difference_plots
from irpretrain.report.drawing import heading, reason_of_emptiness, training_remark
from irpretrain.report.first_screen import first_table
from irpretrain.report.lineage import CellBook, Lineage
from irpretrain.report.page_views import displayed_panels
from irpretrain.report.pages import script_json, svg_uri, write_page
from irpretrain.report.probes import EXPLANATION, INPUT_HEADINGS, probe_views
from irpretrain.report.remarks import background
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.search_views import read_searches, search_views
from irpretrain.report.tables import build_tables
from irpretrain.workflow.plan.paths import REPORT

# Most bytes of provenance inside the page, so that the whole stays under 5 MB.
PROVENANCE_BYTES = 2_500_000
TITLE = "IR-Pretrain"  # of the page
UNTESTED = (NOT_RUN, NOT_TESTABLE)
# Ratio of width to height from which a figure takes the page's whole width.
WIDE = 2.2


def write_report(
    config: Config,
    published: Sequence[str | Path],
    files: ResultFiles,
    # The results directory: `figures/<paper>_<figure>.svg`, and the sidecars `*.meta.json` of all stages, of which
    # those count that lead to the scores or a figure; others are left from other configurations.
    results: str | Path,
    manifest: str | Path,
    output: str | Path,
) -> dict[str, Any]:
    """Write the report of a run, or of a paper where there is one alone."""
    papers = [load_published(path) for path in published]
    single_paper = papers[0] if len(papers) == 1 else None
    run_report = Path(results) / Path(REPORT).name
    headline, *tables = build_tables(single_paper, config, files)
    figures_directory = Path(results) / "figures"
    figures = figure_views(single_paper, figures_directory) if single_paper else []
    shown_files = [*files.paths(), *(str(figures_directory / f"{figure['name']}.svg") for figure in figures)]
    lineage = Lineage.read(Path(results).rglob("*.meta.json")).leading_to(shown_files)
    cell_book = CellBook(config, lineage)
    title_parts = [single_paper.name] if single_paper else []
    title_parts.append(config.report.name or Path(results).resolve().parent.name)
    date = page_views.last_day(lineage)
    datasets = {name: experiment.dataset for name, experiment in config.experiments.items()}
    attributions = [(config.attributions[Path(path).stem].dataset, path) for path in files.attributions]
    searches = search_views(headline, files.read(), read_searches(datasets, files.searches, attributions))
    claim_counts, trained_models = count_answers(files.claims), config.used_models
    page_bytes = write_page(
        "report.html.j2",
        output,
        title=" · ".join(filter(None, (*title_parts, date, TITLE))),
        names=title_parts,
        date=date,
        config=config,
        sentences=headline.summary,
        trained=training_remark(config, trained_models) if trained_models else "",
        background=background(papers),
        plots=difference_plots(headline),
        searches=searches,
        examples=page_views.examples(config, files.examples),
        search_data=script_json(searches),
        confidence=f"{CONFIDENCE:.0%}",
        notes=config.report.notes,
        data=page_views.data_lines(config, lineage),
        first=first_table(headline),
        headline=headline,
        views=page_views,
        book=cell_book,
        bounds_text=bounds_text,
        difference_text=difference_text,
        papers=[] if single_paper else papers,
        whole=address(run_report, output) if single_paper and Path(output) != run_report else "",
        claims={Path(path).stem: count_answers([path]) for path in files.claims},
        tested=[verdict for verdict in TESTED if claim_counts.get(verdict)],
        untested=", ".join(f"{claim_counts[verdict]} {verdict}" for verdict in UNTESTED if claim_counts.get(verdict)),
        tables=[table for table in tables if displayed_panels(table)],
        empty_tables=[table for table in tables if not displayed_panels(table)],
        figures=[figure for figure in figures if not figure["reason"]],
        empty_figures=[figure for figure in figures if figure["reason"]],
        query_scores=[address(path, output) for path in files.per_query],
        probes=probe_views(config, files.probes),
        probe_inputs=list(INPUT_HEADINGS.values()),
        probe_explained=EXPLANATION,
        tunings=page_views.tunings(config, files.sweeps),
        stages=page_views.stages(lineage),
        other_code=other_code_text(r.content for r in lineage.records if is_of_other_code(r.content)),
        mixed_versions=mixed_versions_text(r.content for r in lineage.records),
        licences=page_views.licences(config, manifest),
        configuration=dump_yaml(config.model_dump(mode="json"), width=110),
        # Asked for at the page's end, when the book has all cells.
        provenance=lambda: script_json(
            {"cells": cell_book.cells, **lineage.payload(cell_book.reachable(), PROVENANCE_BYTES)}
        ),
        citations=[f"{paper.citation} doi:{paper.doi}" for paper in papers],
    )  # fmt: skip
    return {
        "tables": 1 + len(tables),
        "figures": len(figures),
        "sidecars": len(lineage.records),
        "bytes": page_bytes,
        "claims": claim_counts,
    }


def address(path: str | Path, report: str | Path) -> str:
    """Return what leads from the report's folder to a file."""
    return Path(os.path.relpath(path, Path(report).parent)).as_posix()


def figure_views(paper: Published, directory: Path) -> list[dict[str, Any]]:
    views = []
    for name, figure in paper.figures.items():
        title = heading(paper, figure)
        caption = (
            f"{figure.published} ({paper.location(figure.page, figure.section)}. The paper's curves are printed as "
            "pictures only, so none is copied here.)"
        )
        key = f"{paper.paper}_{name}"
        with refusing(directory / f"{key}.svg", "this figure cannot be read", MAKE_AGAIN):
            svg = (directory / f"{key}.svg").read_text(encoding="utf-8")
        view_box = re.search(r'<svg[^>]*\sviewBox="\S+ \S+ (\S+) (\S+)"', svg)
        # Several panels, for which half the page is too little.
        is_wide = view_box is not None and float(view_box[1]) > WIDE * float(view_box[2])
        image_fields = {"image": svg_uri(svg), "wide": is_wide, "reason": reason_of_emptiness(svg)}
        views.append({"name": key, "title": title, "caption": caption, **image_fields})
    return views
