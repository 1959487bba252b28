"""A test collection: its queries and judgements, read, checked against the corpus, sampled and written canonically."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.collection import absent_documents, check_collection
from irpretrain.corpora.policy import (
    WARNING_SHARE,
    DroppedRecords,
    RecordTally,
    document_losses,
    log_losses,
    malformed_records,
    unread_fields,
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
    read_answers,
    read_judgements,
    read_queries,
    source_files,
)
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import count_of
from irpretrain.foundation.progress import notice


class _Words(NamedTuple):
    """What messages call the parts of a test collection."""

    query: str
    queries: str
    judgement: str
    records: str  # what is counted in the file of judgements
    needed: str  # what a query needs to be used


JUDGED = _Words("query", "queries", "judgement", "judgements", "relevant document")
ANSWERED = _Words("question", "questions", "answer", "questions with answers", "answer")


def prepare(
    dataset: DatasetConfig,
    queries_source: Sources,
    qrels_source: Sources,
    documents: Sequence[str | Path],  # all shards of the corpus that is searched
    seed: int,
    queries: str | Path,  # where the table of queries goes
    # Where the TREC file of judgements goes; None where answers judge later, see `judge_by_answers`.
    qrels: str | Path | None,
    # How many records the corpus must have, by its name; see `collection.check_collection`.
    expected_records: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Read, check and sample the queries and judgements of a data set.

    Queries keep their source's order. Judgements of the sampled queries are sorted by query id, then document id (code
    points). Whether a query is sampled depends on the seed and its id alone: a larger sample contains a smaller one.
    Where answers judge, questions without an answer are left out and counted; a question that no passage of the corpus
    answers stays, and counts 0.

    Returns:
        Counts of records read, left out by reason, and written.

    Raises:
        InputError: a refused malformed record, query without relevant document or judgement of an unknown document,
            nothing left, unexpected numbers, or a corpus that is empty or repeats a document id.
        ConfigError: there are fewer queries than `sample_queries`.
    """
    nouns, read_relevance = (ANSWERED, read_answers) if qrels is None else (JUDGED, read_judgements)
    collection_counts = check_collection(documents, expected=expected_records)
    queries_files = source_files(dataset.queries, queries_source)
    qrels_files = source_files(dataset.qrels, qrels_source)
    topic_tally = RecordTally(dataset.queries.malformed, "datasets.<name>.queries.malformed")
    judgement_tally = RecordTally(dataset.qrels.malformed, "datasets.<name>.qrels.malformed")
    texts = read_queries(dataset.queries, queries_files, topic_tally)
    judgements: dict[str, Any] = read_relevance(dataset.qrels, qrels_files, judgement_tally)
    judgement_count = len(judgements) if qrels is None else sum(map(len, judgements.values()))
    judgement_count += judgement_tally.skipped[REPEATED_JUDGEMENT]
    check_number(dataset.queries, queries_files, len(texts) + topic_tally.skipped[REPEATED_QUERY], "queries")
    check_number(dataset.qrels, qrels_files, judgement_count, nouns.records)
    check_queries_are_judged(texts, judgements, queries_files[0], qrels_files[0], nouns.judgement)
    unknown_queries = {name: len(judgements.pop(name)) for name in sorted(judgements.keys() - texts.keys())}
    self_judgement_count, unknown_documents, usable_queries = 0, set[str](), set(judgements)
    if qrels is not None:
        if dataset.queries_are_documents:
            self_judgement_count = sum(
                grades.pop(query, None) is not None for query, grades in judgements.items()
            )
        unknown_documents = absent_documents(
            {name for grades in judgements.values() for name in grades}, documents
        )
        check_documents_are_known(judgements, unknown_documents, documents, qrels_files[0])
        check_something_is_relevant(judgements, qrels_files[0])
        usable_queries = {
            name for name, grades in judgements.items() if any(grade > 0 for grade in grades.values())
        }
    sampled_queries = sample(texts, usable_queries, dataset, seed, queries_files[0], nouns.needed)
    QUERIES.write(queries, ({"query_id": query, "text": text} for query, text in sampled_queries.items()))
    unusable_queries = [query for query in texts if query not in usable_queries]
    example = f"{nouns.query} {unusable_queries[0]}" if unusable_queries else ""
    losses = [
        *document_losses(documents),
        malformed_records(topic_tally, nouns.queries),
        malformed_records(judgement_tally, f"{nouns.judgement}s"),
        DroppedRecords(
            len(unusable_queries),
            len(texts),
            f"{nouns.queries} have no {nouns.needed} and are left out",
            example,
        ),
    ]
    if text := unread_fields(topic_tally.counts(), dataset.queries.format):
        notice(dataset.label, text)
    sizes_text, counts = count_of(len(sampled_queries), nouns.query), dict[str, int]()
    if qrels is not None:
        written_judgements = {query: judgements[query] for query in sampled_queries}
        lines = [
            f"{q} 0 {d} {written_judgements[q][d]}\n"
            for q in sorted(written_judgements)
            for d in sorted(written_judgements[q])
        ]
        write_text(qrels, "".join(lines))
        unanswerable_loss = _unanswerable_loss(written_judgements, unknown_documents)
        losses += [
            _unknown_query_loss(unknown_queries, judgement_count, texts),
            DroppedRecords(
                self_judgement_count,
                judgement_count,
                "judgements are of the query's own document and are left out",
            ),
            _unknown_document_loss(written_judgements, unknown_documents, documents),
            unanswerable_loss,
        ]
        sizes_text += f", {count_of(len(lines), 'judgement')}"
        counts = {
            "queries_whose_relevant_documents_are_unknown": unanswerable_loss.count,
            "judged_queries_unknown": len(unknown_queries),
            "judgements_of_unknown_queries": sum(unknown_queries.values()),
            "judgements_of_own_documents": self_judgement_count,
            "judgements_of_unknown_documents": sum(
                name in unknown_documents for grades in written_judgements.values() for name in grades
            ),
            "judgements_written": len(lines),
        }
    return {
        **log_losses(dataset.label, sizes_text, collection_counts["documents"], losses),
        "documents": collection_counts["documents"],
        "queries": topic_tally.counts(),
        f"{nouns.judgement}s": judgement_tally.counts(),
        "queries_left_out": len(unusable_queries),
        "queries_not_sampled": len(usable_queries) - len(sampled_queries),
        "queries_written": len(sampled_queries),
        **counts,
    }


