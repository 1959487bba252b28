"""What speaks of a whole run: the scores of all experiments in one table, verdicts and claims of all papers, the
headline."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_csv
from irpretrain.config import Config
from irpretrain.contracts import PER_QUERY
from irpretrain.evaluation.evaluate import COLUMNS, KEYS
from irpretrain.papers.files import read_paper
from irpretrain.report.headline_table import build_headline
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
    all_claims: str | Path,
    tables: str | Path,
) -> dict[str, Any]:
    """Join what experiments and papers left, each row once, and write the headline table over all of it.

    Args:
        all_scores: CSV with the rows of all scores, sorted by run.
        all_per_query: PER_QUERY table with the values of all queries, sorted by run, measure, seed and query.
        all_verdicts: CSV with the rows of all verdicts, in the order of the papers.
        all_claims: CSV with the rows of all claims, in the order of the papers.
        tables: where `headline.md`, `.csv` and `.tex` go, and `verdict_summary` in the same formats, for papers.
    """
    write_table(build_headline(config, files.read()), tables)
    columns, means = _read(files.scores) if files.scores else (list(COLUMNS), [])
    # The sort is stable: measures and folds of a run keep the order in which they were evaluated.
    means.sort(key=lambda row: _run(dict(zip(columns, row, strict=True))))
    write_csv(all_scores, columns, means)
    table = joined(files.per_query)
    PER_QUERY.write(all_per_query, table)
    counts = {}
    for name, files_of_papers, output in (
        ("verdicts", files.verdicts, all_verdicts),
        ("claims", files.claims, all_claims),
    ):
        heading, lines = _read(files_of_papers)
        write_csv(output, heading, lines)
        counts[name] = len(lines)
    if names := {paper: read_paper(paper).name for paper in config.report.papers}:
        write_summary([all_verdicts], names, tables)
    return {"scores": len(means), "per_query": table.num_rows, **counts}


def _run(row: dict[str, str]) -> list[str | int]:
    return [int(row[key]) if key == "seed" else row[key] for key in KEYS]


def _read(paths: Sequence[str | Path]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Heading and distinct rows of CSV files of one kind, in their order."""
    heading: list[str] = []
    distinct: dict[tuple[str, ...], None] = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            heading, *rows = csv.reader(file)
        distinct |= dict.fromkeys(map(tuple, rows))
    return heading, list(distinct)
