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
    comparison = finder.test(claim)
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
        differs=finder.differing(comparison),
        counted=comparison.counted,
        qualification="; ".join(_qualifications(claims, name, comparison, finder)),
    )


def _rule(claim: Claim, effect: float, comparison: ClaimComparison) -> tuple[Ruling, float]:
    """Return the verdict, and the smallest effect of interest."""
    if claim.share is None:
        return decide(comparison.estimate, effect, comparison.seeds, comparison.lead), effect
    # Both sides may be equal: then the better one is ahead of the share by what this leaves.
    return decide(comparison.estimate, 0, comparison.seeds), (1 - claim.share) * comparison.level


def _qualifications(claims: Claims, name: str, comparison: ClaimComparison, finder: Finder) -> Iterator[str]:
    """Yield what the sentence of a verdict must add."""
    claim, reading = claims.claims[name], claims.other_reading
    other_claim = claim.read_otherwise(reading) if reading and comparison.predictors else None
    if reading and other_claim and (other_comparison := finder.test(other_claim)):
        ruling, _ = _rule(other_claim, claim.effect or claims.effect, other_comparison)
        values = (f"{value:+z.3f}".replace("-", "−") for value in other_comparison.estimate[:3])
        yield "with {}: {} ({} [{}, {}])".format(reading.reading, ruling.verdict, *values)
    if comparison.best_of > 1:
        yield f"the best of {comparison.best_of} on these queries"
    if teaching_difference := finder.taught_differently(comparison):
        yield teaching_difference
    if comparison.counted == "seeds of the predictor":
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
    side_labels = _side_labels(paper, config)
    tested_rows = [_tested(row, side_labels(row), config, source) for row in answers if row.verdict in TESTED]
    panels = (
        [Panel("Tested by this run", _columns(TESTED_COLUMNS), tuple(tested_rows), "Claim")]
        if tested_rows
        else []
    )
    for title, verdict in (("Not run", NOT_RUN), ("Not testable here", NOT_TESTABLE)):
        rows = tuple(_untested(row, side_labels(row)) for row in answers if row.verdict == verdict)
        if rows:
            panels.append(Panel(title, _columns(UNTESTED_COLUMNS), rows, "Claim"))
    name, title = f"{paper.paper}_claims", "Claims: what the paper says, tested"
    notes = (*_differing((row.differs, side_labels(row)) for row in answers), *NOTES)
    return [Table(name, title, tuple(panels), notes, paper.citation, paper.name)]


def _side_labels(paper: Published, config: Config) -> Callable[[Answer], str]:
    rows = [row for table in paper.tables.values() for row in table.rows]
    # Of several rows the first names a model.
    published_labels = {row.models[0]: row.label for row in reversed(rows) if row.models and not row.is_best}

    def label(name: str) -> str:
        if name in config.predictors:
            return config.predictors[name].label
        if (configured := configured_label(config, name)) != name or name in config.models:
            return configured
        stage, separator, depth = name.partition("@")
        return (
            label(stage) + separator + depth if separator else published_labels.get(name, regime_label(name))
        )

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
    difference_texts = (f"{text} ({'; '.join(dict.fromkeys(sides))})" for text, sides in comparisons.items())
    return [f"Sides differ in {'; '.join(difference_texts)}."] if comparisons else []


def _columns(labels: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column("", label) for label in labels)


def _tested(row: Answer, sides: str, config: Config, source: str) -> Row:
    location = _location_text(row, config)
    difference_interval = (row.difference, row.low, row.high)
    ours = Ours(
        RunName(location, "", sides, ""), row.measure, *difference_interval, (), row.queries, source=source
    )
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
        TextCell(location),
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
