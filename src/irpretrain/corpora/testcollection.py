"""A test collection: its queries and judgements, read, checked against the corpus, sampled and written canonically."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from irpretrain.atomic import write_text
from irpretrain.config.corpora import DatasetConfig, FileConfig
from irpretrain.contracts import QUERIES
from irpretrain.corpora.collection import absent_documents, check_collection
from irpretrain.corpora.files import given_files
from irpretrain.corpora.policy import Tally
from irpretrain.corpora.records import Judgement, Malformed, Query
from irpretrain.corpora.registry import Kind, format_module
from irpretrain.errors import ConfigError, InputError
from irpretrain.randomness import stream_key

Judgements = dict[str, dict[str, int]]
"""Query id → document id → relevance."""


REPEATED_QUERY, REPEATED_JUDGEMENT = "repeated query", "repeated judgement"
Sources = str | Path | Sequence[str | Path]
"""A file, or several that are read one after the other."""


def prepare(
    dataset: DatasetConfig,
    queries_source: Sources,
    qrels_source: Sources,
    documents: Sequence[str | Path],
    seed: int,
    queries: str | Path,
    qrels: str | Path,
    corpora: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Read, check and sample the queries and judgements of a data set.

    Queries keep their source's order. Judgements are kept for the queries that remain and are sorted by query
    id, then document id (code points). A query's place in the sample depends on the seed and its id alone: a
    larger sample contains a smaller one.

    Args:
        dataset: the section of the configuration.
        queries_source: topics.
        qrels_source: relevance judgements.
        documents: all shards of the corpus that is searched.
        seed: seed of the sample.
        queries: where the table of queries goes.
        qrels: where the TREC file of judgements goes.
        corpora: how many records the corpus must have, by its name; see `collection.check_collection`.

    Returns:
        Counts of what was read, left out and why, and written.

    Raises:
        InputError: a malformed record that is refused, a query without a relevant document or a judgement of
            an unknown document where the data set refuses them, nothing left, other numbers than the data set expects,
            or a corpus that is empty or repeats a document id.
        ConfigError: more queries or folds are asked for than there are queries.
    """
    corpus = check_collection(documents, expected=corpora)
    queries_files = _files("topics", dataset.queries, queries_source)
    qrels_files = _files("judgements", dataset.qrels, qrels_source)
    topics = Tally(dataset.queries.malformed, "queries.malformed")
    judged = Tally(dataset.qrels.malformed, "qrels.malformed")
    found = _read_queries(dataset.queries, queries_files, topics)
    judgements = _read_judgements(dataset.qrels, qrels_files, judged)
    repeated = topics.skipped[REPEATED_QUERY], judged.skipped[REPEATED_JUDGEMENT]
    _check_number(dataset.queries, queries_files, len(found) + repeated[0], "queries")
    number = sum(map(len, judgements.values())) + repeated[1]
    _check_number(dataset.qrels, qrels_files, number, "judgements")
    unknown_queries = sorted(set(judgements) - {query.query_id for query in found})
    unknown_query_judgements = sum(len(judgements.pop(name)) for name in unknown_queries)
    unknown = absent_documents({name for pairs in judgements.values() for name in pairs}, documents)
    # Where the corpus has not one of the judged documents, they do not belong together whatever the setting.
    if unknown and (dataset.unknown_documents == "refuse" or len(unknown) == _judged_documents(judgements)):
        _refuse_unknown(judgements, unknown, qrels_files[0])
    relevant = {name for name, pairs in judgements.items() if any(grade > 0 for grade in pairs.values())}
    usable = [query for query in found if query.query_id in relevant]
    if len(usable) < len(found) and dataset.unjudged_queries == "refuse":
        _refuse_unjudged(found, relevant, queries_files[0])
    chosen = _sample(usable, dataset, seed, queries_files[0])
    kept = {query.query_id: judgements[query.query_id] for query in chosen}
    _tell(dataset.label, len(found) - len(usable), len(found), _hopeless(kept, unknown))
    QUERIES.write(queries, ({"query_id": query.query_id, "text": query.text} for query in chosen))
    lines = [f"{q} 0 {d} {kept[q][d]}\n" for q in sorted(kept) for d in sorted(kept[q])]
    write_text(qrels, "".join(lines))
    return {
        "documents": corpus["documents"],
        "queries": topics.counts(),
        "judgements": judged.counts(),
        "queries_without_relevant_document": len(found) - len(usable),
        "queries_not_sampled": len(usable) - len(chosen),
        "queries_whose_relevant_documents_are_unknown": _hopeless(kept, unknown),
        "judged_queries_unknown": len(unknown_queries),
        "judgements_of_unknown_queries": unknown_query_judgements,
        "judgements_of_unknown_documents": sum(name in unknown for pairs in kept.values() for name in pairs),
        "queries_written": len(chosen),
        "judgements_written": len(lines),
    }


def _files(kind: Kind, config: FileConfig, sources: Sources) -> list[Path]:
    return given_files(sources, getattr(format_module(kind, config.format), "SUFFIXES", None))


