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
from irpretrain.corpora.collection import document_names
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.topics_and_judgements import Sources, read_answers, source_files
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES
from irpretrain.foundation.errors import InputError

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
Pairs = dict[str, dict[str, bool]]


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
    tally = RecordTally(dataset.qrels.malformed, "qrels.malformed")
    answers = read_answers(dataset.qrels, source_files(dataset.qrels, answers_source), tally)
    pairs: Pairs = {name: {} for name in QUERIES.read(queries, ["query_id"])["query_id"].to_pylist()}
    for path in runs:
        for query, ranking in read_run(path).items():
            if query not in pairs:
                raise InputError(
                    path, f"question {query!r} is not in the data set", remedy="Make the run again."
                )
            pairs[query].update((document, False) for document, _ in ranking)
    without_candidates = [name for name, passages in pairs.items() if not passages]
    if without_candidates:
        first_document = min(filter(None, (pc.min(column).as_py() for column in document_names(documents))))
        pairs.update((name, {first_document: False}) for name in without_candidates)
    spellings = {name: [spaced(answer) for answer in answers[name]] for name in pairs}
    _judge(pairs, spellings, documents, runs)
    lines = [f"{q} 0 {d} {int(pairs[q][d])}\n" for q in sorted(pairs) for d in sorted(pairs[q])]
    write_text(qrels, "".join(lines))
    return {
        "questions": len(pairs),
        "questions_without_candidates": len(without_candidates),
        "questions_without_relevant_candidate": sum(
            not any(passages.values()) for passages in pairs.values()
        ),
        "judgements_written": len(lines),
        "relevant": sum(sum(passages.values()) for passages in pairs.values()),
    }


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
            next(path for path in runs if document in dict(read_run(path).get(query, ()))),
            f"{len(asking):,} retrieved passages are not in the corpus, such as {document!r} (question {query!r})",
            remedy="Check that runs and corpus belong together.",
        )
