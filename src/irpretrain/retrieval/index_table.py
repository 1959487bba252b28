"""What indexes cost, as a table beside the index of term frequencies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_text

HEADER = (
    "| index | documents | without terms | different terms | postings | size | search | query, median | query, mean |\n"
    "|---|---:|---:|---:|---:|---:|---|---:|---:|\n"
)


def write_index_table(costs: str | Path, output: str | Path) -> None:
    """Write what `measure_indexes` found as Markdown; ratios are to the first index."""
    rows: list[dict[str, Any]] = json.loads(Path(costs).read_text(encoding="utf-8"))
    first = rows[0]
    lines = [_row(row, first) for row in rows]
    queries = max(row["queries"] for row in rows)
    note = (
        f"\nIn brackets: of {first['index']}. Times are of this machine: BM25 as the index's first stage has it, one "
        f"thread, {queries} queries without their analysis, each the fastest of five rounds that go over all indexes "
        "in turn.\n"
    )
    write_text(output, HEADER + "".join(lines) + note)


def search_shown(row: dict[str, Any]) -> str:
    """Return what a line of `measure_indexes` says of the search that was timed."""
    return f"k1 = {row['k1']:g}, b = {row['b']:g}, depth {row['depth']:,}"


def _row(row: dict[str, Any], first: dict[str, Any]) -> str:
    def against(name: str, shown: str) -> str:
        return shown if row is first or not first[name] else f"{shown} ({row[name] / first[name]:.2f})"

    cells = [
        row["index"],
        f"{row['documents']:,}",
        f"{row['documents_without_terms']:,}",
        against("terms", f"{row['terms']:,}"),
        against("postings", f"{row['postings']:,}"),
        against("bytes", f"{row['bytes'] / 1e6:,.2f} MB"),
        search_shown(row),
        *(_milliseconds(row, first, name) for name in ("median_ms", "mean_ms")),
    ]
    return f"| {' | '.join(cells)} |\n"


def _milliseconds(row: dict[str, Any], first: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "no queries"
    ratio = "" if row is first or not first[name] else f" ({row[name] / first[name]:.2f})"
    return f"{row[name]:.3f} ms{ratio}"
