"""External runs: checked against queries and documents, and written in canonical form."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from irpretrain.config.retrieval import RunConfig
from irpretrain.corpora.collection import absent_documents, stream_ids
from irpretrain.corpora.policy import empty_documents
from irpretrain.corpora.topics_and_judgements import REMEDY, Sources, near_hint, read_records, source_files
from irpretrain.evaluation.runs import Ranking, Run, without_query_document, write_rankings
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.progress import notice
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.foundation.records import MEND_RECORD, Malformed, Skipped
from irpretrain.retrieval.opened_index import log_lost_queries

COUNT_NAMES = ("lines", "comments", "malformed", "lines_of_other_queries", "unknown_documents_left_out")
BY_RANKS = "documents have the score of the one above them; the ranks order them"
BY_NAMES = (
    "documents have the score of the one above them, and ranks that do not order them; "
    "they are ordered by document identifier, descending, as trec_eval does it"
)
TIES = (BY_RANKS, BY_NAMES)
FALLING_RANKS = "queries whose ranks fall from line to line, as scores do"
AS_SCORES = """If they are scores: awk '{print $1, "Q0", $2, 0, $3, "run"}' makes TREC's columns."""


class RunEntry(NamedTuple):
    """A document of one query, and the line that names it."""

    document_id: str
    rank: int | None
    score: float | None
    file: str
    line: int

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass
class Faults:
    """What is wrong with a run: each kind with its number and its first case, and the keys that allow it."""

    cases: dict[str, list[Any]] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    hint: str = ""

    def add(self, kind: str, case: str, number: int = 1, key: str = "") -> None:
        """Count a fault; the first of a kind is remembered. `key`: the setting of the run that allows it, if any."""
        self.cases.setdefault(kind, [0, case])[0] += number
        if key:
            self.keys[key] = None

    def refuse(self, path: Path, has_keys: bool = True) -> None:
        """Raise InputError that names every kind, if any; and keys that allow them, where the run has a section."""
        if not self.cases:
            return
        descriptions = [f"{count:,} {kind}, such as {case}" for kind, (count, case) in self.cases.items()]
        bullet = "\n  - " if len(descriptions) > 1 else ": "
        reason = f"the run cannot be used{bullet}{bullet.join(descriptions)}"
        remedy = self.hint or "Check that run, queries and corpus belong together."
        if self.keys and has_keys:
            remedy += f" If the run is right, this key of it allows it: {'; '.join(self.keys)}."
        raise InputError(path, reason, remedy=remedy)


def take_run(
    config: RunConfig,
    sources: Sources,
    name: str,  # of the first stage; the tag of the run
    queries: str | Path,  # QUERIES table of the data set
    documents: Sequence[str | Path],  # all shards of the corpus that is searched
    depth: int,  # maximum number of documents per query
    output: str | Path,  # run, gzip
    queries_are_documents: bool = False,  # whether to leave out a query's own document, that of its identifier
) -> dict[str, Any]:
    """Check an external run and write it in canonical form, in its own order.

    That is the order of the scores. Ties are ordered by the run's ranks if these are distinct and never contradict the
    scores of the query, else as in trec_eval, by document identifier descending; the log counts them. Lines of queries
    outside the data set (it may be a sample) are left out and counted.

    Raises:
        InputError: lines cannot be read, or scores are NaN; else one message on all faults: documents that a query has
            twice or the corpus lacks, ranks against the scores, queries without any document.
    """
    files = source_files(config, sources)
    query_ids = [str(query) for query in QUERIES.read(queries, ["query_id"])["query_id"].to_pylist()]
    faults, counts = Faults(), dict.fromkeys(COUNT_NAMES, 0)
    entries_by_query, duplicates, unknown_queries = _read(config, files, set(query_ids), faults, counts)
    faults.refuse(files[0])  # what follows would blame the data for lines that were not read
    if config.expected not in (None, counts["lines"]):
        case = f"{counts['lines']:,} in place of {config.expected:,}"
        faults.add("other number of lines than expected", case, key="expected")
    missing_queries = [query for query in query_ids if query not in entries_by_query]
    faults.hint = near_hint(unknown_queries, [pa.array(sorted(missing_queries), pa.string())], "the data set")
    if not entries_by_query and unknown_queries:
        case = f"{next(iter(unknown_queries))}; the data set has {query_ids[0]}"
        faults.add("lines, none of which has a query of the data set", case, counts["lines"])
    elif missing_queries and config.missing_queries == "refuse":
        kind, key = "queries of the data set without a document", "missing_queries: ignore"
        faults.add(kind, missing_queries[0], len(missing_queries), key)
    faults.cases.update(duplicates.cases)
    _check_ranks_rise(entries_by_query, config, faults)
    for query, entries in entries_by_query.items():
        _check(query, entries, config, faults)
    unknown_documents = absent_documents(
        {entry.document_id for entries in entries_by_query.values() for entry in entries}, documents
    )
    if unknown_documents and config.unknown_documents == "refuse":
        all_entries = ((query, entry) for query, entries in entries_by_query.items() for entry in entries)
        query, entry = next(pair for pair in all_entries if pair[1].document_id in unknown_documents)
        case = f"{entry.document_id} of query {query} ({entry.location})"
        key = "unknown_documents: drop"
        faults.add("documents that the corpus lacks", case, len(unknown_documents), key)
        hint = near_hint(unknown_documents, stream_ids(documents), "the corpus") or _loss_hint(documents)
        faults.hint = hint or faults.hint
    faults.refuse(files[0])
    ties = dict.fromkeys(TIES, 0)
    run = {
        query: _ranking(entries, unknown_documents, config, ties)
        for query, entries in sorted(entries_by_query.items())
    }
    entry_count, taken_count = (sum(map(len, lists.values())) for lists in (entries_by_query, run))
    counts["unknown_documents_left_out"] = entry_count - taken_count
    cut_run = {
        query: without_query_document(query, ranking, depth) if queries_are_documents else ranking[:depth]
        for query, ranking in run.items()
    }
    _note_ties(name, files[0], ties)
    ranked_queries = {query for query, ranking in cut_run.items() if ranking}
    return {
        "written": write_rankings(output, cut_run.items(), name),
        "queries": len(query_ids),
        "queries_without_candidates": log_lost_queries(output, query_ids, ranked_queries),
        **counts,
        "equal_scores": ties[BY_RANKS] + ties[BY_NAMES],
    }


