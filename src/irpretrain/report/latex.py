r"""A table as LaTeX: `table*`s with a booktabs `tabular` for each panel, and the notes as text after it. Needs
\usepackage{booktabs,graphicx,textcomp}."""

import math
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from irpretrain.atomic import write_text
from irpretrain.report.cells import (
    AnyCell,
    Cell,
    Contrast,
    Ours,
    Panel,
    Row,
    Table,
    Tally,
    Text,
    difference_text,
    p_text,
)

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\ldots{}", "\u00a0": "~", "·": r"$\cdot$",
    "≤": r"$\le$", "≥": r"$\ge$", "×": r"$\times$", "−": "$-$", "±": r"$\pm$", "→": r"$\to$", "√": r"$\surd$",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$",
    "*": r"$^{*}$", "†": r"$^{\dagger}$", "‡": r"$^{\ddagger}$",
}  # fmt: skip
SHRINK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Scales a tabular down to the line's width where it is wider, and never up."""
HEADING_LINES, LINES_OF_A_PAGE = 5, 48
"""Lines of a panel beside its rows, and what fits on a page of the class `article`."""
MARKS = {"*": "*", "†": r"\dagger", "‡": r"\ddagger", "↓": r"\downarrow", "↑": r"\uparrow"}


def write_latex(table: Table, path: str | Path) -> None:
    """Write a table as LaTeX."""
    write_text(path, latex(table))


def escape(text: str) -> str:
    """Return `text` with everything that LaTeX would interpret made literal.

    A character that pdfLaTeX has no glyph for becomes its ASCII base letter, or a question mark.
    """
    return "".join(SPECIAL.get(character) or _plain(character) for character in " ".join(text.split()))


def _plain(character: str) -> str:
    if ord(character) < 127:
        return character
    # pdfLaTeX reads the accented letters of Latin scripts; other scripts would stop it.
    if ord(character) < 0x180 and character.isalpha():
        return character
    base = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return "".join(SPECIAL.get(c, c) for c in base) or "?"


def latex(table: Table) -> str:
    """Return a table as LaTeX: its panels in as many floats as pages need, then what stands under them."""
    label = f"tab:{table.name.replace('_', '-')}"
    caption = escape(table.heading)
    lines = [
        r"% Needs \usepackage[utf8]{inputenc}, \usepackage[T1]{fontenc}, \usepackage{booktabs,graphicx,textcomp}"
    ]
    for number, panels in enumerate(_pages(table)):
        again = [r"\addtocounter{table}{-1}", rf"\caption{{{caption} (continued)}}"]
        lines += [r"\begin{table*}", r"\centering\small"]
        lines += again if number else [rf"\caption{{{caption}}}", rf"\label{{{label}}}"]
        for panel in panels:
            lines += [rf"\par\medskip\textit{{{escape(panel.title)}}}\par\smallskip", *_tabular(table, panel)]
        lines.append(r"\end{table*}")
    # Outside the float: what of a float lies below the page's end is lost.
    lines.append(rf"{{\footnotesize\sloppy\noindent\textbf{{Notes to Table~\ref{{{label}}}.}}")
    lines += [rf"\par ({mark}) not run: {escape(reason)}" for reason, mark in table.reasons.items()]
    lines += [rf"\par {escape(note)}" for note in table.notes]
    lines.append(r"\par}")
    return "\n".join(lines) + "\n"


def _pages(table: Table) -> Iterator[list[Panel]]:
    """The panels of each float; a float longer than a page is cut off at its end."""
    together, filled = list[Panel](), 0
    for panel in table.panels:
        lines = HEADING_LINES + sum(_lines(row) for row in panel.rows)
        if together and filled + lines > LINES_OF_A_PAGE:
            yield together
            together, filled = [], 0
        together, filled = [*together, panel], filled + lines
    yield together


def _lines(row: Row) -> int:
    """Two for a row with an interval or a p-value under its numbers."""
    stacked = (c.ours is not None and not math.isnan(c.ours.low) for c in row.cells if isinstance(c, Cell))
    return 2 if any(stacked) or any(isinstance(c, Contrast) for c in row.cells) else 1


def _tabular(table: Table, panel: Panel) -> list[str]:
    width = len(panel.columns)
    lines = [SHRINK, rf"\begin{{tabular}}{{l{'r' * width}}}", r"\toprule"]
    groups = [rf"\multicolumn{{{span}}}{{c}}{{{escape(group)}}}" for group, span in panel.groups()]
    lines.append(" & ".join(["", *groups]) + r" \\")
    start = 2
    rules = []
    for _, span in panel.groups():
        rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    lines.append("".join(rules))
    lines.append(
        " & ".join([escape(panel.rows_are), *(_heading(column.label) for column in panel.columns)]) + r" \\"
    )
    lines.append(r"\midrule")
    for row in panel.rows:
        cells = [_cell(table, cell) for cell in row.cells]
        lines.append(" & ".join([_label(row.label), *cells]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}}"]


def _label(label: str) -> str:
    """A row's label; PROP_Wikipedia gets its subscript."""
    stem, _, subscript = label.partition("_")
    if stem.isalpha() and subscript.isalpha():
        return rf"{stem}\textsubscript{{{subscript}}}"
    return escape(label)


def _cell(table: Table, cell: AnyCell) -> str:
    if isinstance(cell, Contrast):
        comparison = cell.comparison
        return (
            _stack(difference_text(comparison.difference), escape(p_text(comparison.p)))
            if comparison
            else "--"
        )
    if isinstance(cell, Tally):
        return " / ".join(text for text in (cell.printed, cell.ours) if text) or "--"
    if isinstance(cell, Text):
        return escape(cell.whole)
    published = _value(cell.published.number, cell.published.marks) if cell.published else cell.gap
    if cell.ours is None:
        reason = rf"({table.reasons[cell.not_run]})" if cell.not_run else ""
        return rf"{published or '--'}\,{reason}" if reason else published or "--"
    ours = _ours(cell.ours)
    return f"{published} / {ours}" if published else ours


def _ours(ours: Ours) -> str:
    text = _value(f"{ours.mean:.3f}", ours.marks)
    return text if math.isnan(ours.low) else _stack(text, f"[{ours.low:.3f}, {ours.high:.3f}]")


def _stack(above: str, below: str) -> str:
    """Two lines in one cell, the lower one small: a table stays narrow enough for a page."""
    return rf"\raisebox{{-1ex}}{{\shortstack[r]{{{above}\\{{\scriptsize {below}}}}}}}"


def _heading(label: str) -> str:
    first, separator, second = label.partition(" against ")
    return rf"\shortstack[r]{{{escape(first)}\\against {escape(second)}}}" if separator else escape(label)


def _value(number: str, marks: str) -> str:
    return number + (rf"$^{{{''.join(MARKS.get(mark, escape(mark)) for mark in marks)}}}$" if marks else "")
