"""What a run ends with: the headline table as plain text, its result in words, and where files lie."""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from irpretrain.config.labels import regime_label
from irpretrain.config.papers import FIRST_STAGE, known_papers
from irpretrain.config.usage import hidden_views
from irpretrain.corpora.catalogue.absence import read_entries, reported
from irpretrain.corpora.formats.ir_datasets import downloads_text
from irpretrain.corpora.sources import used_ir_datasets
from irpretrain.foundation.atomic import read_csv
from irpretrain.foundation.other_code import other_code_text, results_of_other_code
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.whole import Plan
from irpretrain.workflow.screen.job_output import as_user_path

# Most columns of the terminal that are used.
WIDTH = 96
LABEL, COLUMN = 30, 23
ESCAPED = re.compile(r"\\(.)")


def headlines(results: str | Path, since: float) -> str:
    """Return what a run has made: the headline table of the whole run, or else those of the papers it was asked for.

    `since` is when the run began, seconds since the epoch; reports that are older are not shown.
    """
    whole = Path(results) / "report.html"
    made = [path for path in (Path(results) / "reports").glob("*.html") if path.stat().st_mtime >= since]
    if whole.exists() and (whole.stat().st_mtime >= since or not made):
        return headline(results)
    return "\n".join(headline(results, path.stem) for path in sorted(made))


def headline(results: str | Path, paper: str | None = None) -> str:
    """Return a headline table as plain text, `WIDTH` columns at most, and what `result_lines` has.

    Args:
        results: the directory with `tables/headline.csv` and `report.html`, or `tables/<paper>_headline.csv` and
            `reports/<paper>.html`; a table that is not there yet is passed over.
        paper: the paper whose headline is meant; None for the whole run's.
    """
    table = Path(results) / "tables" / f"{_table_name(paper)}.csv"
    parts = []
    if table.exists():
        rows = read_csv(table)
        # Two data sets may have one label.
        for (title, _), cells in groupby(rows, key=itemgetter("panel", "dataset")):
            parts.append(_panel(title, list(cells)))
        if rows:
            encoder = "   ᶜ than the control, the encoder with a fresh score head"
            trained = any(cell["regime"] != FIRST_STAGE for cell in rows)
            parts.append("ᵇ significantly better than BM25" + (encoder if trained else ""))
    return "\n\n".join([*parts, result_lines(results, paper)])


def result_lines(results: str | Path, paper: str | None = None) -> str:
    """Return what came out in words, the verdicts on claims that were tested, and where the report lies."""
    directory, displayed = Path(results), Path(as_user_path(results))
    parts = _sentences(directory / "tables" / f"{_table_name(paper)}.md")
    if counts := _claims(directory / ("claims.csv" if paper is None else f"claims/{paper}.csv")):
        parts.append(f"Claims: {counts}.")
    if newer := [] if paper else _newer_scores(directory):
        names = ", ".join(str(displayed / "scores" / name) for name in newer)
        parts.append(f"Newer than this table and report: {names}. A run without a target renews them.")
    report = "report.html" if paper is None else f"reports/{paper}.html"
    parts.append(f"Report:  {displayed / report}\nTables:  {displayed / 'tables'}")
    return "\n\n".join(parts) + "\n"


def _table_name(paper: str | None) -> str:
    return "headline" if paper is None else f"{paper}_headline"


def _sentences(table: Path) -> list[str]:
    paragraphs = table.read_text(encoding="utf-8").split("\n\n") if table.exists() else []
    if len(paragraphs) < 2 or paragraphs[1].startswith("**"):
        return []
    return ["\n".join(textwrap.wrap(ESCAPED.sub(r"\1", paragraphs[1]), WIDTH))]


def _newer_scores(results: Path) -> list[str]:
    """The names of the score files that were written after the report, as a run of a single target leaves them."""
    report = results / "report.html"
    if not report.exists():
        return []
    written = report.stat().st_mtime
    return sorted(path.name for path in (results / "scores").glob("*.csv") if path.stat().st_mtime > written)


