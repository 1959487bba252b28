"""What the report's page shows of tables and cells, and what its provenance dialog says of each value of ours."""

from dataclasses import dataclass, replace
from typing import Any

from irpretrain.config import Config
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.report.cells import (
    AnyCell,
    Cell,
    Ours,
    Panel,
    Row,
    Table,
    TextCell,
    bounds_text,
    difference_text,
    p_text,
    value_text,
)
from irpretrain.report.lineage import Lineage
from irpretrain.report.naming import dataset_label, model_label, regime_label


class CellBook:
    """Numbers the cells of ours and collects what their provenance dialog shows."""

    def __init__(self, config: Config, lineage: Lineage) -> None:
        self._config, self._lineage = config, lineage
        self.cells: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, Ours], int] = {}

    def number(self, table: str, cell: Cell, ours: Ours) -> int:
        key = (table, ours)
        if key not in self._numbers:
            self._numbers[key] = len(self.cells)
            self.cells.append(self._entry(cell, ours))
        return self._numbers[key]

    def _entry(self, cell: Cell, ours: Ours) -> dict[str, Any]:
        run = ours.run
        if ours.source:
            facts = [("Model", run.model), ("Data", run.dataset), ("File", ours.source)]
        else:
            facts = [
                ("Model", model_label(self._config, run.model)),
                ("Data set", dataset_label(self._config, run.dataset, run.candidates)),
                ("Regime", regime_label(run.regime)),
            ]
        facts += [
            ("Measure", ours.measure),
            ("Value", value_text(ours, marks=False)),
            (ours.counted.capitalize(), f"{ours.queries:,}"),
        ]
        if run.regime == FIRST_STAGE:
            facts.append(("Seeds", "none: nothing is trained"))
        elif ours.seeds:
            facts.append(("Seeds", ", ".join(str(seed) for seed in ours.seeds)))
        if cell.published is not None:
            facts.append(("Published", cell.published.printed))
        facts += [
            (f"Against {c.over}", f"{difference_text(c.difference)}, {p_text(c.p)}") for c in ours.comparisons
        ]
        if cell.difference is not None:
            facts.append(("Ours minus published", difference_text(cell.difference)))
        if cell.note:
            facts.append(("Note", cell.note))
        if not ours.source:
            return {"facts": facts, "runs": self._lineage.runs(run, ours.seeds)}
        maker = self._lineage.maker(ours.source)
        return {"facts": facts, "runs": [] if maker is None else [maker]}

    def reachable(self) -> list[int]:
        """Return every record that leads to a cell."""
        return self._lineage.reachable(number for cell in self.cells for number in cell["runs"])


@dataclass(frozen=True)
class CellView:
    """A cell as the template shows it; `sort` is the number it is sorted by, or empty; `outcome` is a claim's."""

    sort: str
    published: str = ""
    value: str = ""
    marks: str = ""
    bounds: str = ""
    text: str = ""
    difference: str = ""
    letter: str = ""
    note: str = ""
    book: int = -1
    outcome: str = ""


def displayed_panels(table: Table) -> list[Panel]:
    """Return the panels and rows with a value of ours; all rows where the paper's numbers stand beside ours."""
    panels = []
    for panel in filter(Panel.is_filled, table.panels):
        is_printed = any(cell.printed for row in panel.rows for cell in row.cells)
        panels.append(replace(panel, rows=tuple(row for row in panel.rows if is_printed or row.is_filled())))
    return panels


def left_out(table: Table) -> str:
    """Return what of a table is not on the page, which its files have, in one line; empty for nothing."""
    parts = [f"{panel.title} ({len(panel.rows)} rows)" for panel in table.panels if not panel.is_filled()]
    displayed = {row for panel in displayed_panels(table) for row in panel.rows}
    rows = (row for panel in table.panels if panel.is_filled() for row in panel.rows if row not in displayed)
    names = ", ".join(dict.fromkeys(row.short_label for row in rows))
    return "; ".join(filter(None, [*parts, names]))


def displayed_letters(table: Table) -> list[tuple[str, str]]:
    """Return (letter, note) of each note on a cell of the page."""
    on_page = replace(table, panels=tuple(displayed_panels(table))).letters
    return [(letter, note) for note, letter in table.letters.items() if note in on_page]


def row_detail(row: Row) -> str:
    """Return what stands in brackets in a row's label, and what fills the row here."""
    _, _, bracket = row.label.partition(" (")
    filled_by = "" if row.filled_by in ("", row.label) else row.filled_by
    ours = f"ours: {filled_by}" if filled_by and not filled_by.startswith("ours") else filled_by
    return "; ".join(part for part in (bracket.removesuffix(")"), ours) if part)


def cell_view(book: CellBook, table: Table, cell: AnyCell, decimals: int = 3) -> CellView:
    """Return a cell of the page; bounds of intervals have so many `decimals`."""
    if isinstance(cell, TextCell):
        order = cell.text if cell.order is None else cell.order
        if cell.outcome:
            return CellView(order, outcome=cell.outcome, note=cell.detail, bounds=cell.detail)
        return CellView(order, cell.printed, text=cell.text or "–", bounds=cell.detail)
    letter = table.letters.get(cell.note, "")
    if cell.ours is None:
        sort = f"{cell.published.value:.6f}" if cell.published else ""
        text = f"– ({letter})" if letter else "–"
        return CellView(sort, cell.printed, text=text, note=cell.note)
    ours = cell.ours
    return CellView(
        f"{ours.mean:.6f}",
        cell.printed,
        value=f"{ours.mean:.3f}",
        marks=ours.marks,
        bounds=bounds_text(ours.low, ours.high, decimals),
        book=book.number(table.name, cell, ours),
        difference="" if cell.difference is None else difference_text(cell.difference),
        letter=letter,
        note=cell.note,
    )
