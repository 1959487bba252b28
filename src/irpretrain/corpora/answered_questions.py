"""A test collection whose judgements follow from answers: its questions, before anything is retrieved for them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.corpora import DatasetConfig
from irpretrain.contracts import QUERIES
from irpretrain.corpora.belonging import check_queries_are_judged
from irpretrain.corpora.collection import check_collection
from irpretrain.corpora.losses import Loss, lost_documents, malformed_records, tell
from irpretrain.corpora.policy import Tally
from irpretrain.corpora.query_sample import sample
from irpretrain.corpora.topics_and_judgements import (
    REPEATED_JUDGEMENT,
    REPEATED_QUERY,
    Sources,
    check_number,
    read_answers,
    read_queries,
    source_files,
)
from irpretrain.errors import InputError


def prepare_questions(
    dataset: DatasetConfig,
    questions_source: Sources,
    answers_source: Sources,
    documents: Sequence[str | Path],
    seed: int,
    queries: str | Path,
    corpora: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Read, check and sample the questions of a data set; those without an answer are left out and counted.

    Whether the corpus answers a question is not asked: one that nothing retrieved answers counts 0 later. Order and
    sample are those of `testcollection.prepare`.

    Args:
        documents: all shards of the corpus that is searched.
        queries: where the table of queries goes.
        corpora: how many records the corpus must have, by its name; see `collection.check_collection`.

    Returns:
        Counts of what was read, left out and why, and written.

    Raises:
        InputError: a malformed record that is refused, a question without an answer where the data set refuses them,
            nothing left, other numbers than the data set expects, or a corpus that is empty or repeats a document id.
        ConfigError: more queries are asked for than there are questions.
    """
    corpus = check_collection(documents, expected=corpora)
    files = source_files("topics", dataset.queries, questions_source)
    answer_files = source_files("judgements", dataset.qrels, answers_source)
    topics = Tally(dataset.queries.malformed, "queries.malformed")
    answered = Tally(dataset.qrels.malformed, "qrels.malformed")
    questions = read_queries(dataset.queries, files, topics)
    answers = read_answers(dataset.qrels, answer_files, answered)
    check_number(dataset.queries, files, len(questions) + topics.skipped[REPEATED_QUERY], "queries")
    number = len(answers) + answered.skipped[REPEATED_JUDGEMENT]
    check_number(dataset.qrels, answer_files, number, "questions with answers")
    names = {query.query_id for query in questions}
    check_queries_are_judged(names, answers, files[0], answer_files[0], "answer")
    usable = [query for query in questions if query.query_id in answers]
    without = [query for query in questions if query.query_id not in answers]
    if without and dataset.unjudged_queries == "refuse":
        raise InputError(
            files[0],
            f"{len(without):,} questions have no answer, such as {without[0].query_id}",
            without[0].line,
            remedy="Add answers, or set unjudged_queries: drop to leave such questions out and count them.",
        )
    chosen = sample(usable, dataset, seed, files[0], having="an answer")
    QUERIES.write(queries, ({"query_id": query.query_id, "text": query.text} for query in chosen))
    example = f"question {without[0].query_id}" if without else ""
    losses = [
        *lost_documents(documents),
        malformed_records(topics, "questions"),
        malformed_records(answered, "answers"),
        Loss(len(without), len(questions), "questions have no answer and are left out", example),
    ]
    return {
        **tell(dataset.label, f"{len(chosen):,} questions", corpus["documents"], losses),
        "documents": corpus["documents"],
        "queries": topics.counts(),
        "answers": answered.counts(),
        "queries_without_answer": len(without),
        "queries_not_sampled": len(usable) - len(chosen),
        "queries_written": len(chosen),
    }
