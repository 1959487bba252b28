"""What a run ends with: the headline table as plain text, its result in words, and where files lie."""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from irpretrain.config.labels import BM25_MARK, CONTROL_MARK, marks_text, regime_label, without_bracket
from irpretrain.config.papers import FIRST_STAGE, known_papers
from irpretrain.corpora.catalogue.absence import entries_in_use, missing_data_text
from irpretrain.corpora.formats.ir_datasets import downloads_text
from irpretrain.corpora.sources import used_ir_datasets
from irpretrain.foundation.atomic import read_csv
from irpretrain.foundation.errors import count_of, first_names
from irpretrain.foundation.other_code import other_code_text, results_of_other_code
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.whole import Plan
from irpretrain.workflow.screen.job_output import as_user_path

# Most columns of the terminal that are used.
WIDTH = 96
LABEL_WIDTH, COLUMN_WIDTH = 30, 23


def headlines(results: str | Path, since: float) -> str:
    """Return what a run has made: the headline table of the whole run, or else those of the papers it was asked for.

    `since` is when the run began, seconds since the epoch; reports that are older are not shown.
    """
    run_report = Path(results) / "report.html"
    paper_reports = [
        path for path in (Path(results) / "reports").glob("*.html") if path.stat().st_mtime >= since
    ]
    if run_report.exists() and (run_report.stat().st_mtime >= since or not paper_reports):
        return headline(results)
    return "\n".join(headline(results, path.stem) for path in sorted(paper_reports))


def headline(results: str | Path, paper: str | None = None) -> str:
    """Return a headline table as plain text, `WIDTH` columns at most, and what `result_lines` has.

    Args:
        results: the directory with `tables/headline.csv` and `report.html`, or `tables/<paper>_headline.csv` and
            `reports/<paper>.html`; a table that is not there yet is passed over.
        paper: the paper whose headline is meant; None for the whole run's.
    """
    table = Path(results) / "tables" / f"{_table_name(paper)}.csv"
    paragraphs = []
    if table.exists():
        rows = read_csv(table)
        # Two data sets may have one label.
        for (title, _), cells in groupby(rows, key=itemgetter("panel", "dataset")):
            paragraphs.append(_panel_text(title, list(cells)))
        if rows:
            has_models = any(cell["regime"] != FIRST_STAGE for cell in rows)
            paragraphs.append(marks_text((BM25_MARK, CONTROL_MARK) if has_models else (BM25_MARK,)))
    return "\n\n".join([*paragraphs, result_lines(results, paper)])


def result_lines(results: str | Path, paper: str | None = None) -> str:
    """Return what came out in words, the verdicts on claims that were tested, and where the report lies."""
    directory, user_folder = Path(results), Path(as_user_path(results))
    paragraphs = _sentences(directory / "tables" / f"{_table_name(paper)}.md")
    if counts := _claims_text(directory / ("claims.csv" if paper is None else f"claims/{paper}.csv")):
        paragraphs.append(f"Claims: {counts}.")
    if newer_scores := [] if paper else _newer_scores(directory):
        names = ", ".join(str(user_folder / "scores" / name) for name in newer_scores)
        paragraphs.append(f"Newer than this table and report: {names}. A run without a target renews them.")
    report = "report.html" if paper is None else f"reports/{paper}.html"
    paragraphs.append(f"Report:  {user_folder / report}\nTables:  {user_folder / 'tables'}")
    return "\n\n".join(paragraphs) + "\n"


def _table_name(paper: str | None) -> str:
    return "headline" if paper is None else f"{paper}_headline"


def _sentences(table: Path) -> list[str]:
    paragraphs = table.read_text(encoding="utf-8").split("\n\n") if table.exists() else []
    if len(paragraphs) < 2 or paragraphs[1].startswith("**"):
        return []
    return [textwrap.fill(re.sub(r"\\(.)", r"\1", paragraphs[1]), WIDTH)]


def _newer_scores(results: Path) -> list[str]:
    """The names of the score files that were written after the report, as a run of a single target leaves them."""
    report = results / "report.html"
    if not report.exists():
        return []
    report_time = report.stat().st_mtime
    scores = (results / "scores").glob("*.csv")
    return sorted(path.name for path in scores if path.stat().st_mtime > report_time)


