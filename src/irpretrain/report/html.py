"""The report: one HTML file that needs no network, made from the same tables and figures as the files beside it."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from irpretrain.atomic import write_text
from irpretrain.config import Config
from irpretrain.corpora.embedded import Asset, read_manifest
from irpretrain.corpora.sources import used_assets
from irpretrain.errors import InputError
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.report.cells import (
    NOTHING_PUBLISHED,
    OUTCOMES,
    Cell,
    Contrast,
    Ours,
    Row,
    Table,
    difference_text,
    p_text,
    value_text,
)
from irpretrain.report.figures import FIGURES
from irpretrain.report.introduction import introduction
from irpretrain.report.lineage import Lineage, flat_counts
from irpretrain.report.markdown import verdict_lines
from irpretrain.report.naming import dataset_label, model_label, regime_label
from irpretrain.report.published import Published, load_published
from irpretrain.report.sampling_figures import SampleCounts, sample_counts
from irpretrain.report.scores import Scores
from irpretrain.report.tables import build_tables
from irpretrain.report.verdicts import MEANINGS

PROVENANCE_BYTES = 2_500_000
"""Most bytes of provenance inside the page, so that the whole stays under 5 MB."""
JOBS_SHOWN = 40
"""Most outputs of one stage whose counts are listed."""
WIDE = 2.2
"""Ratio of width to height from which a figure takes the page's whole width."""
OWN_FIGURES = {
    "set_sizes": "How many words the sampled sets hold (PROP, section 3.1), against the Poisson without zero.",
    "words_outside": "The smoothed document model gives every word of the vocabulary some probability, so some sampled "
    "words do not occur in the document; random sampling draws from the vocabulary alike.",
}


def write_report(
    config: Config,
    published: Sequence[str | Path],
    scores: str | Path,
    per_query: str | Path,
    results: str | Path,
    dag: str | Path,
    manifest: str | Path,
    output: str | Path,
) -> dict[str, Any]:
    """Write the report.

    Args:
        config: the configuration.
        published: files of published numbers, `resources/published/<paper>.yaml`.
        scores: `results/scores.csv`.
        per_query: `results/per_query.parquet`.
        results: the results directory: `figures/<paper>_<figure>.svg`, and the sidecars `*.meta.json` of all stages,
            of which those count that lead to `per_query` or a figure; others are left from other configurations.
        dag: SVG of the rule graph.
        manifest: `resources/embedded.yaml`, for the licences.
        output: the HTML file.

    Returns:
        Counts: tables, figures, sidecars, bytes, and verdicts by outcome.
    """
    papers = [load_published(path) for path in published]
    found = Scores.read(per_query, scores)
    tables = build_tables(papers, config, found)
    pictures = Path(results) / "figures"
    figures = [view for paper in papers for view in _figures(paper, pictures)]
    made = [str(per_query), str(Path(results) / "verdicts.csv"), str(dag)]
    made += [str(pictures / f"{figure['name']}.svg") for figure in figures]
    lineage = Lineage.read(Path(results).rglob("*.meta.json")).leading_to(made)
    book = _CellBook(config, lineage)
    verdicts = _verdict_counts(tables)
    page = _environment().get_template("report.html.j2").render(
        title=config.report.title,
        config=config,
        introduction=introduction(config, papers, found),
        notes=config.report.notes,
        headline=_table_view(tables[0], book),
        tables=[_table_view(table, book) for table in tables[1:]],
        figures=figures,
        verdicts=verdicts,
        meanings=MEANINGS,
        dag=_svg_uri(Path(dag)),
        stages=_stages(lineage),
        environments=_environments(lineage),
        samples=_samples(sample_counts([r.path for r in lineage.records])),
        counts=_counts(lineage),
        licences=_licences(config, manifest),
        configuration=yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=110),
        provenance=_script_json({"cells": book.cells, **lineage.payload(book.reachable(), PROVENANCE_BYTES)}),
        citations=[f"{paper.citation} doi:{paper.doi}" for paper in papers],
    )  # fmt: skip
    write_text(output, page)
    return {
        "tables": len(tables),
        "figures": len(figures),
        "sidecars": len(lineage.records),
        "bytes": len(page.encode()),
        "verdicts": verdicts,
    }


def _environment() -> Environment:
    loader = PackageLoader("irpretrain.report", package_path="")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals["style"] = Markup(loader.get_source(made, "report.css")[0])
    made.globals["script"] = Markup(loader.get_source(made, "report.js")[0])
    return made


def _script_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in, whatever strings it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


