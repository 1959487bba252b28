"""A table as Markdown (GitHub's pipe tables)."""

import re
from pathlib import Path

from irpretrain.atomic import write_text
from irpretrain.report.cells import (
    AnyCell,
    Cell,
    Contrast,
    Panel,
    Table,
    Tally,
    Text,
    contrast_text,
    tally_text,
    value_text,
)

SPECIAL = re.compile(r"([\\`*_|<>\[\]])")


def write_markdown(table: Table, path: str | Path) -> None:
    """Write a table as Markdown."""
    write_text(path, markdown(table))


def markdown(table: Table) -> str:
    """Return a table as Markdown: one pipe table a panel, then reasons, verdicts and notes."""
    parts = [f"# {escape(table.heading)}"]
    for panel in table.panels:
        parts += [f"**{escape(panel.title)}**", _grid(table, panel)]
    reasons = table.reasons
    if reasons:
        parts.append("\n".join(f"- ({mark}) {escape(reason)}" for reason, mark in reasons.items()))
    marks = [line for panel in table.panels for line in verdict_lines(panel)]
    if marks:
        parts += ["**Verdicts**", "\n".join(f"- {escape(line)}" for line in marks)]
    parts += ["**Notes**", "\n".join(f"- {escape(note)}" for note in table.notes)]
    if table.source:
        parts.append(f"Source of the published numbers: {escape(table.source)}")
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Return `text` with Markdown's special characters made literal, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def cell_text(table: Table, cell: AnyCell) -> str:
    """Return a cell as plain text: "0.459* · ours 0.412*† [0.373, 0.451]", or "0.459* · not run (a)"."""
    if isinstance(cell, Contrast):
        return contrast_text(cell) or "–"
    if isinstance(cell, Tally):
        return tally_text(cell)
    if isinstance(cell, Text):
        return cell.whole
    published = cell.printed
    if cell.ours is None:
        ours = f"not run ({table.reasons[cell.not_run]})" if cell.not_run else "–"
    else:
        ours = value_text(cell.ours)
        if published:
            ours = f"ours {ours} ({cell.verdicts[0].outcome})" if cell.published else f"ours {ours}"
    return f"{published} · {ours}" if published else ours


def verdict_lines(panel: Panel) -> list[str]:
    """Return one line for each mark of the paper that a panel decides."""
    return [
        f"{row.label} {verdict.direction} than {verdict.against} ({column.group} {column.label}): "
        f"{verdict.outcome}; {verdict.reason}"
        for row in panel.rows
        for column, cell in zip(panel.columns, row.cells, strict=True)
        for verdict in (cell.verdicts if isinstance(cell, Cell) else ())
        if verdict.kind == "mark"
    ]


def _grid(table: Table, panel: Panel) -> str:
    filled = any(row.filled_by for row in panel.rows)
    heads = [panel.rows_are, *(["Ours"] if filled else [])]
    heads += [f"{column.group} {column.label}" for column in panel.columns]
    lines = [_line(heads), "|" + "---|" * (2 if filled else 1) + "---:|" * len(panel.columns)]
    for row in panel.rows:
        labels = [row.label, *([row.filled_by or "–"] if filled else [])]
        lines.append(_line([*labels, *(cell_text(table, cell) for cell in row.cells)]))
    return "\n".join(lines)


def _line(texts: list[str]) -> str:
    return "| " + " | ".join(escape(text) for text in texts) + " |"