def _claims_text(claims_file: Path) -> str:
    """How many claims that were tested have each verdict, "5 supported, 2 undecided"; nothing without any."""
    from irpretrain.evaluation.verdicts import TESTED  # numpy

    if not claims_file.exists():
        return ""
    counts = Counter(row["verdict"] for row in read_csv(claims_file))
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in TESTED if counts[verdict])


def _panel_text(title: str, cells: list[dict[str, str]]) -> str:
    measure = cells[0]["measure"]
    cell_of = {(cell["row"], cell["regime"]): cell for cell in cells if cell["measure"] == measure}
    labels = {cell["row"]: cell["label"] for cell in cells}
    queries = next((cell["queries"] for cell in cells if cell["queries"]), "0")
    regimes = list(dict.fromkeys(cell["regime"] for cell in cells))
    grids, regimes_per_grid = [], (WIDTH - LABEL_WIDTH) // COLUMN_WIDTH
    for start in range(0, len(regimes), regimes_per_grid):
        group = regimes[start : start + regimes_per_grid]
        lines = [
            "Model".ljust(LABEL_WIDTH) + "".join(regime_label(name).rjust(COLUMN_WIDTH) for name in group),
            "-" * (LABEL_WIDTH + COLUMN_WIDTH * len(group)),
        ]
        for row, label in labels.items():
            values = (_value_text(cell_of.get((row, regime))).rjust(COLUMN_WIDTH) for regime in group)
            lines.append(_short_label(label).ljust(LABEL_WIDTH) + "".join(values))
        grids.append("\n".join(line.rstrip() for line in lines))
    return f"{title} ({count_of(int(queries), 'query')}), {measure}\n" + "\n\n".join(grids)


def _value_text(cell: dict[str, str] | None) -> str:
    if cell is None or not cell["ours"]:
        return "not run"
    text = f"{float(cell['ours']):z.3f}{cell['marks']:<2}"
    return f"{text} [{float(cell['low']):z.3f}, {float(cell['high']):z.3f}]" if cell["low"] else text


def _short_label(label: str) -> str:
    name = without_bracket(label)
    return name if len(name) < LABEL_WIDTH else name[: LABEL_WIDTH - 2] + "…"


# Files of targets that are named.
MAX_FILES = 3


def closing_text(plan: Plan, missing: Mapping[str, list[str]], targets: Collection[str], since: float) -> str:
    """Return the headline table, the report's location, and the left-out parts; the list of data sets if requested.

    Args:
        missing: missing files of the catalogue, by entry.
        since: start of the run, in seconds since 1970; older results are not its own.
    """
    from irpretrain.corpora.catalogue.table import datasets_text

    if "datasets" in targets:
        report_paths = dict(zip(plan.catalogue.present(), plan.catalogue.reports(), strict=True))
        entries, folders = plan.catalogue.entries, plan.catalogue.folders
        if entries_read := entries_in_use(plan.config, folders) | missing.keys():
            entries_read |= {needed_name for name in entries_read for needed_name in entries[name].needs}
            entries = {name: entry for name, entry in entries.items() if name in entries_read}
        listing = datasets_text(entries, report_paths, {folder: as_user_path(folder) for folder in folders})
        if entries_read:
            listing += f"\n\nThe configuration reads these. All: {as_user_path(paths.DATASETS_TABLE)}"
        return "\n" + "\n\n".join(filter(None, [listing, downloads_text(used_ir_datasets(plan.config))]))
    left_out = missing_data_text(dict(missing), "Left out was what needs these files, which are not there:")
    hidden_text = "".join(f"{line}\n" for line in plan.config.hidden_views())
    headline_text = headlines("results", since)
    other_code = other_code_text(results_of_other_code())
    files_text = requested_files_text(plan, targets, headline_text)
    texts = (headline_text, files_text, hidden_text, left_out, other_code)
    return "".join(f"\n{text}" for text in texts if text)


def requested_files_text(plan: Plan, targets: Collection[str], shown_text: str) -> str:
    """Return where the files of targets lie, except those reported before, and except papers."""
    by_name: dict[str, Any] = plan.targets_by_name()
    files = list[str]()
    for target in sorted(set(targets) - {"all", *known_papers()}):
        target_files = by_name.get(target, target)
        files += target_files(None) if callable(target_files) else [target_files]
    user_paths = [as_user_path(path) for path in files if Path(path).exists()]
    user_paths = [path for path in user_paths if path not in shown_text]
    return f"Files:   {first_names(user_paths, MAX_FILES)}\n" if user_paths else ""
