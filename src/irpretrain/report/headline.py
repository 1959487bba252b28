"""The last thing a run prints: the headline table as plain text, and where the report lies."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

from irpretrain.report.naming import regime_label

WIDTH = 96
"""Most columns of the terminal that are used."""
LABEL = 30
MEASURES_SHOWN = 2


def print_headlines(results: str | Path, since: float, called: str | Path | None = None) -> None:
    """Print what a run has made: the headline table of the whole run, or else those of the papers it was asked for.

    Args:
        results: the results directory.
        since: when the run began, seconds since the epoch; reports that are older are not shown.
        called: what the directory is called from where the user stands, if not `results`.
    """
    whole = Path(results) / "report.html"
    made = [path for path in (Path(results) / "reports").glob("*.html") if path.stat().st_mtime >= since]
    if whole.exists() and (whole.stat().st_mtime >= since or not made):
        print("\n" + headline(results, called))
    else:
        for path in sorted(made):
            print("\n" + headline(results, called, path.stem))


def headline(results: str | Path, called: str | Path | None = None, paper: str | None = None) -> str:
    """Return a headline table as plain text, `WIDTH` columns at most, and where the report lies.

    Args:
        results: the directory with `tables/headline.csv` and `report.html`, or `tables/<paper>_headline.csv` and
            `reports/<paper>.html`; a table that is not there yet is passed over.
        called: what the directory is called from where the user stands, if not `results`.
        paper: the paper whose headline is meant; None for the whole run's.
    """
    name, report = (
        ("headline", "report.html") if paper is None else (f"{paper}_headline", f"reports/{paper}.html")
    )
    table = Path(results) / "tables" / f"{name}.csv"
    parts = []
    if table.exists():
        with open(table, encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
        for panel, cells in groupby(rows, key=lambda row: row["panel"]):
            parts.append(_panel(panel, list(cells)))
        if rows:
            parts.append("* significantly better than BM25   † than the encoder with a fresh score head")
    shown = Path(called or results)
    parts.append(f"Report:  {shown / report}\nTables:  {shown / 'tables'}")
    return "\n\n".join(parts) + "\n"


def _panel(title: str, cells: list[dict[str, str]]) -> str:
    regimes = list(dict.fromkeys(cell["regime"] for cell in cells))
    measures = list(dict.fromkeys(cell["measure"] for cell in cells))[:MEASURES_SHOWN]
    found = {(cell["row"], cell["regime"], cell["measure"]): cell for cell in cells}
    labels = {cell["row"]: cell["label"] for cell in cells}
    queries = next((cell["queries"] for cell in cells if cell["queries"]), "no")
    widths = [len(measures[0]) + 18, *(9 for _ in measures[1:])]
    groups = [regime_label(regime) for regime in regimes]
    lines = [
        f"{title}, {queries} queries",
        " " * LABEL + "".join(group.center(sum(widths)) for group in groups),
        "Model".ljust(LABEL)
        + "".join(m.rjust(w) for _ in regimes for m, w in zip(measures, widths, strict=True)),
        "-" * min(WIDTH, LABEL + len(regimes) * sum(widths)),
    ]
    for row, label in labels.items():
        texts = [
            _value(found.get((row, regime, measure)), place == 0).rjust(width)
            for regime in regimes
            for place, (measure, width) in enumerate(zip(measures, widths, strict=True))
        ]
        lines.append(_short(label).ljust(LABEL) + "".join(texts))
    return "\n".join(line.rstrip() for line in lines)


def _value(cell: dict[str, str] | None, with_interval: bool) -> str:
    if cell is None or not cell["ours"]:
        return "not run"
    text = f"{float(cell['ours']):.3f}{cell['marks']:<2}"
    if not with_interval or not cell["low"]:
        return text
    return f"{text} [{float(cell['low']):.3f}, {float(cell['high']):.3f}]"


def _short(label: str) -> str:
    """The label without what stands in brackets, cut to its column."""
    name = label.partition(" (")[0]
    return name if len(name) < LABEL else name[: LABEL - 2] + "…"