def _claims(answered: Path) -> str:
    """How many claims that were tested have each verdict, "5 supported, 2 undecided"; nothing without any."""
    from irpretrain.evaluation.verdicts import TESTED  # numpy

    if not answered.exists():
        return ""
    counts = Counter(row["verdict"] for row in read_csv(answered))
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in TESTED if counts[verdict])


def _panel(title: str, cells: list[dict[str, str]]) -> str:
    measure = cells[0]["measure"]
    cell_at = {(cell["row"], cell["regime"]): cell for cell in cells if cell["measure"] == measure}
    labels = {cell["row"]: cell["label"] for cell in cells}
    queries = next((cell["queries"] for cell in cells if cell["queries"]), "no")
    regimes = list(dict.fromkeys(cell["regime"] for cell in cells))
    grids, width = [], (WIDTH - LABEL) // COLUMN
    for first in range(0, len(regimes), width):
        group = regimes[first : first + width]
        lines = [
            "Model".ljust(LABEL) + "".join(regime_label(regime).rjust(COLUMN) for regime in group),
            "-" * (LABEL + COLUMN * len(group)),
        ]
        for row, label in labels.items():
            values = (_value(cell_at.get((row, regime))).rjust(COLUMN) for regime in group)
            lines.append(_short(label).ljust(LABEL) + "".join(values))
        grids.append("\n".join(line.rstrip() for line in lines))
    return f"{title}, {queries} queries, {measure}\n" + "\n\n".join(grids)


def _value(cell: dict[str, str] | None) -> str:
    if cell is None or not cell["ours"]:
        return "not run"
    text = f"{float(cell['ours']):z.3f}{cell['marks']:<2}"
    return f"{text} [{float(cell['low']):z.3f}, {float(cell['high']):z.3f}]" if cell["low"] else text


def _short(label: str) -> str:
    name = label.partition(" (")[0]
    return name if len(name) < LABEL else name[: LABEL - 2] + "…"


# Files of targets that are named.
DISPLAYED = 3


def closing_text(plan: Plan, missing: Mapping[str, list[str]], targets: Collection[str], since: float) -> str:
    """Return the headline table, the report's location, and the left-out parts; the list of data sets if requested.

    Args:
        missing: missing files of the catalogue, by entry.
        since: start of the run, in seconds since 1970; older results are not its own.
    """
    from irpretrain.corpora.catalogue.table import datasets_text

    if "datasets" in targets:
        reports = dict(zip(plan.catalogue.present(), plan.catalogue.reports(), strict=True))
        entries, folders = plan.catalogue.entries, plan.catalogue.folders
        if own := read_entries(plan.config, folders) | missing.keys():
            own |= {name for entry in own for name in entries[entry].needs}
            entries = {name: entry for name, entry in entries.items() if name in own}
        catalogue = datasets_text(entries, reports, {folder: as_user_path(folder) for folder in folders})
        if own:
            catalogue += f"\n\nThe configuration reads these. All: {as_user_path(paths.DATASETS_TABLE)}"
        return "\n" + "\n\n".join(filter(None, [catalogue, downloads_text(used_ir_datasets(plan.config))]))
    left_out = reported(dict(missing), "Left out was what needs these files, which are not there:")
    hidden = "".join(f"{line}\n" for line in hidden_views(plan.config))
    made = headlines("results", since)
    other_code = other_code_text(results_of_other_code())
    texts = (made, requested(plan, targets, made), hidden, left_out, other_code)
    return "".join(f"\n{text}" for text in texts if text)


def requested(plan: Plan, targets: Collection[str], reported: str) -> str:
    """Return where the files of targets lie, except those reported before, and except papers."""
    by_name: dict[str, Any] = plan.targets_by_name()
    files = list[str]()
    for target in sorted(set(targets) - {"all", *known_papers()}):
        made = by_name.get(target, target)
        files += made(None) if callable(made) else [made]
    displayed = [as_user_path(path) for path in files if Path(path).exists()]
    displayed = [path for path in displayed if path not in reported]
    more = f" and {len(displayed) - DISPLAYED} more" if len(displayed) > DISPLAYED else ""
    return f"Files:   {', '.join(displayed[:DISPLAYED])}{more}\n" if displayed else ""
