"""A test collection: its queries and judgements, read, checked against the corpus, sampled and written canonically."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_text
from irpretrain.config.corpora import DatasetConfig
from irpretrain.contracts import QUERIES
from irpretrain.corpora.collection import absent_documents, check_collection
from irpretrain.corpora.policy import Tally
from irpretrain.corpora.query_sample import sample
from irpretrain.corpora.records import Query
from irpretrain.corpora.topics_and_judgements import (
    REPEATED_JUDGEMENT,
    REPEATED_QUERY,
    Judgements,
    Sources,
    check_number,
    read_judgements,
    read_queries,
    source_files,
)
from irpretrain.errors import InputError


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
    queries_files = source_files("topics", dataset.queries, queries_source)
    qrels_files = source_files("judgements", dataset.qrels, qrels_source)
    topics = Tally(dataset.queries.malformed, "queries.malformed")
    judged = Tally(dataset.qrels.malformed, "qrels.malformed")
    found = read_queries(dataset.queries, queries_files, topics)
    judgements = read_judgements(dataset.qrels, qrels_files, judged)
    repeated = topics.skipped[REPEATED_QUERY], judged.skipped[REPEATED_JUDGEMENT]
    check_number(dataset.queries, queries_files, len(found) + repeated[0], "queries")
    number = sum(map(len, judgements.values())) + repeated[1]
    check_number(dataset.qrels, qrels_files, number, "judgements")
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
    chosen = sample(usable, dataset, seed, queries_files[0])
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


def _judged_documents(judgements: Judgements) -> int:
    return len({name for pairs in judgements.values() for name in pairs})


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
