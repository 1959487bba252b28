"""What a run says of each claim of a paper, as rows of `results/claims.csv`."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

from irpretrain.atomic import write_csv
from irpretrain.claims.files import Claims, has_claims, read_claims
from irpretrain.claims.verdicts import (
    CONTRADICTED,
    NOT_RUN,
    NOT_TESTABLE,
    SUPPORTED,
    TOO_SMALL,
    UNDECIDED,
    VERDICTS,
    decide,
    power,
)
from irpretrain.config import Config
from irpretrain.contracts import CLAIMS
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.evaluation.significance import holm
from irpretrain.report.claim_tests import Finder, Measured
from irpretrain.report.result_files import ResultFiles

TESTED = (SUPPORTED, CONTRADICTED, TOO_SMALL, UNDECIDED)
NO_NUMBER = math.nan


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
    difference: float = NO_NUMBER
    low: float = NO_NUMBER
    high: float = NO_NUMBER
    p: float = NO_NUMBER
    p_holm: float = NO_NUMBER
    effect: float = NO_NUMBER
    power: float = NO_NUMBER
    verdict: str = NOT_RUN
    reason: str = ""


def answer_claims(paper: str, config: Config, files: ResultFiles, output: str | Path) -> dict[str, Any]:
    """Write what a run says of each claim of a paper, from the experiments that show the paper.

    Args:
        paper: its key; a paper may have no claims.
        output: CSV with the columns of the contract `claims`.

    Returns:
        Counts: claims by verdict.
    """
    rows: list[Answer] = []
    if has_claims(paper):
        rows = answer(read_claims(paper), Measured.read(files.of_paper(paper, config)), config)
    return {"claims": write_answers(rows, output)}


def answer(claims: Claims, measured: Measured, config: Config) -> list[Answer]:
    """Return a row for each claim of a paper, in the file's order; p-values are corrected over those that have one."""
    finder = Finder(measured, config)
    answers = [_answer(claims, name, finder) for name in claims.claims]
    tested = [place for place, row in enumerate(answers) if not math.isnan(row.p)]
    for place, p in zip(tested, holm([answers[place].p for place in tested]), strict=True):
        answers[place] = replace(answers[place], p_holm=p)
    return answers


def _answer(claims: Claims, name: str, finder: Finder) -> Answer:
    claim = claims.claims[name]
    row = Answer(claims.paper, name, claim.says, claim.place)
    if not claim.sides:
        return replace(row, verdict=NOT_TESTABLE, reason=f"needs {claim.needs}")
    effect = claims.effect_of(name)
    made = finder.test(claim)
    if made is None:
        better, worse = claim.texts
        reason = f"{claim.overlay} runs both sides"
        return replace(row, better=better, worse=worse, reason=reason)
    if claim.share is None:
        ruling = decide(made.estimate, effect, made.seeds, made.lead)
    else:
        # Both sides may be equal: then the better one is ahead of the share by what this leaves.
        effect = (1 - claim.share) * made.level
        ruling = decide(made.estimate, 0, made.seeds)
    return replace(
        row,
        better=made.better,
        worse=made.worse,
        dataset=made.dataset,
        candidates=made.candidates,
        measure=made.measure,
        queries=made.queries,
        seeds=made.seeds,
        difference=made.estimate.difference,
        low=made.estimate.low,
        high=made.estimate.high,
        p=made.estimate.p,
        effect=effect,
        power=power(made.estimate, effect),
        verdict=ruling.verdict,
        reason=ruling.reason,
    )


def write_answers(answers: Iterable[Answer], path: str | Path) -> dict[str, int]:
    """Write the rows as CSV; return how many have each verdict."""
    columns = [column.name for column in CLAIMS.columns]
    rows = list(answers)
    write_csv(path, columns, ([_text(getattr(row, column)) for column in columns] for row in rows))
    return _counts(rows)


def count_answers(paths: Iterable[str | Path]) -> dict[str, int]:
    """Return how many claims in such files have each verdict."""
    return _counts(read_answers(paths))


def _counts(answers: Iterable[Answer]) -> dict[str, int]:
    counts = Counter(row.verdict for row in answers)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def read_answers(paths: Iterable[str | Path]) -> Iterator[Answer]:
    """Yield the rows of `results/claims/<paper>.csv`; raise InputError for a file that is no such table."""
    kinds = get_type_hints(Answer)
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != [column.name for column in CLAIMS.columns]:
                raise InputError(path, "this is no table of claims", remedy=MAKE_AGAIN)
            for row in reader:
                yield Answer(
                    **{
                        key: kinds[key](text or "nan" if kinds[key] is float else text)
                        for key, text in row.items()
                    }
                )


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)
