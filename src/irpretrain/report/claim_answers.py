"""What a run says of each claim of a paper, as rows of `results/claims.csv`."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic.dataclasses import dataclass

from irpretrain.config import Config
from irpretrain.config.labels import configured_label, dataset_label, regime_label
from irpretrain.config.papers import Published
from irpretrain.evaluation.claims import Claim, Claims, has_claims, read_claims
from irpretrain.evaluation.significance import holm_where_known
from irpretrain.evaluation.verdicts import (
    MEANINGS,
    NOT_RUN,
    NOT_TESTABLE,
    TESTED,
    VERDICTS,
    Ruling,
    decide,
    power,
)
from irpretrain.foundation.atomic import read_csv, write_csv
from irpretrain.foundation.contracts import CLAIMS
from irpretrain.foundation.errors import MAKE_AGAIN, refusing
from irpretrain.report.axiom_results import Number
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table, TextCell, p_text
from irpretrain.report.claim_tests import ClaimComparison, Finder
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import RunName


@dataclass(frozen=True)
class Answer:
    """A row of the contract `claims`, which tells its columns; what was not tested has no numbers."""

    paper: str
    claim: str
    says: str
    place: str
    better: str = ""
    worse: str = ""
    dataset: str = ""
    candidates: str = ""
    measure: str = ""
    queries: int = 0
    seeds: int = 0
    difference: Number = math.nan
    low: Number = math.nan
    high: Number = math.nan
    p: Number = math.nan
    p_holm: Number = math.nan
    effect: Number = math.nan
    power: Number = math.nan
    verdict: str = NOT_RUN
    reason: str = ""
    differs: str = ""
    counted: str = ""
    qualification: str = ""


def answer_claims(paper: str, config: Config, files: ResultFiles, output: str | Path) -> dict[str, Any]:
    """Write what a run says of each claim of a paper, which may have none; return the number of claims by verdict."""
    rows = answer(read_claims(paper), Finder.read(files, config)) if has_claims(paper) else []
    write_answers(rows, output)
    return {"claims": count_answers([output])}


def answer(claims: Claims, finder: Finder) -> list[Answer]:
    """Return a row for each claim of a paper, in the file's order; p-values are corrected over those that have one."""
    answers = [_answer(claims, name, finder) for name in claims.claims]
    corrected = holm_where_known(row.p for row in answers)
    return [replace(row, p_holm=p) for row, p in zip(answers, corrected, strict=True)]


def _answer(claims: Claims, name: str, finder: Finder) -> Answer:
    claim = claims.claims[name]
    row = Answer(claims.paper, name, claim.says, claim.place)
    if not claim.sides:
        return replace(row, verdict=NOT_TESTABLE, reason=f"needs {claim.needs}")
    effect = claim.effect or claims.effect
    made = finder.test(claim)
    if made is None:
        better, worse = claim.texts
        reason = f"{claim.overlay} runs both sides"
        return replace(row, better=better, worse=worse, reason=reason)
    ruling, effect = _rule(claim, effect, made)
    estimate = {key: getattr(made.estimate, key) for key in ("difference", "low", "high", "p")}
    compared = ("better", "worse", "dataset", "candidates", "measure", "queries", "seeds")
    return replace(
        row,
        **estimate,
        **{key: getattr(made, key) for key in compared},
        effect=effect,
        power=power(made.estimate, effect),
        verdict=ruling.verdict,
        reason=ruling.reason,
        differs=finder.differing(made),
        counted=made.counted,
        qualification="; ".join(_qualifications(claims, name, made, finder)),
    )


def _rule(claim: Claim, effect: float, made: ClaimComparison) -> tuple[Ruling, float]:
    """Return the verdict, and the smallest effect of interest."""
    if claim.share is None:
        return decide(made.estimate, effect, made.seeds, made.lead), effect
    # Both sides may be equal: then the better one is ahead of the share by what this leaves.
    return decide(made.estimate, 0, made.seeds), (1 - claim.share) * made.level


def _qualifications(claims: Claims, name: str, made: ClaimComparison, finder: Finder) -> Iterator[str]:
    """Yield what the sentence of a verdict must add."""
    claim, reading = claims.claims[name], claims.other_reading
    otherwise = claim.read_otherwise(reading) if reading and made.predictors else None
    if reading and otherwise and (other := finder.test(otherwise)):
        ruling, _ = _rule(otherwise, claim.effect or claims.effect, other)
        values = (f"{value:+z.3f}".replace("-", "−") for value in other.estimate[:3])
        yield "with {}: {} ({} [{}, {}])".format(reading.reading, ruling.verdict, *values)
    if made.best_of > 1:
        yield f"the best of {made.best_of} on these queries"
    if taught := finder.taught_differently(made):
        yield taught
    if made.counted == "seeds of the predictor":
        yield "over seeds of the predictor alone"


def write_answers(answers: Iterable[Answer], path: str | Path) -> None:
    columns = [column.name for column in CLAIMS.columns]
    write_csv(path, columns, ([_text(getattr(row, column)) for column in columns] for row in answers))


