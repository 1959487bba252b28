"""TREC runs and judgements (qrels).

TREC runs: `query Q0 document rank score tag`, one line a retrieved document, packed or plain.

One order everywhere, the canonical order: queries by identifier; within a query score descending; equal
scores by document identifier ascending (code points). It is a function of the scores alone, so a constant
scorer cannot profit from the order in which it met the candidates. The rank column is written for readers and
ignored when read.

trec_eval reads scores in single precision and orders equal ones by document identifier descending. So scores are
written in double precision, with the fewest digits that read back as the same number, and one that single precision
cannot tell from the score above is written as the next lower number of single precision (`falling_scores`).
"""

import gzip
import io
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self, TextIO

import numpy as np

from irpretrain.foundation.atomic import atomic_file
from irpretrain.foundation.characters import NUMBER, WHOLE_NUMBER
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, count_of, refusing
from irpretrain.foundation.files import numbered_lines, open_bytes, split_columns

# Documents of one query and their scores, best first.
Ranking = list[tuple[str, float]]

# The ranking of each query, in canonical order.
Run = dict[str, Ranking]


class ListSizes(NamedTuple):
    """How many queries have a list, how long the longest one is, and how many documents all have."""

    queries: int
    longest: int
    documents: int

    @classmethod
    def of(cls, run: Run) -> Self:
        lengths = [len(ranking) for ranking in run.values() if ranking]
        return cls(len(lengths), max(lengths, default=0), sum(lengths))


def rank(scores: Iterable[tuple[str, float]]) -> Ranking:
    """Return (document, score) pairs in canonical order."""
    return sorted(scores, key=lambda pair: (-pair[1], pair[0]))


def falling_scores(scores: Sequence[float]) -> list[float]:
    """Return scores that fall from rank to rank in single precision, so that every tool reads back the same order.

    A score that does not fall becomes the next number of single precision below the one above; others stay. Where the
    range of single precision has no such numbers, -1, -2, … stand in their places.
    """
    with np.errstate(over="ignore"):
        rounded_scores = np.asarray(scores, np.float64).astype(np.float32)
    if not np.any(rounded_scores[1:] >= rounded_scores[:-1]):
        return list(scores)
    lowered_scores, previous = list[float](), None
    for score, rounded in zip(scores, rounded_scores, strict=True):
        if previous is not None and rounded >= previous:
            if not np.isfinite(rounded := _next_lower(previous)):
                return [-float(rank) for rank in range(1, len(scores) + 1)]
            score = float(rounded)
        lowered_scores.append(score)
        previous = rounded
    return lowered_scores


def _next_lower(score: np.float32) -> np.float32:
    lower = np.nextafter(score, np.float32(-np.inf))
    smallest = np.finfo(np.float32).smallest_normal  # below it, some programs read 0
    return -smallest if abs(lower) < smallest else lower


def canonical(run: Mapping[str, Iterable[tuple[str, float]]]) -> Run:
    """Return `run` in canonical order."""
    return {query: rank(run[query]) for query in sorted(run)}


def top(run: Run, depth: int | None) -> Run:
    """Return the first `depth` documents of each query; all of them where `depth` is None."""
    return {query: ranking[:depth] for query, ranking in run.items()}


def without_query_document(query: str, ranking: Ranking, depth: int) -> Ranking:
    """Return the first `depth` documents of a ranking without the document that is the query itself."""
    return [(document, score) for document, score in ranking if document != query][:depth]


def within(run: Run, candidates: Run, depth: int) -> Run:
    """Return `run` without the documents that are not among the first `depth` candidates of their query."""
    candidates_of_query = {
        query: {name for name, _ in ranking} for query, ranking in top(candidates, depth).items()
    }
    return {
        query: [(name, score) for name, score in ranking if name in candidates_of_query.get(query, ())]
        for query, ranking in run.items()
    }


def as_scored(run: Run, depth: int | None, ranked: str | Path | None) -> Run:
    """Return a run as it is scored.

    Args:
        depth: documents of a query that count; None for all.
        ranked: run whose candidates this one ranks, of which the first `depth` count; None where it has its own.
    """
    return top(run, depth) if depth is None or ranked is None else within(run, read_run(ranked), depth)


def merge(runs: Sequence[Run], names: Sequence[str | Path]) -> Run:
    """Join runs over different queries, such as the runs of the test folds; InputError where two of these
    files hold the same query."""
    merged_run: Run = {}
    name_of_query: dict[str, str | Path] = {}
    for run, name in zip(runs, names, strict=True):
        for query, ranking in run.items():
            if query in merged_run:
                other_name = name_of_query[query]
                raise InputError(
                    name, f"query {query!r} is in {other_name} too; each query belongs to one fold"
                )
            merged_run[query], name_of_query[query] = ranking, name
    return {query: merged_run[query] for query in sorted(merged_run)}


def write_run(path: str | Path, run: Mapping[str, Iterable[tuple[str, float]]], tag: str) -> int:
    """Write `run` atomically as gzip in canonical order; return its number of lines.

    Equal runs and tags give equal bytes, as the gzip header holds neither time nor name.

    Raises:
        ValueError: a score is not finite, or a name is empty or holds white space.
    """
    return write_rankings(path, canonical(run).items(), tag)


