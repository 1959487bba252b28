"""A table as Markdown (GitHub's pipe tables), as CSV with one line per cell, and as LaTeX."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from irpretrain.config.labels import DEFAULT_CANDIDATES
from irpretrain.evaluation.significance import bounds_text
from irpretrain.foundation.atomic import write_csv
from irpretrain.foundation.characters import markdown_escape
from irpretrain.report.cells import (
    AnyCell,
    Cell,
    Panel,
    Table,
    TextCell,
    difference_text,
    outcomes_text,
    plain_text,
    value_text,
)
from irpretrain.report.pages import templates

# A table as Markdown (GitHub's pipe tables).


def markdown(table: Table) -> str:
    """Return a table as Markdown: one pipe table a panel, then the notes on cells and on the table."""
    paragraphs = [f"# {markdown_escape(table.heading)}"]
    paragraphs += [markdown_escape(" ".join(table.summary))] if table.summary else []
    for panel in table.panels:
        paragraphs += [f"**{markdown_escape(panel.title)}**", _pipe_table(table, panel)]
    if table.letters:
        paragraphs.append(
            "\n".join(f"- ({letter}) {markdown_escape(note)}" for note, letter in table.letters.items())
        )
    paragraphs += ["**Notes**", "\n".join(f"- {markdown_escape(note)}" for note in table.notes)]
    if table.source:
        paragraphs.append(f"Source of the published numbers: {markdown_escape(table.source)}")
    return "\n\n".join(paragraphs) + "\n"


def cell_text(table: Table, cell: AnyCell) -> str:
    """Return a cell as plain text: "0.459* · ours 0.412*† [0.373, 0.451], -0.047", or "0.459* · not run (a)"."""
    if isinstance(cell, TextCell):
        return plain_text(cell)
    note_letter = f" ({table.letters[cell.note]})" if cell.note else ""
    if cell.ours is None:
        our_text = f"not run{note_letter}" if note_letter else "–"
    else:
        difference_suffix = "" if cell.difference is None else f", {difference_text(cell.difference)}"
        our_text = f"{'ours ' if cell.printed else ''}{value_text(cell.ours)}{difference_suffix}{note_letter}"
    return f"{cell.printed} · {our_text}" if cell.printed else our_text


def _pipe_table(table: Table, panel: Panel) -> str:
    has_models = any(row.filled_by for row in panel.rows)
    headings = [panel.row_heading, *(["Ours"] if has_models else [])]
    headings += [f"{column.group} {column.label}" for column in panel.columns]
    rows = (
        [
            row.label,
            *([row.filled_by or "–"] if has_models else []),
            *(cell_text(table, cell) for cell in row.cells),
        ]
        for row in panel.rows
    )
    return pipe_table(headings, rows, len(panel.columns))


def pipe_table(headings: Sequence[str], rows: Iterable[Sequence[str]], number_columns: int = 0) -> str:
    """Return a table of Markdown; the last so many columns hold numbers."""
    alignments = ["---"] * (len(headings) - number_columns) + ["---:"] * number_columns
    lines = ([*map(markdown_escape, texts)] for texts in rows)
    return "\n".join(
        f"| {' | '.join(line)} |" for line in ([*map(markdown_escape, headings)], alignments, *lines)
    )


# A table as CSV, one line per cell.


CELL_COLUMNS = (
    "table", "panel", "row", "label", "filled_by", "dataset", "candidates", "model", "regime", "measure", "published",
    "published_marks", "published_note", "ours", "low", "high", "marks", "seeds", "queries", "over", "difference", "p",
    "published_outcomes", "outcomes", "published_difference", "note",
)  # fmt: skip


def write_cells(table: Table, path: str | Path) -> None:
    """Write one line for each cell; lists within a cell (seeds, baselines) are separated by semicolons, wins, ties and
    losses by slashes."""
    rows = [
        (table.name, panel.title, row.key, row.label, row.filled_by, *_csv_cell(cell))
        for panel in table.panels
        for row in panel.rows
        for cell in row.cells
        if isinstance(cell, Cell)
    ]
    write_csv(path, CELL_COLUMNS, rows)


def _csv_cell(cell: Cell) -> tuple[object, ...]:
    published, ours = cell.published, cell.ours
    candidates = "" if cell.candidates == DEFAULT_CANDIDATES else cell.candidates
    comparisons = ours.comparisons if ours else ()
    return (
        cell.dataset,
        ours.run.candidates if ours else candidates,
        ours.run.model if ours else "",
        cell.regime,
        cell.measure,
        published.number if published else "",
        published.marks if published else "",
        cell.gap,
        *(_csv_number(value) for value in ((ours.mean, ours.low, ours.high) if ours else (math.nan,) * 3)),
        ours.marks if ours else "",
        ";".join(str(seed) for seed in ours.seeds) if ours else "",
        ours.sample_size if ours else "",
        ";".join(comparison.label for comparison in comparisons),
        ";".join(_csv_number(comparison.difference) for comparison in comparisons),
        ";".join(_csv_number(comparison.p, ".3g") for comparison in comparisons),
        cell.printed_outcomes,
        ";".join(outcomes_text(comparison.outcomes) for comparison in comparisons),
        "" if cell.difference is None else _csv_number(cell.difference),
        cell.note,
    )


def _csv_number(value: float, number_format: str = "z.6f") -> str:
    return "" if math.isnan(value) else format(value, number_format)


# A table as LaTeX: a `table*` with a booktabs `tabular` for each panel, and the notes as text after them.


LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\ldots{}", "\u00a0": "~", "·": r"$\cdot$",
    "≤": r"$\le$", "≥": r"$\ge$", "×": r"$\times$", "−": "$-$", "±": r"$\pm$", "→": r"$\to$", "√": r"$\surd$",
    "↓": r"$^{\downarrow}$", "↑": r"$^{\uparrow}$",
    "¹": r"$^{1}$", "²": r"$^{2}$", "³": r"$^{3}$", "*": r"$^{*}$", "†": r"$^{\dagger}$", "‡": r"$^{\ddagger}$",
    "ᵇ": r"$^{b}$", "ᶜ": r"$^{c}$",
}  # fmt: skip


def latex_escape(text: str) -> str:
    """Return `text` with everything that LaTeX would interpret made literal.

    A character that pdfLaTeX has no glyph for becomes its ASCII base letter, or a question mark.
    """
    return "".join(
        LATEX_SPECIAL.get(character) or _latex_character(character) for character in " ".join(text.split())
    )


def _latex_character(character: str) -> str:
    if character.isascii():
        return character
    # pdfLaTeX reads the accented letters of Latin scripts; other scripts would stop it.
    if ord(character) < 0x180 and character.isalpha():
        return character
    base = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return "".join(LATEX_SPECIAL.get(letter, letter) for letter in base) or "?"


def latex(table: Table) -> str:
    """Return a table as LaTeX: a float for each panel, then what stands under the table."""
    environment = templates(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        keep_trailing_newline=True,
    )
    environment.filters["tex"] = latex_escape
    label = f"tab:{table.name.replace('_', '-')}"
    return environment.get_template("table.tex.j2").render(table=table, label=label, cell_tex=_latex_cell)


def _latex_cell(table: Table, cell: AnyCell) -> str:
    if isinstance(cell, TextCell):
        if cell.printed:
            return " / ".join(latex_escape(text) for text in (cell.printed, cell.text) if text)
        if cell.outcome or not cell.detail:
            return latex_escape(plain_text(cell))
        return _stack(latex_escape(cell.text), latex_escape(cell.detail))
    published = latex_escape(f"{cell.published.number}{cell.published.marks}") if cell.published else cell.gap
    note = rf"\,({table.letters[cell.note]})" if cell.note else ""
    if cell.ours is None:
        return f"{published or '--'}{note}"
    bounds = bounds_text(cell.ours.low, cell.ours.high)
    value = latex_escape(f"{cell.ours.mean:z.3f}{cell.ours.marks}")
    difference = "" if cell.difference is None else f", ${difference_text(cell.difference)}$"
    our_text = f"{_stack(value, bounds) if bounds else value}{difference}{note}"
    return f"{published} / {our_text}" if published else our_text


def _stack(above: str, below: str) -> str:
    return rf"\raisebox{{-1ex}}{{\shortstack[r]{{{above}\\{{\scriptsize {below}}}}}}}"
