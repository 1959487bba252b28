"""Candidates that others retrieved: their runs, checked against queries and documents, as runs of ours."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

from irpretrain.config.retrieval import RunConfig
from irpretrain.contracts import QUERIES
from irpretrain.corpora.collection import absent_documents
from irpretrain.corpora.records import Malformed
from irpretrain.corpora.topics_and_judgements import Sources, read_records, source_files
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import rank, write_run
from irpretrain.retrieval.lost_queries import tell_lost_queries

COUNTED = ("lines", "malformed", "lines_of_other_queries", "unknown_documents_left_out")


class Placed(NamedTuple):
    """A document of one query, and the line that names it."""

    document_id: str
    rank: int | None
    score: float | None
    file: str
    number: int

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.number}"


@dataclass
class Faults:
    """What is wrong with a run: each kind with its number and its first case."""

    found: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, kind: str, case: str, number: int = 1) -> None:
        """Count a fault; the first of a kind is remembered."""
        self.found.setdefault(kind, [0, case])[0] += number

    def refuse(self, path: Path) -> None:
        """Raise InputError that names every kind, if there is any."""
        if not self.found:
            return
        several = len(self.found) > 1
        listed = [f"{number:,} {kind}, such as {case}" for kind, (number, case) in self.found.items()]
        reason = "the run cannot be used" + (
            "\n  - " + "\n  - ".join(listed) if several else f": {listed[0]}"
        )
        remedy = (
            "Check that run, queries and corpus belong together; the run's keys say what may be left out."
        )
        raise InputError(path, reason, remedy=remedy)


def take_run(
    config: RunConfig,
    sources: Sources,
    name: str,
    queries: str | Path,
    documents: Sequence[str | Path],
    depth: int,
    output: str | Path,
) -> dict[str, Any]:
    """Check a run of others and write it as one of ours, in canonical order.

    Lines of queries that the data set does not have (it may be a sample) are left out and counted.

    Args:
        name: of the first stage; the tag of the run.
        queries: QUERIES table of the data set.
        documents: all shards of the corpus that is searched.
        depth: documents of a query that are kept, where the section gives no depth of its own.
        output: run, gzip.

    Raises:
        InputError: one message on all that is wrong: lines that cannot be read, scores that are no numbers, documents
            that a query has twice or the corpus lacks, ranks with gaps or against the scores, queries without any.
    """
    files = source_files("runs", config, sources)
    query_ids = [str(query) for query in QUERIES.read(queries, ["query_id"])["query_id"].to_pylist()]
    faults, counts = Faults(), dict.fromkeys(COUNTED, 0)
    lists = _read(config, files, set(query_ids), faults, counts)
    if config.expected not in (None, counts["lines"]):
        faults.add(
            "other number of lines than expected", f"{counts['lines']:,} in place of {config.expected:,}"
        )
    missing = [query for query in query_ids if query not in lists]
    if not lists and counts["lines"]:
        faults.add("queries, none of which is the data set's", "the first line's")
    elif missing and config.missing_queries == "refuse":
        faults.add("queries of the data set without a document", missing[0], len(missing))
    for query, placed in lists.items():
        _check(query, placed, config, faults)
    unknown = absent_documents(
        {entry.document_id for placed in lists.values() for entry in placed}, documents
    )
    if config.unknown_documents == "refuse":
        _refuse_unknown(lists, unknown, faults)
    faults.refuse(files[0])
    run = {query: _scored(placed, unknown, config) for query, placed in lists.items()}
    counts["unknown_documents_left_out"] = sum(map(len, lists.values())) - sum(map(len, run.values()))
    cut = {query: rank(scored)[: config.depth or depth] for query, scored in run.items()}
    return {
        "written": write_run(output, cut, name),
        "queries": len(query_ids),
        "queries_without_candidates": tell_lost_queries(
            output, query_ids, {query for query in cut if cut[query]}
        ),
        **counts,
    }


def _read(
    config: RunConfig, files: list[Path], query_ids: set[str], faults: Faults, counts: dict[str, int]
) -> dict[str, list[Placed]]:
    lists: defaultdict[str, list[Placed]] = defaultdict(list)
    unreadable, breaks_off = Faults(), False
    names: dict[str, str] = {}  # a document's name is kept once, however many queries have it
    lines = ((path, line) for path in files for line in read_records("runs", config, path))
    for path, line in lines:
        counts["lines"] += 1
        if isinstance(line, Malformed):
            counts["malformed"] += 1
            breaks_off |= line.loses_more
            place = f"{path.name}:{line.line or line.position + 1}"
            unreadable.add(f"lines: {line.reason}", f"{line.detail or line.reason} ({place})")
        elif line.query_id not in query_ids:
            counts["lines_of_other_queries"] += 1
        else:
            document = names.setdefault(line.document_id, line.document_id)
            number = line.line or line.position + 1
            lists[line.query_id].append(Placed(document, line.rank, line.score, path.name, number))
    share = config.malformed.skip
    if counts["malformed"] > share * counts["lines"] or (breaks_off and share < 1):
        faults.found.update(unreadable.found)
    return lists


def _check(query: str, placed: list[Placed], config: RunConfig, faults: Faults) -> None:
    """Faults within the list of one query."""
    seen = set[str]()
    for entry in placed:
        if entry.document_id in seen:
            faults.add(
                "documents that a query has twice", f"{entry.document_id} of query {query} ({entry.place})"
            )
        seen.add(entry.document_id)
    if any(entry.rank is None for entry in placed):
        if config.order_by == "rank":
            faults.add("queries without ranks, by which order_by orders", query)
        return
    ordered = sorted(placed, key=lambda entry: cast(int, entry.rank))
    for number, entry in enumerate(ordered, min(cast(int, ordered[0].rank), 1)):
        if entry.rank != number:
            case = f"{query}, with {entry.rank} where rank {number} should stand ({entry.place})"
            faults.add("queries whose ranks have gaps or occur twice", case)
            return
    if config.order_by == "score" and all(entry.score is not None for entry in placed):
        for above, below in pairwise(ordered):
            if cast(float, above.score) < cast(float, below.score):
                faults.add(
                    "queries whose scores contradict their ranks (order_by: rank passes scores over)",
                    f"{query}, ranks {above.rank} and {below.rank} ({below.place})",
                )
                return


def _refuse_unknown(lists: dict[str, list[Placed]], unknown: set[str], faults: Faults) -> None:
    if not unknown:
        return
    query, entry = next(
        (q, entry) for q, placed in lists.items() for entry in placed if entry.document_id in unknown
    )
    faults.add(
        "documents that the corpus lacks",
        f"{entry.document_id} of query {query} ({entry.place})",
        len(unknown),
    )


def _scored(placed: list[Placed], unknown: set[str], config: RunConfig) -> list[tuple[str, float]]:
    by_rank = config.order_by == "rank" or any(entry.score is None for entry in placed)
    return [
        (entry.document_id, float(-cast(int, entry.rank)) if by_rank else cast(float, entry.score))
        for entry in placed
        if entry.document_id not in unknown
    ]