def _loss_hint(documents: Sequence[str | Path]) -> str:
    """Return how many documents the corpus lost, such as those without text; nothing if it lost none."""
    loss = empty_documents(read_sidecar(path).get("counts", {}) for path in documents)
    if not loss.count:
        return ""
    return f"Of the corpus, {loss}, such as {loss.example}."


def read_ordered(
    config: RunConfig, path: Path, query_ids: Collection[str], run_name: str, title: str, source: str
) -> Run:
    """Return an external run of some queries in its own order, checked as `take_run` does it, but against no corpus.

    Args:
        config: how the file is read.
        path: the file.
        query_ids: the queries that count.
        run_name: name of the file in messages.
        title: what notes begin with.
        source: where the queries that count are: judgements or topics.

    Raises:
        InputError: as in `take_run`; or no line has a query that counts.
    """
    faults, counts = Faults(hint="Mend the run, or get it again."), dict.fromkeys(COUNT_NAMES, 0)
    lists, duplicates, unknown_queries = _read(config, [path], set(query_ids), faults, counts)
    faults.cases.update(duplicates.cases)
    _check_ranks_rise(lists, config, faults)
    if FALLING_RANKS in faults.cases:
        faults.hint = AS_SCORES
    for query, entries in lists.items():
        _check(query, entries, config, faults)
    faults.refuse(path, has_keys=False)
    if not lists:
        first_unknown = next(iter(unknown_queries), "none")
        lines = count_of(counts["lines"], "line")
        fault = f"none of its {lines} has a query of the {source}; the first has {first_unknown}"
        remedy = near_hint(unknown_queries, [pa.array(sorted(query_ids))], f"the file of {source}")
        raise InputError(path, f"{fault}, the {source} have {min(query_ids)}", remedy=remedy or REMEDY)
    if unknown_queries:
        lines = f"{counts['lines_of_other_queries']:,} of {count_of(counts['lines'], 'line')}"
        left_out = f"{lines}, of queries without {source}, such as {next(iter(unknown_queries))}"
        unlisted_queries = pa.array(sorted(set(query_ids) - lists.keys()), pa.string())
        hint = near_hint(unknown_queries, [unlisted_queries], f"the file of {source}")
        notice(title, f"{run_name}: left out: {left_out}. {hint}".rstrip())
    ties = dict.fromkeys(TIES, 0)
    run = {query: _ranking(entries, set(), config, ties) for query, entries in sorted(lists.items())}
    _note_ties(title, run_name, ties)
    return run


def _note_ties(name: str, run_name: str | Path, ties: dict[str, int]) -> None:
    for tie_kind, tie_count in ties.items():
        if tie_count:
            notice(name, f"{run_name}: {tie_count:,} {tie_kind}")