def write_rankings(
    path: str | Path, rankings: Iterable[tuple[str, Iterable[tuple[str, float]]]], tag: str
) -> int:
    """Write rankings as they come, each best first, as `write_run` does those in memory.

    Queries come in the order of their names.
    """
    _check_name(tag)
    previous_query: str | None = None
    with atomic_file(path) as temporary, open(temporary, "wb") as raw_file:
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw_file, compresslevel=6, mtime=0) as gzip_file:
            with io.TextIOWrapper(gzip_file, encoding="utf-8", newline="\n") as file:
                lines = 0
                for query, ranking in rankings:
                    if previous_query is not None and query <= previous_query:
                        raise ValueError(f"query {query!r} comes after {previous_query!r}")
                    previous_query = query
                    lines += write_ranking(file, query, list(ranking), tag)
                return lines


def write_ranking(file: TextIO, query: str, ranking: Ranking, tag: str) -> int:
    """Write the lines of a query, and return their number; ValueError as of `write_run`."""
    _check_name(query)
    for document, score in ranking:
        _check_name(document)
        if not math.isfinite(score):
            raise ValueError(
                f"the score of document {document!r} for query {query!r} is {score}, not a finite number"
            )
    scores = falling_scores([float(score) for _, score in ranking])
    for position, ((document, _), score) in enumerate(zip(ranking, scores, strict=True), 1):
        file.write(f"{query} Q0 {document} {position} {score!r} {tag}\n")
    return len(ranking)


def _check_name(name: str) -> None:
    if name.split() != [name]:
        raise ValueError(
            f"{name!r} cannot be written to a TREC file: names must not be empty or contain white space"
        )


def read_run(path: str | Path) -> Run:
    """Read a TREC run, packed or plain, into canonical order whatever order its lines and ranks are in.

    Raises:
        InputError: with file and line, for a line without six columns, a score that is not a finite number,
            or a document that a query lists twice.
    """
    scores: dict[str, dict[str, float]] = {}
    for line_number, columns in _numbered_rows(path, "a run has", "query Q0 document rank score tag"):
        query, _, document, _, score_text, _ = columns
        documents = scores.setdefault(query, {})
        if document in documents:
            raise InputError(path, f"document {document!r} is listed twice for query {query!r}", line_number)
        score = float(score_text) if NUMBER.fullmatch(score_text) else math.nan
        if not math.isfinite(score):
            raise InputError(path, f"the score {score_text!r} is not a finite number", line_number)
        documents[document] = score
    return canonical({query: documents.items() for query, documents in scores.items()})


def read_rankings(path: str | Path, queries: Iterable[str]) -> Run:
    """Return the rankings of some queries of a run that `write_rankings` has written, whose other lines are passed
    over; InputError where the file is damaged."""
    scores: dict[bytes, Ranking] = {query.encode(): [] for query in queries}
    with open_bytes(path) as lines, refusing(path, "this is not a run of this workflow", MAKE_AGAIN):
        for line in lines:
            ranking = scores.get(line.partition(b" ")[0])
            if ranking is not None:
                _, _, document, _, score, _ = line.decode().split()
                ranking.append((document, float(score)))
    return {query.decode(): scores[query] for query in sorted(scores) if scores[query]}


# TREC judgements (qrels): `query iteration document grade`, one judgement a line, packed or plain.


# Grade of each judged document of each query. A grade of 1 or more is relevant; 0 and below are not.
Qrels = dict[str, dict[str, int]]


def read_qrels(path: str | Path) -> Qrels:
    """Read TREC judgements; the iteration column is ignored, queries and documents keep the file's order.

    Raises:
        InputError: with file and line, for a line without four columns, a grade that is not an integer, or
            two different grades of one document for one query.
    """
    qrels: Qrels = {}
    for line_number, columns in _numbered_rows(path, "judgements have", "query iteration document grade"):
        query, _, document, grade_text = columns
        if not WHOLE_NUMBER.fullmatch(grade_text):
            raise InputError(path, f"the grade {grade_text!r} is not an integer", line_number)
        grade = int(grade_text)
        if qrels.setdefault(query, {}).setdefault(document, grade) != grade:
            grades = f"grade {grade}, and {qrels[query][document]} in an earlier line"
            raise InputError(path, f"document {document!r} has {grades}", line_number)
    return qrels


def _numbered_rows(path: str | Path, subject: str, column_names: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line; InputError for a line with other columns than the names."""
    expected_count = len(column_names.split())
    for line_number, line in numbered_lines(path):
        columns = split_columns(line)
        if len(columns) != expected_count:
            fault = f"{subject} {expected_count} columns ({column_names}), this line has {len(columns)}"
            raise InputError(path, fault, line_number)
        yield line_number, columns


def relevant(grades: Mapping[str, int]) -> set[str]:
    """Return the documents whose grade is 1 or more."""
    return {document for document, grade in grades.items() if grade > 0}


def lacking(record_kind: str, queries: Iterable[str], judged: Collection[str]) -> str:
    """Return "no topic for 1 of 4 judged queries, such as 005"; nothing where no query lacks it."""
    if not (lacking_queries := sorted(queries)):
        return ""
    queries_text = count_of(len(judged), "judged query")
    return f"no {record_kind} for {len(lacking_queries):,} of {queries_text}, such as {lacking_queries[0]}"