def _check_number(config: FileConfig, files: list[Path], found: int, what: str) -> None:
    if config.expected not in (None, found):
        others = f" (and {len(files) - 1} more files)" if len(files) > 1 else ""
        raise InputError(
            files[0],
            f"there are {found:,} {what} here{others}, expected were {config.expected:,}",
            remedy="Get the data again; if these are the data you mean, give their section another `expected`.",
        )


def _read_queries(config: FileConfig, files: list[Path], tally: Tally) -> list[Query]:
    """Read the queries; one that is repeated word for word counts once, one with another text is malformed."""
    first = dict[str, Query]()
    for path in files:
        for query in cast(Any, tally.sound(path, _records("topics", config, path))):
            earlier = first.setdefault(query.query_id, query)
            if earlier is query:
                continue
            if earlier.text == query.text:
                tally.skipped[REPEATED_QUERY] += 1
            else:
                detail = f"{query.query_id} was {earlier.text[:60]!r} before"
                tally.report(path, Malformed(query.position, "query id occurs twice", detail, query.line))
    return list(first.values())


def _read_judgements(config: FileConfig, files: list[Path], tally: Tally) -> Judgements:
    """Read the judgements; a repeated one counts once, one with another relevance is malformed."""
    read = Judgements()
    for path in files:
        for entry in cast(Any, tally.sound(path, _records("judgements", config, path))):
            _add(read, entry, path, tally)
    return read


def _add(read: Judgements, entry: Judgement, path: Path, tally: Tally) -> None:
    pairs = read.setdefault(entry.query_id, {})
    earlier = pairs.get(entry.document_id)
    if earlier is None:
        pairs[entry.document_id] = entry.relevance
    elif earlier == entry.relevance:
        tally.skipped[REPEATED_JUDGEMENT] += 1
    else:
        detail = f"{entry.query_id} {entry.document_id} was {earlier} before and is {entry.relevance} here"
        tally.report(path, Malformed(entry.position, "judged twice", detail, entry.line))


def _records(kind: Kind, config: FileConfig, path: Path) -> Any:
    reader = format_module(kind, config.format)
    return reader.read(path, reader.Options(**config.options))


def _judged_documents(judgements: Judgements) -> int:
    return len({name for pairs in judgements.values() for name in pairs})


def _sample(usable: list[Query], dataset: DatasetConfig, seed: int, source: str | Path) -> list[Query]:
    """Return the sample, in the order of the source."""
    count, where = dataset.sample_queries, f"datasets ({dataset.label})"
    if not usable:
        remedy = "Check that topics, judgements and corpus belong together."
        raise InputError(source, "no query with a relevant document is left", remedy=remedy)
    if count is not None and count > len(usable):
        raise ConfigError(
            f"{where}.sample_queries: {count} queries are asked for, but {source} has {len(usable)} with a relevant "
            "document; lower it, or give null for all"
        )
    names = (query.query_id for query in usable)
    drawn = set(sorted(names, key=lambda name: (stream_key(seed, "sample-queries", name), name))[:count])
    chosen = [query for query in usable if query.query_id in drawn]
    if dataset.train_on is None and isinstance(dataset.folds, int) and dataset.folds > len(chosen):
        raise ConfigError(
            f"{where}.folds: {dataset.folds} folds cannot be made of the {len(chosen)} queries that are left of "
            f"{source}; lower folds"
        )
    return chosen


def _hopeless(kept: Judgements, unknown: set[str]) -> int:
    """Count queries none of whose relevant documents can be found, because the corpus lacks them."""
    return sum(all(name in unknown for name, grade in pairs.items() if grade > 0) for pairs in kept.values())


def _tell(label: str, without: int, queries: int, hopeless: int) -> None:
    """Say on the screen what the counts in the sidecar would be looked up for too late."""
    if without:
        has = "has no relevant document and is" if without == 1 else "have no relevant document and are"
        print(f"[{label}] {without:,} of {queries:,} queries {has} left out", file=sys.stderr)
    if hopeless:
        print(
            f"[{label}] of {hopeless:,} queries the corpus lacks every relevant document; they score 0",
            file=sys.stderr,
        )


def _refuse_unknown(judgements: Judgements, unknown: set[str], source: str | Path) -> None:
    query, document = min((q, d) for q, pairs in judgements.items() for d in pairs if d in unknown)
    raise InputError(
        source,
        f"{len(unknown):,} judged documents are not in the corpus, such as {document} (query {query})",
        remedy="Check that corpus and judgements belong together (identifiers, and for SQuAD the unit). Single unknown "
        "documents are kept and counted with unknown_documents: ignore.",
    )


def _refuse_unjudged(found: list[Query], relevant: set[str], source: str | Path) -> None:
    without = [query for query in found if query.query_id not in relevant]
    raise InputError(
        source,
        f"{len(without):,} queries have no relevant document, such as {without[0].query_id}",
        without[0].line,
        remedy="Add judgements, or set unjudged_queries: drop to leave such queries out and count them.",
    )
