"""How many verdicts of each paper, and of each of its tables, have each outcome."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.atomic import read_csv, write_csv
from irpretrain.report.cells import (
    NOT_RUN,
    NOTHING_PUBLISHED,
    OFF,
    OTHER_RECIPE,
    OUTCOMES,
    REPRODUCED,
    Column,
    Panel,
    Row,
    Table,
    Text,
)
from irpretrain.report.latex import write_latex
from irpretrain.report.longform import VERDICT_COLUMNS, verdict_lines
from irpretrain.report.markdown import write_markdown
from irpretrain.report.verdicts import MEANINGS

NAME = "verdict_summary"
KINDS = {"number": "numbers", "mark": "marks"}
"""Kinds of verdicts that decide something, and how several are called."""
COUNTED = ("paper", "table", "kind", "verdict", "count")
"""Columns of the CSV file."""
Key = tuple[str, str, str, str]
"""Paper, table, kind ("number", "mark", or "" where nothing was compared), outcome."""


@dataclass(frozen=True)
class Tallied:
    """The verdicts of a paper (`table` is empty) or of one of its tables: (kind, outcome) → number."""

    paper: str
    table: str
    counts: Counter[tuple[str, str]]

    def of(self, outcome: str, *kinds: str) -> int:
        """Return how many have an outcome, of some kinds or of all."""
        return sum(self.counts[kind, outcome] for kind in kinds or (*KINDS, ""))

    @property
    def all(self) -> int:
        """How many there are."""
        return self.counts.total()


def of_tables(tables: Iterable[Table]) -> Counter[Key]:
    """Return the counts of the papers' tables. A cell that stands in two panels counts once, a cell with a number and
    two marks three times."""
    lines = (map(str, line) for line in verdict_lines(tables))
    return Counter(_key(dict(zip(VERDICT_COLUMNS, line, strict=True))) for line in lines)


def of_files(verdicts: Sequence[str | Path]) -> Counter[Key]:
    """Return the counts of `results/verdicts/<paper>.csv`."""
    counts: Counter[Key] = Counter()
    for path in verdicts:
        counts.update(map(_key, read_csv(path)))
    return counts


def _key(line: Mapping[str, str]) -> Key:
    return line["paper"], line["table"], line["kind"].partition(":")[0], line["verdict"]


def tallied(counts: Counter[Key]) -> list[Tallied]:
    """Return each paper in order of appearance, followed by its tables."""
    papers: dict[str, dict[str, Counter[tuple[str, str]]]] = {}
    for (paper, table, kind, outcome), number in counts.items():
        for name in ("", table):
            papers.setdefault(paper, {}).setdefault(name, Counter())[kind, outcome] += number
    return [
        Tallied(paper, table, of_table)
        for paper, tables in papers.items()
        for table, of_table in tables.items()
    ]


def write_summary(verdicts: Sequence[str | Path], names: dict[str, str], directory: str | Path) -> int:
    """Write the counts of `results/verdicts/<paper>.csv` as `verdict_summary.md`, `.csv` and `.tex`; return their rows.

    Args:
        names: key of a paper → its name.
    """
    counts = of_files(verdicts)
    table = summary_table(tallied(counts), names)
    base = Path(directory) / NAME
    write_markdown(table, base.with_suffix(".md"))
    write_latex(table, base.with_suffix(".tex"))
    write_csv(base.with_suffix(".csv"), COUNTED, ((*key, n) for key, n in counts.items()))
    return len(counts)


def summary_table(rows: Sequence[Tallied], names: dict[str, str]) -> Table:
    """Return the counts as a table: a panel of papers, and one of their tables."""
    groups = [(outcome, kind) for outcome in (REPRODUCED, OFF) for kind in KINDS]
    columns = (
        *(Column(outcome.capitalize(), KINDS[kind]) for outcome, kind in groups),
        *(Column("Not compared", outcome) for outcome in (NOT_RUN, NOTHING_PUBLISHED, OTHER_RECIPE)),
    )

    def row(tally: Tallied) -> Row:
        numbers = [tally.of(*group) for group in groups]
        numbers += [tally.of(outcome) for outcome in (NOT_RUN, NOTHING_PUBLISHED, OTHER_RECIPE)]
        label = tally.table or names.get(tally.paper, tally.paper)
        return Row(label, label, "", tuple(Text(str(number)) for number in numbers))

    papers = Panel("Papers", columns, tuple(row(tally) for tally in rows if not tally.table), "Paper")
    tables = Panel("Tables", columns, tuple(row(tally) for tally in rows if tally.table), "Table")
    notes = (
        "A cell with a number and two marks counts three times; one that stands in two panels counts once.",
        *(f"{outcome}: {meaning}" for outcome, meaning in MEANINGS.items()),
    )
    return Table(NAME, "", "Verdicts of each paper's tables", (papers, tables), notes)


def summary_views(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return what the report shows: of each paper and table the counts, and where its first cell with each outcome
    stands."""
    names = {table.paper: table.paper_name or table.paper for table in tables}
    titles = {table.name: table.heading.partition(":")[0] for table in tables}
    return [
        {
            "paper": tally.paper,
            "table": tally.table,
            "label": titles[tally.table] if tally.table else names[tally.paper],
            "all": tally.all,
            "counts": list(_counts(tally, tables)),
        }
        for tally in tallied(of_tables(tables))
    ]


def _counts(tally: Tallied, tables: Sequence[Table]) -> Iterator[dict[str, Any]]:
    for outcome in OUTCOMES:
        decided = outcome in (REPRODUCED, OFF) and tally.of(outcome) > 0
        kinds = [_several(tally.of(outcome, kind), kind) for kind in KINDS] if decided else []
        yield {
            "outcome": outcome,
            "count": tally.of(outcome),
            "detail": ", ".join(kinds),
            "first": next((table.name for table in _with(outcome, tally, tables)), ""),
        }


def _several(number: int, kind: str) -> str:
    return f"{number:,} {kind if number == 1 else KINDS[kind]}"


def _with(outcome: str, tally: Tallied, tables: Sequence[Table]) -> Iterator[Table]:
    """The tables that have an outcome."""
    for table in tables:
        asked = table.name == tally.table if tally.table else table.paper == tally.paper
        if asked and any(v.outcome == outcome for cell in table.cells() for v in cell.verdicts):
            yield table
