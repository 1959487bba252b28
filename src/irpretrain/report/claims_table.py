"""The table of a paper's claims: difference, test, power and verdict, or why a claim was not tested."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from irpretrain.claims.verdicts import MEANINGS, NOT_RUN, NOT_TESTABLE
from irpretrain.config import Config
from irpretrain.papers.published import Published
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table, Text
from irpretrain.report.claim_answers import TESTED, Answer, read_answers
from irpretrain.report.naming import dataset_label

TESTED_COLUMNS = (
    "Verdict", "Better minus worse", "p", "p after Holm", "Power", "Smallest effect", "Queries × seeds", "On",
)  # fmt: skip
UNTESTED_COLUMNS = ("Verdict", "Would compare", "Place in the paper")
NOTES = (
    "One row is one statement of the paper. Of runs, the interval is Student's 95 % interval of the difference, paired "
    "over queries, for other queries and other seeds of training.",
    "Power: how probable an interval above 0 would be if the true difference were the smallest effect of interest.",
    "Holm: over the claims of this paper that were tested.",
    *(f"{verdict}: {meaning}" for verdict, meaning in MEANINGS.items()),
)


def claims_tables(
    published: Sequence[Published], config: Config, claims: Iterable[str | Path]
) -> dict[str, Table]:
    """Return the table of each paper with answers, by the paper's key.

    Args:
        claims: `results/claims/<paper>.csv`.
    """
    tables = {}
    for path in claims:
        answers = list(read_answers([path]))
        paper = next((paper for paper in published if answers and paper.paper == answers[0].paper), None)
        if paper is not None:
            tables[paper.paper] = _table(paper, config, answers, str(path))
    return tables


def _table(paper: Published, config: Config, answers: Sequence[Answer], source: str) -> Table:
    tested = [_tested(row, config, source) for row in answers if row.verdict in TESTED]
    panels = [Panel("Tested by this run", _columns(TESTED_COLUMNS), tuple(tested), "Claim")] if tested else []
    for title, verdict in (("Not run", NOT_RUN), ("Not testable here", NOT_TESTABLE)):
        rows = tuple(_untested(row) for row in answers if row.verdict == verdict)
        if rows:
            panels.append(Panel(title, _columns(UNTESTED_COLUMNS), rows, "Claim"))
    # The table has no paper: verdicts on printed numbers are counted apart from verdicts on claims.
    name, title = f"{paper.paper}_claims", "Claims: what the paper says, tested"
    return Table(name, "", title, tuple(panels), NOTES, paper.citation, paper.name)


def _columns(labels: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column("", label) for label in labels)


def _tested(row: Answer, config: Config, source: str) -> Row:
    sides, on = f"{row.better} – {row.worse}", _place_text(row, config)
    ours = Ours.of_file(
        (on, sides), row.measure, (row.difference, row.low, row.high), row.queries, "queries", source
    )
    cells = (
        Text(row.verdict, row.reason, row.verdict),
        Cell(row.claim, row.dataset, row.measure, "", None, ours, (), row.candidates),
        _number(row.p, "{:.2g}"),
        _number(row.p_holm, "{:.2g}"),
        _number(row.power, "{:.2f}"),
        _number(row.effect, "{:.3f}"),
        Text(f"{row.queries:,}" + (f" × {row.seeds}" if row.seeds else "")),
        Text(on),
    )
    return Row(row.claim, row.says, sides, cells)


def _untested(row: Answer) -> Row:
    sides = f"{row.better} – {row.worse}" if row.better else "–"
    cells = (Text(row.verdict, row.reason, row.verdict), Text(sides), Text(row.place))
    return Row(row.claim, row.says, "", cells)


def _place_text(row: Answer, config: Config) -> str:
    if not row.dataset:
        return row.measure
    place = dataset_label(config, row.dataset, row.candidates or "bm25")
    return f"{place}, {row.measure}"


def _number(value: float, form: str) -> Text:
    return Text("–") if math.isnan(value) else Text(form.format(value))
