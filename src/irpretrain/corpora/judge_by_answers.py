"""A test collection whose judgements follow from answers, as in open-domain question answering.

Whether a passage holds an answer: `has_answer` of Dense Passage Retrieval (dpr/data/qa_validation.py), by string.

Passage and answer are decomposed (NFD) and cut into words: runs of letters, numbers and marks, or one other character
that is no separator, control, format or unassigned one. A passage holds an answer if the answer's words are consecutive
in it, ignoring case.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import regex

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.collection import stream_ids
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.topics_and_judgements import Sources, read_answers, source_files
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES
from irpretrain.foundation.errors import InputError, count_of

_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def spaced(text: str) -> str:
    """Return the words of a text in small letters, each between spaces."""
    words = (word.lower() for word in _WORD.findall(unicodedata.normalize("NFD", text)))
    # So an answer is in a passage exactly if `spaced(answer)` is in `spaced(passage)`: a search in C.
    return f" {' '.join(words)} "


def has_words(text: str) -> bool:
    return _WORD.search(text) is not None


# Judgements that follow from answers: of the passages retrieved for a question, those that hold one are relevant.
#
# So open-domain question answering judges retrieval (Karpukhin et al., 2020; EntityQuestions, Sciavolino et al.,
# 2021). The whole collection is not judged: the name of a country answers many questions and stands in very many
# passages, and no measure of the first ranks needs more than what was retrieved.


# Query id → id of a passage that was retrieved for it → whether it holds an answer.
PassageJudgements = dict[str, dict[str, bool]]


def judge_by_answers(
    dataset: DatasetConfig,
    answers_source: Sources,  # the answers, in the data set's format of judgements
    queries: str | Path,  # QUERIES table
    runs: Sequence[str | Path],  # TREC runs of first stages
    documents: Sequence[str | Path],  # all shards of the corpus, in any number
    # Where the TREC file of judgements goes, sorted by query id, then document id (code points).
    qrels: str | Path,
) -> dict[str, Any]:
    """Judge every passage that some run retrieves for a question: 1 if its body holds an answer, else 0; return counts.

    For a question without candidates the passage with the first id (code points) is judged, so that the question counts
    in every mean. Memory holds the ids of what was retrieved; passages are streamed.

    Raises:
        InputError: a refused malformed answer, or a run has an unknown question or passage.
    """
    tally = RecordTally(dataset.qrels.malformed, "datasets.<name>.qrels.malformed")
    answers = read_answers(dataset.qrels, source_files(dataset.qrels, answers_source), tally)
    query_ids = QUERIES.read(queries, ["query_id"])["query_id"].to_pylist()
    judgements: PassageJudgements = {query: {} for query in query_ids}
    for path in runs:
        for query, ranking in read_run(path).items():
            if query not in judgements:
                raise InputError(
                    path, f"question {query!r} is not in the data set", remedy="Make the run again."
                )
            judgements[query].update((document, False) for document, _ in ranking)
    without_candidates = [query for query, passages in judgements.items() if not passages]
    if without_candidates:
        first_document = min(filter(None, (pc.min(ids).as_py() for ids in stream_ids(documents))))
        judgements.update((query, {first_document: False}) for query in without_candidates)
    spaced_answers = {query: [spaced(answer) for answer in answers[query]] for query in judgements}
    _judge(judgements, spaced_answers, documents, runs)
    triples = sorted((query, *grade) for query, passages in judgements.items() for grade in passages.items())
    lines = [f"{query} 0 {passage} {int(is_relevant)}\n" for query, passage, is_relevant in triples]
    write_text(qrels, "".join(lines))
    return {
        "questions": len(judgements),
        "questions_without_candidates": len(without_candidates),
        "questions_without_relevant_candidate": sum(
            not any(passages.values()) for passages in judgements.values()
        ),
        "judgements_written": len(lines),
        "relevant": sum(sum(passages.values()) for passages in judgements.values()),
    }


def _judge(
    judgements: PassageJudgements,
    answers: dict[str, list[str]],  # `spaced`
    documents: Sequence[str | Path],
    runs: Sequence[str | Path],
) -> None:
    """Mark the passages that hold an answer; each is cut into words once, however many questions have it."""
    queries_by_document: dict[str, list[str]] = defaultdict(list)
    for query, passages in judgements.items():
        for document in passages:
            queries_by_document[document].append(query)
    for path in documents:
        for batch in DOCUMENTS.stream_documents(path, queries_by_document, columns=["document_id", "body"]):
            for document, body in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                text = spaced(body)
                for query in queries_by_document.pop(document, ()):
                    judgements[query][document] = any(answer in text for answer in answers[query])
    if queries_by_document:
        document, [query, *_] = min(queries_by_document.items())
        raise InputError(
            next(path for path in runs if document in dict(read_run(path).get(query, ()))),
            f"{count_of(len(queries_by_document), 'retrieved passage')} not in the corpus, such as {document!r} "
            f"(question {query!r})",
            remedy="Check that runs and corpus belong together.",
        )