class _CellBook:
    """Numbers the cells of ours and collects what their provenance dialog shows."""

    def __init__(self, config: Config, lineage: Lineage) -> None:
        self._config, self._lineage = config, lineage
        self.cells: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, Ours], int] = {}

    def number(self, table: str, cell: Cell, ours: Ours) -> int:
        """Return the number of a cell, adding it when it is new."""
        key = (table, ours)
        if key not in self._numbers:
            self._numbers[key] = len(self.cells)
            self.cells.append(self._entry(cell, ours))
        return self._numbers[key]

    def _entry(self, cell: Cell, ours: Ours) -> dict[str, Any]:
        run = ours.run
        first = run.regime == FIRST_STAGE
        facts = [
            ("Model", model_label(self._config, run.model)),
            ("Data set", dataset_label(self._config, run.dataset, run.candidates)),
            ("Regime", regime_label(run.regime)),
            ("Measure", ours.measure),
            ("Value", value_text(ours, marks=False)),
            ("Queries", f"{ours.queries:,}"),
            ("Seeds", "none: nothing is trained" if first else ", ".join(str(seed) for seed in ours.seeds)),
        ]
        if cell.published is not None:
            facts.append(("Published", cell.published.printed))
        facts += [
            (f"Against {c.over}", f"{difference_text(c.difference)}, {p_text(c.p)}") for c in ours.comparisons
        ]
        shown = [v for v in cell.verdicts if v.outcome != NOTHING_PUBLISHED]
        facts += [
            ("Verdict" + (f" on {v.mark}" if v.mark else ""), f"{v.outcome}: {v.reason}") for v in shown
        ]
        return {"facts": facts, "runs": self._lineage.runs(run, ours.seeds)}

    def reachable(self) -> list[int]:
        """Return every record that leads to a cell."""
        return self._lineage.reachable(number for cell in self.cells for number in cell["runs"])


# Tables


@dataclass(frozen=True)
class CellView:
    """A cell as the template shows it; `sort` is the number it is sorted by, or empty."""

    sort: str
    published: str = ""
    value: str = ""
    marks: str = ""
    bounds: str = ""
    text: str = ""
    reason: str = ""
    book: int = -1
    chips: tuple[tuple[str, str, str], ...] = ()


def _table_view(table: Table, book: _CellBook) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": (f"{table.paper.upper()}, " if table.paper else "") + table.title,
        "panels": [
            {
                "title": panel.title,
                "groups": panel.groups(),
                "columns": [column.label for column in panel.columns],
                "rows": [
                    {
                        "label": _split(row)[0],
                        "detail": _split(row)[1],
                        "cells": [_cell_view(table, cell, book) for cell in row.cells],
                    }
                    for row in panel.rows
                ],
            }
            for panel in table.panels
        ],
        "reasons": [(mark, reason) for reason, mark in table.reasons().items()],
        "claims": [line for panel in table.panels for line in verdict_lines(panel)],
        "notes": table.notes,
        "source": table.source,
    }


def _split(row: Row) -> tuple[str, str]:
    """A row's label without what stands in brackets, and in small letters that, and what fills the row here."""
    label, _, bracket = row.label.partition(" (")
    filled_by = "" if row.filled_by in ("", row.label) else row.filled_by
    ours = f"ours: {filled_by}" if filled_by and not filled_by.startswith("ours") else filled_by
    return label, "; ".join(part for part in (bracket.removesuffix(")"), ours) if part)


def _cell_view(table: Table, cell: Cell | Contrast, book: _CellBook) -> CellView:
    if isinstance(cell, Contrast):
        found = cell.comparison
        if found is None:
            return CellView("", text="–")
        return CellView(
            f"{found.difference:.6f}", text=difference_text(found.difference), bounds=p_text(found.p)
        )
    published = cell.published.printed if cell.published else ""
    if cell.ours is None:
        mark = table.reasons().get(cell.not_run, "")
        sort = f"{cell.published.value:.6f}" if cell.published else ""
        return CellView(sort, published, text=f"not run ({mark})" if mark else "–", reason=cell.not_run)
    ours = cell.ours
    number, _, bounds = value_text(ours, marks=False).partition(" ")
    chips = tuple((v.outcome, v.mark, v.reason) for v in cell.verdicts if v.kind)
    return CellView(
        f"{ours.mean:.6f}",
        published,
        value=number,
        marks=ours.marks,
        bounds=bounds,
        book=book.number(table.name, cell, ours),
        chips=chips,
    )


