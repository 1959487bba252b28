"""TREC judgements (qrels): `query iteration document grade`, one judgement a line, gzip or plain."""

from collections.abc import Mapping
from pathlib import Path

from irpretrain.errors import InputError
from irpretrain.evaluation.runs import numbered_lines

Qrels = dict[str, dict[str, int]]
"""Grade of each judged document of each query. A grade of 1 or more is relevant; 0 and below are not."""


def read_qrels(path: str | Path) -> Qrels:
    """Read TREC judgements; the iteration column is ignored, queries and documents keep the file's order.

    Raises:
        InputError: with file and line, for a line without four columns, a grade that is not an integer, or
            two different grades of one document for one query.
    """
    qrels: Qrels = {}
    for line, text in numbered_lines(path):
        columns = text.split()
        if len(columns) != 4:
            expected = "query iteration document grade"
            raise InputError(
                path, f"judgements have 4 columns ({expected}), this line has {len(columns)}", line
            )
        query, _, document, printed = columns
        try:
            grade = int(printed)
        except ValueError:
            raise InputError(path, f"the grade {printed!r} is not an integer", line) from None
        if qrels.setdefault(query, {}).setdefault(document, grade) != grade:
            earlier = qrels[query][document]
            raise InputError(
                path, f"document {document!r} has grade {grade}, and {earlier} in an earlier line", line
            )
    return qrels


def relevant(grades: Mapping[str, int]) -> set[str]:
    """Return the documents whose grade is 1 or more."""
    return {document for document, grade in grades.items() if grade > 0}
