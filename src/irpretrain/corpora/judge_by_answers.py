"""Judgements that follow from answers: of the passages retrieved for a question, those that hold one are relevant.

So open-domain question answering judges retrieval (Karpukhin et al., 2020; EntityQuestions, Sciavolino et al., 2021).
The whole collection is not judged: the name of a country answers many questions and stands in very many passages, and
no measure of the first ranks needs more than what was retrieved.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from irpretrain.atomic import atomic_file
from irpretrain.config.corpora import DatasetConfig
from irpretrain.contracts import DOCUMENTS, QUERIES
from irpretrain.corpora.answer_words import spaced
from irpretrain.corpora.collection import document_names
from irpretrain.corpora.policy import Tally
from irpretrain.corpora.topics_and_judgements import Sources, read_answers, source_files
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import read_run

Pairs = dict[str, dict[str, bool]]
"""Query id → id of a passage that was retrieved for it → whether it holds an answer."""


def judge_by_answers(
    dataset: DatasetConfig,
    answers_source: Sources,
    queries: str | Path,
    runs: Sequence[str | Path],
    documents: Sequence[str | Path],
    qrels: str | Path,
) -> dict[str, Any]:
    """Judge every passage that some run retrieves for a question: 1 where its body holds an answer, else 0.

    For a question for which nothing was retrieved the passage is judged whose id comes first (code points), so that it
    counts in every mean. Memory holds the ids of what was retrieved; passages are read one after the other.

    Args:
        answers_source: the answers, in the data set's format of judgements.
        queries: QUERIES table.
        runs: TREC runs of first stages.
        documents: all shards of the corpus, in any number.
        qrels: where the TREC file of judgements goes, sorted by query id, then document id (code points).

    Returns:
        Counts of questions and judgements.

    Raises:
        InputError: a malformed answer that is refused, or a run has a question that the table lacks, or a passage that
            the corpus lacks.
    """
    tally = Tally(dataset.qrels.malformed, "qrels.malformed")
    answers = read_answers(dataset.qrels, source_files("judgements", dataset.qrels, answers_source), tally)
    pairs: Pairs = {name: {} for name in QUERIES.read(queries, ["query_id"])["query_id"].to_pylist()}
    for path in runs:
        _add_run(pairs, path)
    without = [name for name, passages in pairs.items() if not passages]
    if without:
        first = _first_id(documents)
        pairs.update((name, {first: False}) for name in without)
    spellings = {name: [spaced(answer) for answer in answers[name]] for name in pairs}
    _judge(pairs, spellings, documents, runs)
    written = 0
    with atomic_file(qrels) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        for line in _lines(pairs):
            file.write(line)
            written += 1
    return {
        "questions": len(pairs),
        "questions_without_candidates": len(without),
        "questions_without_relevant_candidate": sum(
            not any(passages.values()) for passages in pairs.values()
        ),
        "judgements_written": written,
        "relevant": sum(sum(passages.values()) for passages in pairs.values()),
    }


def _add_run(pairs: Pairs, path: str | Path) -> None:
    for query, ranking in read_run(path).items():
        if query not in pairs:
            raise InputError(path, f"question {query!r} is not in the data set", remedy="Make the run again.")
        pairs[query].update(dict.fromkeys((document for document, _ in ranking), False))


def _first_id(documents: Sequence[str | Path]) -> str:
    names = (pc.min(column).as_py() for column in document_names(documents))
    return str(min(name for name in names if name is not None))


def _judge(
    pairs: Pairs, spellings: dict[str, list[str]], documents: Sequence[str | Path], runs: Sequence[str | Path]
) -> None:
    """Mark the passages that hold an answer; each is cut into words once, however many questions have it."""
    asking: dict[str, list[str]] = defaultdict(list)
    for query, passages in pairs.items():
        for document in passages:
            asking[document].append(query)
    for path in documents:
        for batch in DOCUMENTS.stream_chosen(path, asking, columns=["document_id", "body"]):
            for document, body in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                text = spaced(body)
                for query in asking.pop(document, ()):
                    pairs[query][document] = any(answer in text for answer in spellings[query])
    if asking:
        document, [query, *_] = min(asking.items())
        raise InputError(
            next((path for path in runs if _holds(path, query, document)), documents[0]),
            f"{len(asking):,} retrieved passages are not in the corpus, such as {document!r} (question {query!r})",
            remedy="Check that runs and corpus belong together.",
        )


def _holds(run: str | Path, query: str, document: str) -> bool:
    return any(name == document for name, _ in read_run(run).get(query, ()))


def _lines(pairs: Pairs) -> Iterator[str]:
    for query in sorted(pairs):
        for document in sorted(pairs[query]):
            yield f"{query} 0 {document} {int(pairs[query][document])}\n"