def _read(
    config: RunConfig, files: list[Path], query_ids: set[str], faults: Faults, counts: dict[str, int]
) -> tuple[dict[str, list[RunEntry]], Faults, dict[str, None]]:
    """Return the lines of the queries of the data set, documents that one has twice, and the other queries."""
    lists: defaultdict[str, dict[str, RunEntry]] = defaultdict(dict)
    malformed, duplicates, unknown_queries = Faults(), Faults(), dict[str, None]()
    breaks_off = is_of_file = False
    known_names: dict[str, str] = {}  # a document's name is kept once, however many queries have it
    lines = ((path, line) for path in files for line in read_records(config, path))
    for path, line in lines:
        if isinstance(line, Skipped):
            counts["comments"] += 1
            continue
        counts["lines"] += 1
        if isinstance(line, Malformed):
            counts["malformed"] += 1
            breaks_off |= line.loses_more
            is_of_file |= line.of_file
            location = f"{path.name}:{line.line or line.position + 1}"
            malformed.add(f"lines: {line.reason}", f"{line.detail or line.reason} ({location})")
            malformed.hint = malformed.hint or (line.remedy if line.remedy != MEND_RECORD else "")
        elif line.query_id not in query_ids:
            counts["lines_of_other_queries"] += 1
            unknown_queries[line.query_id] = None
        else:
            document = known_names.setdefault(line.document_id, line.document_id)
            line_number = line.line or line.position + 1
            entry = RunEntry(document, line.rank, line.score, path.name, line_number)
            if lists[line.query_id].setdefault(document, entry) is not entry:
                case = f"{document} of query {line.query_id} ({entry.location})"
                duplicates.add("documents that a query has twice", case)
    max_share = config.malformed.skip
    if counts["malformed"] > max_share * counts["lines"] or (breaks_off and max_share < 1):
        faults.cases.update(malformed.cases)
        faults.hint = f"{malformed.hint.removesuffix('.')}." if malformed.hint else faults.hint
        if counts["malformed"] < counts["lines"] and not is_of_file:
            faults.keys["malformed: {skip: <share>}"] = None
    return {query: list(entries.values()) for query, entries in lists.items()}, duplicates, unknown_queries


def _check(query: str, entries: list[RunEntry], config: RunConfig, faults: Faults) -> None:
    by_rank = _is_by_rank(entries, config)
    if by_rank and any(entry.rank is None for entry in entries):
        kind_of_fault, key = "queries without ranks, which are to order them", "order_by: score"
        faults.add(kind_of_fault, query, key=key if all(entry.score is not None for entry in entries) else "")
    elif by_rank:
        for above, below in pairwise(sorted(entries, key=_rank)):
            if above.rank == below.rank:
                case = f"{query}, with rank {below.rank} ({above.location} and {below.location})"
                key = "" if below.score is None else "order_by: score"
                faults.add("queries with one rank for two documents, which ranks are to order", case, key=key)
                return
    elif config.order_by is None and (pair := _contradiction(entries)):
        above, below = pair
        kind = "queries whose scores contradict their ranks"
        key = "order_by: rank, or order_by: score, whichever is right (rank passes scores over)"
        faults.add(kind, f"{query}, ranks {above.rank} and {below.rank} ({below.location})", key=key)


def _check_ranks_rise(lists: dict[str, list[RunEntry]], config: RunConfig, faults: Faults) -> None:
    long_lists = {query: entries for query, entries in lists.items() if len(entries) > 1}
    if long_lists and config.order_by is None and all(map(_has_falling_ranks, long_lists.values())):
        query, (above, *_, below) = next(iter(long_lists.items()))
        key = "order_by: rank, or options: {columns: [query_id, document_id, score]}, whichever is right"
        case = f"{query}, from {above.rank} ({above.location}) to {below.rank} ({below.location})"
        faults.add(FALLING_RANKS, case, len(long_lists), key)


def _has_falling_ranks(entries: list[RunEntry]) -> bool:
    return all(
        above.score is None and above.rank is not None and below.rank is not None and above.rank > below.rank
        for above, below in pairwise(entries)
    )


def _is_by_rank(entries: list[RunEntry], config: RunConfig) -> bool:
    return config.order_by == "rank" or any(entry.score is None for entry in entries)


def _rank(entry: RunEntry) -> int:
    return cast(int, entry.rank)


def _score(entry: RunEntry) -> float:
    return cast(float, entry.score)


def _contradiction(entries: list[RunEntry]) -> tuple[RunEntry, RunEntry] | None:
    if any(entry.rank is None for entry in entries):
        return None
    ordered = sorted(entries, key=lambda entry: (_rank(entry), -_score(entry)))
    return next(((above, below) for above, below in pairwise(ordered) if _score(above) < _score(below)), None)


def _ranking(
    entries: list[RunEntry], unknown_documents: set[str], config: RunConfig, ties: dict[str, int]
) -> Ranking:
    known_entries = [entry for entry in entries if entry.document_id not in unknown_documents]
    if _is_by_rank(entries, config):
        return [(entry.document_id, float(-_rank(entry))) for entry in sorted(known_entries, key=_rank)]
    ordered = sorted(known_entries, key=lambda entry: entry.document_id, reverse=True)
    ranks = {entry.rank for entry in entries}
    ranks_break_ties = None not in ranks and len(ranks) == len(entries) and _contradiction(entries) is None
    if ranks_break_ties:
        ordered.sort(key=_rank)
    ordered.sort(key=_score, reverse=True)
    ties[BY_RANKS if ranks_break_ties else BY_NAMES] += len(ordered) - len({entry.score for entry in ordered})
    return [(entry.document_id, _score(entry)) for entry in ordered]