def _unknown_query_loss(
    judgements_of_query: Mapping[str, int], judgement_count: int, known_query_ids: Iterable[str]
) -> DroppedRecords:
    example = f"query {min(judgements_of_query)}" if judgements_of_query else ""
    hint = near_hint(judgements_of_query, [pa.array(sorted(known_query_ids))], "the file of topics")
    loss_text = "judgements are of queries that the topics lack and are left out"
    return DroppedRecords(sum(judgements_of_query.values()), judgement_count, loss_text, example, hint)


def _unknown_document_loss(
    judgements: Judgements, unknown_documents: set[str], documents: Sequence[str | Path]
) -> DroppedRecords:
    pairs = sorted(
        (query, name) for query, grades in judgements.items() for name in grades if name in unknown_documents
    )
    total = sum(map(len, judgements.values()))
    loss_text = "judgements are of documents that the corpus lacks"
    if not pairs:
        return DroppedRecords(0, total, loss_text)
    query, document_id = pairs[0]
    is_frequent = len(pairs) > WARNING_SHARE * total  # looking for the cause reads the corpus
    hint = document_hint({name for _, name in pairs}, judgements, documents) if is_frequent else ""
    return DroppedRecords(len(pairs), total, loss_text, f"{document_id} (query {query})", hint)


def _unanswerable_loss(judgements: Judgements, unknown_documents: set[str]) -> DroppedRecords:
    query_ids = sorted(
        query
        for query, grades in judgements.items()
        if all(document_id in unknown_documents for document_id, grade in grades.items() if grade > 0)
    )
    example = f"query {query_ids[0]}" if query_ids else ""
    loss_text = "queries have no relevant document in the corpus and score 0"
    return DroppedRecords(len(query_ids), len(judgements), loss_text, example)