def count_answers(paths: Iterable[str | Path]) -> dict[str, int]:
    """Return how many claims in such files have each verdict."""
    counts = Counter(row.verdict for row in read_answers(paths))
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def read_answers(paths: Iterable[str | Path]) -> Iterator[Answer]:
    """Yield the rows of `results/claims/<paper>.csv`; raise InputError for a file that is no such table."""
    for path in paths:
        with refusing(path, "this is no table of claims", MAKE_AGAIN):
            answers = [Answer(**row) for row in read_csv(path)]  # type: ignore[arg-type]
        yield from answers


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:z.6g}"
    return str(value)


# The table of a paper's claims: difference, test, power and verdict, or why a claim was not tested.


TESTED_COLUMNS = (
    "Verdict", "Better minus worse", "p", "p after Holm", "Power", "Smallest effect", "Queries × seeds", "Counted",
    "On",
)  # fmt: skip
UNTESTED_COLUMNS = ("Verdict", "Would compare", "Place in the paper")
NOTES = (
    "One row is one statement of the paper. Of runs, the interval is Student's 95 % interval of the difference, paired "
    "over queries, for other queries (of other articles, if articles are known) and other seeds of training. Counted: "
    "what the interval is for. Seeds alone say nothing about another collection, so these rows have no p.",
    "Power: how probable an interval above 0 would be if the true difference were the smallest effect of interest.",
    "Holm: over the claims of this paper that were tested.",
    *(f"{verdict}: {meaning}" for verdict, meaning in MEANINGS.items()),
)


def claims_tables(paper: Published, config: Config, claims: Sequence[str | Path]) -> list[Table]:
    """Return the table of a paper's claims; none where nothing is answered."""
    answers = list(read_answers(claims))
    if not answers:
        return []
    source = str(claims[0])
    sides = _side_labels(paper, config)
    tested = [_tested(row, sides(row), config, source) for row in answers if row.verdict in TESTED]
    panels = [Panel("Tested by this run", _columns(TESTED_COLUMNS), tuple(tested), "Claim")] if tested else []
    for title, verdict in (("Not run", NOT_RUN), ("Not testable here", NOT_TESTABLE)):
        rows = tuple(_untested(row, sides(row)) for row in answers if row.verdict == verdict)
        if rows:
            panels.append(Panel(title, _columns(UNTESTED_COLUMNS), rows, "Claim"))
    name, title = f"{paper.paper}_claims", "Claims: what the paper says, tested"
    notes = (*_differing((row.differs, sides(row)) for row in answers), *NOTES)
    return [Table(name, title, tuple(panels), notes, paper.citation, paper.name)]


def _side_labels(paper: Published, config: Config) -> Callable[[Answer], str]:
    rows = [row for table in paper.tables.values() for row in table.rows]
    # Of several rows the first names a model.
    printed = {row.models[0]: row.label for row in reversed(rows) if row.models and not row.is_best}

    def label(name: str) -> str:
        if name in config.predictors:
            return config.predictors[name].label
        if (configured := configured_label(config, name)) != name or name in config.models:
            return configured
        stage, at, depth = name.partition("@")
        return label(stage) + at + depth if at else printed.get(name, regime_label(name))

    def sides(row: Answer) -> str:
        keys = f"{row.better} – {row.worse}" if row.better else "–"
        return re.sub(r"[\w@.-]+", lambda word: label(word[0]), keys)

    return sides


def _differing(differing: Iterable[tuple[str, str]]) -> list[str]:
    """The line on what sides differ in, those with the same difference together."""
    comparisons: dict[str, list[str]] = {}
    for text, sides in differing:
        if text:
            comparisons.setdefault(text, []).append(sides)
    parts = (f"{text} ({'; '.join(dict.fromkeys(sides))})" for text, sides in comparisons.items())
    return [f"Sides differ in {'; '.join(parts)}."] if comparisons else []


def _columns(labels: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column("", label) for label in labels)


def _tested(row: Answer, sides: str, config: Config, source: str) -> Row:
    on = _location_text(row, config)
    lead = (row.difference, row.low, row.high)
    ours = Ours(RunName(on, "", sides, ""), row.measure, *lead, (), row.queries, source=source)
    reason = "; ".join(filter(None, (row.reason, row.qualification)))
    cells = (
        TextCell(row.verdict, reason, outcome=row.verdict),
        Cell(row.claim, row.dataset, row.candidates, row.measure, "", ours=ours),
        _p(row.p),
        _p(row.p_holm),
        _number(row.power, "{:z.2f}"),
        _number(row.effect, "{:z.3f}"),
        TextCell(f"{row.queries:,}" + (f" × {row.seeds}" if row.seeds else ""), order=str(row.queries)),
        TextCell(row.counted),
        TextCell(on),
    )
    return Row(row.claim, row.says, sides, cells)


def _untested(row: Answer, sides: str) -> Row:
    cells = (TextCell(row.verdict, row.reason, outcome=row.verdict), TextCell(sides), TextCell(row.place))
    return Row(row.claim, row.says, "", cells)


def _location_text(row: Answer, config: Config) -> str:
    if not row.dataset:
        return row.measure
    dataset = dataset_label(config, row.dataset, row.candidates or "bm25")
    return f"{dataset}, {row.measure}"


def _number(value: float, form: str) -> TextCell:
    return TextCell(order="") if math.isnan(value) else TextCell(form.format(value))


def _p(value: float) -> TextCell:
    if math.isnan(value):
        return TextCell(order="")
    return TextCell(p_text(value).removeprefix("p ").removeprefix("= "), order=f"{value:z.6g}")
