"""The tables as the report's page shows them, and what its provenance dialog says of each value of ours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from irpretrain.config import Config
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.report.cells import (
    NOT_RUN,
    NOTHING_PUBLISHED,
    OFF,
    REPRODUCED,
    AnyCell,
    Cell,
    Contrast,
    Ours,
    Panel,
    Row,
    Table,
    Tally,
    Text,
    Verdict,
    difference_text,
    p_text,
    value_text,
)
from irpretrain.report.lineage import Lineage
from irpretrain.report.markdown import verdict_lines
from irpretrain.report.naming import dataset_label, model_label, regime_label


class CellBook:
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
        facts = [
            *(self._of_file(ours) if ours.source else self._of_run(ours)),
            ("Measure", ours.measure),
            ("Value", value_text(ours, marks=False)),
            (ours.counted.capitalize(), f"{ours.queries:,}"),
        ]
        if ours.run.regime == FIRST_STAGE:
            facts.append(("Seeds", "none: nothing is trained"))
        elif ours.seeds:
            facts.append(("Seeds", ", ".join(str(seed) for seed in ours.seeds)))
        if cell.published is not None:
            facts.append(("Published", cell.published.printed))
        facts += [
            (f"Against {c.over}", f"{difference_text(c.difference)}, {p_text(c.p)}") for c in ours.comparisons
        ]
        shown = [v for v in cell.verdicts if v.outcome != NOTHING_PUBLISHED]
        facts += [
            ("Verdict" + (f" on {v.mark}" if v.mark else ""), f"{v.outcome}: {v.reason}") for v in shown
        ]
        if not ours.source:
            return {"facts": facts, "runs": self._lineage.runs(ours.run, ours.seeds)}
        maker = self._lineage.maker(ours.source)
        return {"facts": facts, "runs": [] if maker is None else [maker]}

    def _of_run(self, ours: Ours) -> list[tuple[str, str]]:
        run = ours.run
        return [
            ("Model", model_label(self._config, run.model)),
            ("Data set", dataset_label(self._config, run.dataset, run.candidates)),
            ("Regime", regime_label(run.regime)),
        ]

    def _of_file(self, ours: Ours) -> list[tuple[str, str]]:
        return [("Model", ours.run.model), ("Data", ours.run.dataset), ("File", ours.source)]

    def reachable(self) -> list[int]:
        """Return every record that leads to a cell."""
        return self._lineage.reachable(number for cell in self.cells for number in cell["runs"])


@dataclass(frozen=True)
class CellView:
    """A cell as the template shows it; `sort` is the number it is sorted by, or empty; `outcomes` are its verdicts."""

    sort: str
    published: str = ""
    value: str = ""
    marks: str = ""
    bounds: str = ""
    text: str = ""
    reason: str = ""
    book: int = -1
    chips: tuple[tuple[str, str, str], ...] = ()
    outcomes: tuple[str, ...] = ()


def table_view(table: Table, book: CellBook) -> dict[str, Any]:
    """Return what the template needs of a table."""
    return {
        "name": table.name,
        "paper": table.paper,
        "title": table.heading,
        "panels": [
            {
                "title": panel.title,
                "not_run": _not_run(panel),
                "rows_are": panel.rows_are,
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
        "reasons": [(mark, reason) for reason, mark in table.reasons.items()],
        "marks": [line for panel in table.panels for line in verdict_lines(panel)],
        "notes": table.notes,
        "source": table.source,
    }


def _not_run(panel: Panel) -> bool:
    """Whether nothing that a panel asks for was run, so that it can stay shut."""
    asked = (
        isinstance(cell, Cell) or (isinstance(cell, Text) and cell.outcome)
        for row in panel.rows
        for cell in row.cells
    )
    return not panel.is_filled() and any(asked)


def _split(row: Row) -> tuple[str, str]:
    """A row's label without what stands in brackets, and in small letters that, and what fills the row here."""
    label, _, bracket = row.label.partition(" (")
    filled_by = "" if row.filled_by in ("", row.label) else row.filled_by
    ours = f"ours: {filled_by}" if filled_by and not filled_by.startswith("ours") else filled_by
    return label, "; ".join(part for part in (bracket.removesuffix(")"), ours) if part)


def _cell_view(table: Table, cell: AnyCell, book: CellBook) -> CellView:
    if isinstance(cell, Contrast):
        comparison = cell.comparison
        if comparison is None:
            return CellView("", text="–")
        return CellView(
            f"{comparison.difference:.6f}",
            text=difference_text(comparison.difference),
            bounds=p_text(comparison.p),
        )
    if isinstance(cell, Tally):
        return CellView("" if cell.order is None else str(cell.order), cell.printed, text=cell.ours or "–")
    if isinstance(cell, Text):
        if cell.outcome:
            return CellView(cell.text, chips=((cell.outcome, "", cell.detail),), bounds=cell.detail)
        return CellView(cell.text, text=cell.text, bounds=cell.detail)
    outcomes = tuple(dict.fromkeys(verdict.outcome for verdict in cell.verdicts))
    if cell.ours is None:
        mark = table.reasons.get(cell.not_run, "")
        sort = f"{cell.published.value:.6f}" if cell.published else ""
        return CellView(
            sort,
            cell.printed,
            text=f"not run ({mark})" if mark else "–",
            reason=cell.not_run,
            outcomes=outcomes,
        )
    ours = cell.ours
    number, _, bounds = value_text(ours, marks=False).partition(" ")
    return CellView(
        f"{ours.mean:.6f}",
        cell.printed,
        value=number,
        marks=ours.marks,
        bounds=bounds,
        book=book.number(table.name, cell, ours),
        chips=tuple(_chips(cell.verdicts)),
        outcomes=outcomes,
    )


def _chips(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str, str]]:
    """(outcome, mark, reason) of each verdict; a mark that speaks of several baselines has one chip for all."""
    for mark, marked in groupby((v for v in verdicts if v.kind), key=lambda verdict: verdict.mark):
        group = list(marked)
        outcomes = [verdict.outcome for verdict in group]
        if len(group) == 1:
            yield outcomes[0], mark, group[0].reason
        else:
            outcome = next(o for o in (OFF, REPRODUCED, NOT_RUN) if o in outcomes)
            yield outcome, mark, ". ".join(f"{v.against}: {v.outcome}, {v.reason}" for v in group)