def _verdict_counts(tables: Sequence[Table]) -> dict[str, int]:
    """Outcome → number of verdicts in the papers' tables, each cell once."""
    seen = {
        (
            table.name,
            cell.row,
            cell.dataset,
            cell.measure,
            cell.regime,
            verdict.kind,
            verdict.against,
        ): verdict.outcome
        for table in tables
        if table.paper
        for cell in table.cells()
        for verdict in cell.verdicts
    }
    found = Counter(seen.values())
    return {outcome: found[outcome] for outcome in OUTCOMES}


# Figures


def _figures(paper: Published, directory: Path) -> list[dict[str, Any]]:
    views = []
    for name in FIGURES[paper.paper]:
        known = paper.figures.get(name)
        caption = OWN_FIGURES.get(name, "")
        if known:
            caption = (
                f"{known.published} (Page {known.page}, section {known.section}. The paper's curves are printed as "
                "pictures only, so none is copied here.)"
            )
        title = f"{paper.name}, figure {known.number}: {known.title}" if known else caption
        key = f"{paper.paper}_{name}"
        path = directory / f"{key}.svg"
        view = {
            "name": key,
            "image": _svg_uri(path),
            "title": title,
            "caption": caption,
            "wide": _is_wide(path),
        }
        views.append(view)
    return views


def _is_wide(path: Path) -> bool:
    """Whether a picture is so much wider than high (several panels) that half the page is too little for it."""
    size = re.search(r'<svg[^>]*\sviewBox="\S+ \S+ (\S+) (\S+)"', path.read_text(encoding="utf-8"))
    return size is not None and float(size[1]) > WIDE * float(size[2])


def _svg_uri(path: Path) -> str:
    """An SVG as a data URI: shown as an image, so nothing inside it can run or reach the network."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            path, f"cannot be read: {error.strerror}", remedy="Run the workflow again."
        ) from None
    if b"<svg" not in content:
        raise InputError(path, "this is not an SVG picture", remedy="Delete it and run the workflow again.")
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


# Costs, counts, licences


def _stages(lineage: Lineage) -> list[dict[str, Any]]:
    """One line a stage: jobs, wall time (sum and longest), peak memory."""
    stages: dict[str, list[Any]] = {}
    for record in lineage.records:
        stages.setdefault(record.stage, []).append(record)
    views = []
    for stage, records in stages.items():
        wall = [record.cost("wall_seconds") for record in records]
        views.append(
            {
                "stage": stage.replace("_", " "),
                "jobs": len(records),
                "wall": sum(wall),
                "longest": max(wall),
                "cpu": sum(record.cost("cpu_seconds") for record in records),
                "memory": max(record.cost("peak_memory_mb") for record in records),
            }
        )
    return sorted(views, key=lambda view: -view["wall"])


def _environments(lineage: Lineage) -> list[dict[str, Any]]:
    """Distinct (commit, versions, hardware), with the number of outputs made with each."""
    found: dict[str, dict[str, Any]] = {}
    for record in lineage.records:
        facts = {key: record.content.get(key) or {} for key in ("commit", "versions", "hardware")}
        entry = found.setdefault(json.dumps(facts, sort_keys=True, default=str), {**facts, "jobs": 0})
        entry["jobs"] += 1
    return sorted(found.values(), key=lambda entry: -int(entry["jobs"]))


def _samples(counts: Mapping[str, SampleCounts]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "documents": found.documents,
            "skipped": ", ".join(
                f"{number:,} {reason.replace('_', ' ')}" for reason, number in found.skipped.items() if number
            ),
            "pairs": found.pairs,
            "ties": found.ties,
            "words": found.words_drawn,
            "outside": found.words_outside,
            "share": found.words_outside / found.words_drawn if found.words_drawn else 0.0,
        }
        for name, found in counts.items()
    ]


def _counts(lineage: Lineage) -> list[dict[str, Any]]:
    """Stages and their outputs' counts, at most JOBS_SHOWN outputs a stage."""
    stages: dict[str, list[Any]] = {}
    for record in lineage.records:
        if record.counts:
            stages.setdefault(record.stage, []).append(record)
    return [
        {
            "stage": stage.replace("_", " "),
            "jobs": [
                {"output": (record.outputs or [record.path])[0], "counts": list(flat_counts(record.counts))}
                for record in records[:JOBS_SHOWN]
            ],
            "more": max(0, len(records) - JOBS_SHOWN),
        }
        for stage, records in stages.items()
    ]


def _licences(config: Config, manifest: str | Path) -> list[tuple[str, Asset]]:
    """Embedded assets in use, with their package and licence."""
    assets = read_manifest(manifest)
    return [(name, assets.asset(name)) for name in used_assets(config)]
