"""A test collection: its queries and judgements, read, checked against the corpus, sampled and written canonically."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.collection import absent_documents, check_collection
from irpretrain.corpora.policy import (
    WORTH_A_WARNING,
    DroppedRecords,
    RecordTally,
    log,
    lost_documents,
    malformed_records,
)
from irpretrain.corpora.shared_queries import sample
from irpretrain.corpora.topics_and_judgements import (
    REPEATED_JUDGEMENT,
    REPEATED_QUERY,
    Judgements,
    Sources,
    check_documents_are_known,
    check_number,
    check_queries_are_judged,
    check_something_is_relevant,
    document_hint,
    near_hint,
    read_judgements,
    read_queries,
    source_files,
)
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import count_of


def prepare(
    dataset: DatasetConfig,
    queries_source: Sources,
    qrels_source: Sources,
    documents: Sequence[str | Path],  # all shards of the corpus that is searched
    seed: int,
    queries: str | Path,  # where the table of queries goes
    qrels: str | Path,  # where the TREC file of judgements goes
    # How many records the corpus must have, by its name; see `collection.check_collection`.
    corpora: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Read, check and sample the queries and judgements of a data set.

    Queries keep their source's order. Judgements of the sampled queries are sorted by query id, then document id (code
    points). Whether a query is sampled depends on the seed and its id alone: a larger sample contains a smaller one.

    Returns:
        Counts of records read, left out by reason, and written.

    Raises:
        InputError: a refused malformed record, query without relevant document or judgement of an unknown document,
            nothing left, unexpected numbers, or a corpus that is empty or repeats a document id.
        ConfigError: there are fewer queries than `sample_queries`.
    """
    corpus = check_collection(documents, expected=corpora)
    queries_files = source_files("topics", dataset.queries, queries_source)
    qrels_files = source_files("judgements", dataset.qrels, qrels_source)
    topics = RecordTally(dataset.queries.malformed, "queries.malformed")
    judged = RecordTally(dataset.qrels.malformed, "qrels.malformed")
    all_queries = read_queries(dataset.queries, queries_files, topics)
    judgements = read_judgements(dataset.qrels, qrels_files, judged)
    repeated = topics.skipped[REPEATED_QUERY], judged.skipped[REPEATED_JUDGEMENT]
    check_number(dataset.queries, queries_files, len(all_queries) + repeated[0], "queries")
    number = sum(map(len, judgements.values())) + repeated[1]
    check_number(dataset.qrels, qrels_files, number, "judgements")
    names = {query.query_id for query in all_queries}
    check_queries_are_judged(names, judgements, queries_files[0], qrels_files[0])
    strangers = {name: len(judgements.pop(name)) for name in sorted(set(judgements) - names)}
    own = 0
    if dataset.queries_are_documents:
        own = sum(judged.pop(query, None) is not None for query, judged in judgements.items())
    unknown = absent_documents({name for pairs in judgements.values() for name in pairs}, documents)
    check_documents_are_known(judgements, unknown, documents, qrels_files[0])
    check_something_is_relevant(judgements, qrels_files[0])
    relevant = {name for name, pairs in judgements.items() if any(grade > 0 for grade in pairs.values())}
    usable = [query for query in all_queries if query.query_id in relevant]
    without = [query for query in all_queries if query.query_id not in relevant]
    chosen = sample(usable, dataset, seed, queries_files[0])
    retained = {query.query_id: judgements[query.query_id] for query in chosen}
    QUERIES.write(queries, ({"query_id": query.query_id, "text": query.text} for query in chosen))
    lines = [f"{q} 0 {d} {retained[q][d]}\n" for q in sorted(retained) for d in sorted(retained[q])]
    write_text(qrels, "".join(lines))
    example = f"query {without[0].query_id}" if without else ""
    hopeless = _hopeless(retained, unknown)
    losses = [
        *lost_documents(documents),
        malformed_records(topics, "queries"),
        malformed_records(judged, "judgements"),
        DroppedRecords(
            len(without), len(all_queries), "queries have no relevant document and are left out", example
        ),
        _of_unknown_queries(strangers, number, names),
        DroppedRecords(own, number, "judgements are of the query's own document and are left out"),
        _of_unknown_documents(retained, unknown, documents),
        hopeless,
    ]
    reported = log(
        dataset.label,
        f"{count_of(len(chosen), 'query')}, {count_of(len(lines), 'judgement')}",
        corpus["documents"],
        losses,
    )
    return {
        **reported,
        "documents": corpus["documents"],
        "queries": topics.counts(),
        "judgements": judged.counts(),
        "queries_without_relevant_document": len(without),
        "queries_not_sampled": len(usable) - len(chosen),
        "queries_whose_relevant_documents_are_unknown": hopeless.number,
        "judged_queries_unknown": len(strangers),
        "judgements_of_unknown_queries": sum(strangers.values()),
        "judgements_of_own_documents": own,
        "judgements_of_unknown_documents": sum(
            name in unknown for pairs in retained.values() for name in pairs
        ),
        "queries_written": len(chosen),
        "judgements_written": len(lines),
    }


def _of_unknown_queries(strangers: Mapping[str, int], judgements: int, names: set[str]) -> DroppedRecords:
    example = f"query {min(strangers)}" if strangers else ""
    hint = near_hint(strangers, [pa.array(sorted(names))], "the file of topics")
    what = "judgements are of queries that the topics lack and are left out"
    return DroppedRecords(sum(strangers.values()), judgements, what, example, hint)


def _of_unknown_documents(
    retained: Judgements, unknown: set[str], documents: Sequence[str | Path]
) -> DroppedRecords:
    pairs = sorted((query, name) for query, judged in retained.items() for name in judged if name in unknown)
    total = sum(map(len, retained.values()))
    what = "judgements are of documents that the corpus lacks"
    if not pairs:
        return DroppedRecords(0, total, what)
    query, name = pairs[0]
    much = len(pairs) > WORTH_A_WARNING * total  # looking for the cause reads the corpus
    hint = document_hint({name for _, name in pairs}, retained, documents) if much else ""
    return DroppedRecords(len(pairs), total, what, f"{name} (query {query})", hint)


def _hopeless(retained: Judgements, unknown: set[str]) -> DroppedRecords:
    names = sorted(
        query
        for query, judged in retained.items()
        if all(name in unknown for name, grade in judged.items() if grade > 0)
    )
    example = f"query {names[0]}" if names else ""
    what = "queries have no relevant document in the corpus and score 0"
    return DroppedRecords(len(names), len(retained), what, example)
