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
from irpretrain.config.labels import regime_label
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
from irpretrain.report.axiom_results import NumberOrNaN
from irpretrain.report.cells import Cell, Column, OurValue, Panel, Row, Table, TextCell, p_text
from irpretrain.report.claim_tests import ClaimComparison, ClaimTester
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
    difference: NumberOrNaN = math.nan
    low: NumberOrNaN = math.nan
    high: NumberOrNaN = math.nan
    p: NumberOrNaN = math.nan
    p_holm: NumberOrNaN = math.nan
    effect: NumberOrNaN = math.nan
    power: NumberOrNaN = math.nan
    verdict: str = NOT_RUN
    reason: str = ""
    differs: str = ""
    counted: str = ""
    qualification: str = ""


def answer_claims(paper: str, config: Config, files: ResultFiles, output: str | Path) -> dict[str, Any]:
    """Write what a run says of each claim of a paper, which may have none; return the number of claims by verdict."""
    rows = answer(read_claims(paper), ClaimTester.read(files, config)) if has_claims(paper) else []
    write_answers(rows, output)
    return {"claims": count_answers([output])}


def answer(claims: Claims, tester: ClaimTester) -> list[Answer]:
    """Return a row for each claim of a paper, in the file's order; p-values that are not NaN are corrected together."""
    answers = [_answer(claims, name, tester) for name in claims.claims]
    holm_p_values = holm_where_known(row.p for row in answers)
    return [replace(row, p_holm=p_holm) for row, p_holm in zip(answers, holm_p_values, strict=True)]


def _answer(claims: Claims, claim_name: str, tester: ClaimTester) -> Answer:
    claim = claims.claims[claim_name]
    row = Answer(claims.paper, claim_name, claim.says, claim.place)
    if not claim.sides:
        return replace(row, verdict=NOT_TESTABLE, reason=f"needs {claim.needs}")
    effect = claim.effect or claims.effect
    comparison = tester.test(claim)
    if comparison is None:
        better, worse = claim.texts
        reason = f"{claim.overlay} runs both sides"
        return replace(row, better=better, worse=worse, reason=reason)
    ruling, effect = _rule(claim, effect, comparison)
    estimate = {key: getattr(comparison.estimate, key) for key in ("difference", "low", "high", "p")}
    compared_fields = ("better", "worse", "dataset", "candidates", "measure", "queries", "seeds")
    return replace(
        row,
        **estimate,
        **{key: getattr(comparison, key) for key in compared_fields},
        effect=effect,
        power=power(comparison.estimate, effect),
        verdict=ruling.verdict,
        reason=ruling.reason,
        differs=tester.describe_differences(comparison),
        counted=comparison.counted,
        qualification="; ".join(_qualifications(claims, claim_name, comparison, tester)),
    )


def _rule(claim: Claim, effect: float, comparison: ClaimComparison) -> tuple[Ruling, float]:
    """Return the verdict, and the smallest effect of interest."""
    if claim.share is None:
        return decide(comparison.estimate, effect, comparison.seeds, comparison.larger_lead), effect
    # Both sides may be equal: then the better one is ahead of the share by what this leaves.
    return decide(comparison.estimate, 0, comparison.seeds), (1 - claim.share) * comparison.worse_mean


def _qualifications(
    claims: Claims, claim_name: str, comparison: ClaimComparison, tester: ClaimTester
) -> Iterator[str]:
    """Yield what the sentence of a verdict must add."""
    claim, reading = claims.claims[claim_name], claims.other_reading
    reread_claim = claim.read_otherwise(reading) if reading and comparison.predictors else None
    if reading and reread_claim and (reread_comparison := tester.test(reread_claim)):
        ruling, _ = _rule(reread_claim, claim.effect or claims.effect, reread_comparison)
        values = (f"{value:+z.3f}".replace("-", "−") for value in reread_comparison.estimate[:3])
        yield "with {}: {} ({} [{}, {}])".format(reading.reading, ruling.verdict, *values)
    if comparison.best_of > 1:
        yield f"the best of {comparison.best_of} on these queries"
    sides = tester.facts(comparison)[:2]
    descriptions = (tester.describe_reading, tester.describe_training_queries, tester.describe_teachers)
    yield from filter(None, (describe(sides) for describe in descriptions))
    if comparison.counted == "seeds of the predictor":
        yield "over seeds of the predictor alone"


def write_answers(answers: Iterable[Answer], path: str | Path) -> None:
    columns = [column.name for column in CLAIMS.columns]
    write_csv(path, columns, ([_csv_text(getattr(row, column)) for column in columns] for row in answers))


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


