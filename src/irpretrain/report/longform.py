"""A table as CSV, one line a cell; and the verdicts of all tables, one line each."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from irpretrain.atomic import write_csv
from irpretrain.report.cells import Cell, Table, outcomes_text

CELL_COLUMNS = (
    "table", "panel", "row", "label", "filled_by", "dataset", "candidates", "model", "regime", "measure", "published",
    "published_marks", "published_note", "ours", "low", "high", "marks", "seeds", "queries", "over", "difference", "p",
    "published_outcomes", "outcomes", "verdict", "reason",
)  # fmt: skip
VERDICT_COLUMNS = (
    "paper", "table", "row", "label", "dataset", "candidates", "measure", "regime", "kind", "against", "published",
    "ours", "low", "high", "difference", "p", "verdict", "reason",
)  # fmt: skip


def write_cells(table: Table, path: str | Path) -> int:
    """Write one line for each cell; lists within a cell (seeds, baselines) are separated by semicolons, wins, ties and
    losses by slashes."""
    rows = [
        (table.name, panel.title, row.key, row.label, row.filled_by, *_cell(cell))
        for panel in table.panels
        for row in panel.rows
        for cell in row.cells
        if isinstance(cell, Cell)
    ]
    write_csv(path, CELL_COLUMNS, rows)
    return len(rows)


def write_verdicts(tables: Sequence[Table], path: str | Path) -> dict[str, int]:
    """Write the verdicts of the papers' tables; return how many there are of each outcome."""
    lines = verdict_lines(tables)
    write_csv(path, VERDICT_COLUMNS, lines)
    return dict(sorted(Counter(str(line[-2]) for line in lines).items()))


def verdict_lines(tables: Iterable[Table]) -> list[tuple[object, ...]]:
    """Return the verdicts of the papers' tables with VERDICT_COLUMNS, each once: a cell may stand in two panels."""
    lines: dict[tuple[object, ...], tuple[object, ...]] = {}
    for table in (t for t in tables if t.paper):
        for panel in table.panels:
            for row in panel.rows:
                for cell in (c for c in row.cells if isinstance(c, Cell)):
                    for line in _verdicts(table, row.label, cell):
                        lines.setdefault(line[:10], line)
    return list(lines.values())


def _cell(cell: Cell) -> tuple[object, ...]:
    published, ours = cell.published, cell.ours
    comparisons = ours.comparisons if ours else ()
    return (
        cell.dataset,
        ours.run.candidates if ours else cell.candidates,
        ours.run.model if ours else "",
        cell.regime,
        cell.measure,
        published.number if published else "",
        published.marks if published else "",
        cell.gap,
        *(_number(value) for value in ((ours.mean, ours.low, ours.high) if ours else (math.nan,) * 3)),
        ours.marks if ours else "",
        ";".join(str(seed) for seed in ours.seeds) if ours else "",
        ours.queries if ours else "",
        ";".join(c.over for c in comparisons),
        ";".join(_number(c.difference) for c in comparisons),
        ";".join(f"{c.p:.3g}" for c in comparisons),
        cell.printed_outcomes,
        ";".join(outcomes_text(c.outcomes) for c in comparisons),
        ";".join(v.outcome for v in cell.verdicts),
        ";".join(v.reason for v in cell.verdicts),
    )


def _verdicts(table: Table, label: str, cell: Cell) -> Iterable[tuple[object, ...]]:
    ours = cell.ours
    for verdict in cell.verdicts:
        made = ours.comparisons if ours else ()
        comparison = next((c for c in made if (c.mark, c.over) == (verdict.mark, verdict.against)), None)
        yield (
            table.paper,
            table.name,
            cell.row,
            label,
            cell.dataset,
            cell.candidates,
            cell.measure,
            cell.regime,
            verdict.kind if verdict.direction == "better" else f"{verdict.kind}: {verdict.direction}",
            verdict.against,
            cell.published.number if cell.published else "",
            *(_number(value) for value in ((ours.mean, ours.low, ours.high) if ours else (math.nan,) * 3)),
            _number(comparison.difference) if comparison else "",
            f"{comparison.p:.3g}" if comparison else "",
            verdict.outcome,
            verdict.reason,
        )


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6f}"
