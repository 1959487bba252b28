"""What speaks of a whole run: the scores of all experiments in one table, the verdicts of all papers, the headline."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.contracts import PER_QUERY
from irpretrain.evaluation.evaluate import COLUMNS, KEYS
from irpretrain.papers.published import load_published
from irpretrain.report.headline_table import build_headline
from irpretrain.report.longform import write_csv
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import joined
from irpretrain.report.tables import write_table
from irpretrain.report.verdict_summary import write_summary


def write_overview(
    config: Config,
    files: ResultFiles,
    all_scores: str | Path,
    all_per_query: str | Path,
    all_verdicts: str | Path,
    tables: str | Path,
    published: Sequence[str | Path] = (),
) -> dict[str, Any]:
    """Join what experiments and papers left, each row once, and write the headline table over all of it.

    Args:
        config: the configuration.
        files: what was measured, and verdicts.
        all_scores: CSV with the rows of all scores, sorted by run.
        all_per_query: PER_QUERY table with the values of all queries, sorted by run, measure, seed and query.
        all_verdicts: CSV with the rows of all verdicts, in the order of the papers.
        tables: where `headline.md`, `.csv` and `.tex` go, and `verdict_summary` in the same formats.
        published: files of published numbers, for the papers' names.

    Returns:
        Counts: rows of each.
    """
    write_table(build_headline(config, files.read()), tables)
    columns, means = _read(files.scores) if files.scores else (list(COLUMNS), [])
    # The sort is stable: measures and folds of a run keep the order in which they were evaluated.
    means.sort(key=lambda row: _run(dict(zip(columns, row, strict=True))))
    write_csv(all_scores, columns, means)
    table = joined(files.per_query)
    PER_QUERY.write(all_per_query, table)
    heading, lines = _read(files.verdicts)
    write_csv(all_verdicts, heading, lines)
    names = {paper.paper: paper.name for paper in map(load_published, published)}
    write_summary([all_verdicts], names, tables)
    return {"scores": len(means), "per_query": table.num_rows, "verdicts": len(lines)}


def _run(row: dict[str, str]) -> list[str | int]:
    return [int(row[key]) if key == "seed" else row[key] for key in KEYS]


def _read(paths: Sequence[str | Path]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Heading and distinct rows of CSV files of one kind, in their order."""
    heading: list[str] = []
    distinct: dict[tuple[str, ...], None] = {}
    for path in paths:
        heading, *rows = _lines(path)
        distinct |= dict.fromkeys(tuple(row) for row in rows)
    return heading, list(distinct)


def _lines(path: str | Path) -> Iterator[list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.reader(file)