def _csv_text(value: object) -> str:
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
    "what the interval is for. Seeds alone say nothing about another collection, so these rows have no p. Weights of "
    "words are trained once: intervals do not count other trainings of them.",
    "Power: how probable an interval above 0 would be if the true difference were the smallest effect of interest.",
    "Holm: over the claims of this paper that were tested.",
    *(f"{verdict}: {meaning}" for verdict, meaning in MEANINGS.items()),
)


def claims_tables(paper: Published, config: Config, claims: Sequence[str | Path]) -> list[Table]:
    """Return the table of a paper's claims; none where nothing is answered."""
    answers = list(read_answers(claims))
    if not answers:
        return []
    claims_file = str(claims[0])
    label_sides = _side_labeller(paper, config)
    tested_rows = [
        _tested_row(row, label_sides(row), config, claims_file) for row in answers if row.verdict in TESTED
    ]
    panels: list[tuple[str, Sequence[str], list[Row]]] = [("Tested by this run", TESTED_COLUMNS, tested_rows)]
    for title, verdict in (("Not run", NOT_RUN), ("Not testable here", NOT_TESTABLE)):
        rows = [_untested_row(row, label_sides(row)) for row in answers if row.verdict == verdict]
        panels.append((title, UNTESTED_COLUMNS, rows))
    filled_panels = tuple(
        Panel(title, tuple(Column("", label) for label in labels), tuple(rows), "Claim")
        for title, labels, rows in panels
        if rows
    )
    name, title = f"{paper.paper}_claims", "Claims: what the paper says, tested"
    notes = (*_differences_notes((row.differs, label_sides(row)) for row in answers), *NOTES)
    return [Table(name, title, filled_panels, notes, paper.citation, paper.name)]


def _side_labeller(paper: Published, config: Config) -> Callable[[Answer], str]:
    rows = [row for table in paper.tables.values() for row in table.rows]
    # Of several rows the first names a model.
    published_labels = {row.models[0]: row.label for row in reversed(rows) if row.models and not row.is_best}

    def label(name: str) -> str:
        if name in config.predictors:
            return config.predictors[name].label
        if (label_in_config := config.configured_label(name)) != name or name in config.models:
            return label_in_config
        stage, separator, depth = name.partition("@")
        return (
            label(stage) + separator + depth if separator else published_labels.get(name, regime_label(name))
        )

    def label_sides(row: Answer) -> str:
        sides_text = f"{row.better} – {row.worse}" if row.better else "–"
        return re.sub(r"[\w@.-]+", lambda word: label(word[0]), sides_text)

    return label_sides


def _differences_notes(labelled_differences: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each difference between sides, with all pairs of sides that have it."""
    sides_by_text: dict[str, list[str]] = {}
    for text, sides in labelled_differences:
        if text:
            sides_by_text.setdefault(text, []).append(sides)
    return [
        f"Not equal in {'; '.join(dict.fromkeys(sides))}: {text}." for text, sides in sides_by_text.items()
    ]


def _tested_row(row: Answer, sides: str, config: Config, claims_file: str) -> Row:
    location = _location_text(row, config)
    difference_interval = (row.difference, row.low, row.high)
    run = RunName(location, "", sides, "")
    ours = OurValue(run, row.measure, *difference_interval, (), row.queries)
    reason = "; ".join(filter(None, (row.reason, row.qualification)))
    cells = (
        TextCell(row.verdict, reason, outcome=row.verdict),
        Cell(row.claim, row.dataset, row.candidates, row.measure, "", ours=ours, source=claims_file),
        _p_cell(row.p),
        _p_cell(row.p_holm),
        _number_cell(row.power, "{:z.2f}"),
        _number_cell(row.effect, "{:z.3f}"),
        TextCell(f"{row.queries:,}" + (f" × {row.seeds}" if row.seeds else ""), sort_text=str(row.queries)),
        TextCell(row.counted),
        TextCell(location),
    )
    return Row(row.claim, row.says, sides, cells)


def _untested_row(row: Answer, sides: str) -> Row:
    cells = (TextCell(row.verdict, row.reason, outcome=row.verdict), TextCell(sides), TextCell(row.place))
    return Row(row.claim, row.says, "", cells)


def _location_text(row: Answer, config: Config) -> str:
    if not row.dataset:
        return row.measure
    dataset = config.dataset_label(row.dataset, row.candidates or "bm25")
    return f"{dataset}, {row.measure}"


def _number_cell(value: float, number_format: str) -> TextCell:
    return TextCell(sort_text="") if math.isnan(value) else TextCell(number_format.format(value))


def _p_cell(value: float) -> TextCell:
    if math.isnan(value):
        return TextCell(sort_text="")
    return TextCell(p_text(value).removeprefix("p ").removeprefix("= "), sort_text=f"{value:z.6g}")
