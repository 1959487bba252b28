"""Which queries of a data set are used, and which of them other data sets share."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import regex

from irpretrain.config.corpora import DatasetConfig
from irpretrain.evaluation.runs import read_qrels, relevant
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.progress import notice
from irpretrain.foundation.randomness import stream_key
from irpretrain.text.texts import read_queries


def sample(
    texts: Mapping[str, str],  # of all queries by their identifiers, in the order of the source
    usable_queries: Collection[str],  # the queries that can be used
    dataset: DatasetConfig,
    seed: int,
    source: str | Path,  # the file of the queries, for messages
    requirement: str,  # what makes a query usable, for messages
) -> dict[str, str]:
    """Return the sample of a data set's queries, in the order of the source; ConfigError if there are too few."""
    sample_size, usable_ids = dataset.sample_queries, [query for query in texts if query in usable_queries]
    if sample_size is not None and sample_size > len(usable_ids):
        raise ConfigError(
            f"datasets ({dataset.label}).sample_queries: {sample_size} queries are asked for, but {source} has "
            f"{len(usable_ids)} with {'an' if requirement == 'answer' else 'a'} {requirement}; lower it, or give null "
            "for all"
        )
    usable_ids.sort(key=lambda query: (stream_key(seed, "sample-queries", query), query))
    drawn_ids = set(usable_ids[:sample_size])
    return {query: text for query, text in texts.items() if query in drawn_ids}


# When two queries ask the same: their texts are equal but for case, white space and punctuation.


SEPARATORS = regex.compile(r"[\p{P}\p{S}\p{Z}]+")


def compared_text(text: str) -> str:
    """Return text as queries are compared: case-folded, one space for each run of white space, punctuation and symbols.

    A text of punctuation alone keeps it; "" has no words at all.
    """
    folded = text.casefold()
    return " ".join(SEPARATORS.sub(" ", folded).split() or folded.split())


# Test queries that train, choose or tune too: found by the queries themselves, whatever their data set is called.


# Largest share of the tested queries that may have the text of a used query, or seem to be one in other words, under
# other identifiers: different people ask some questions in the same words; a larger share is the same queries,
# numbered anew. Of a random split of SQuAD's questions, whose paragraphs are asked about four times each, 2 % seem
# reworded.
MAX_CHANCE_SHARE = 0.1

# Share of the letters that two queries with the same relevant documents have in common, word order aside, if one
# rewords the other, where documents do not tell queries apart: several questions are asked about a paragraph or
# topic.
MIN_SHARED_LETTERS = 0.9

Paths = Sequence[str | Path]


@dataclass(frozen=True)
class _Query:
    """A query as it is compared: its text without case and punctuation, and the documents that are relevant."""

    identifier: str
    text: str
    relevant: frozenset[str]

    def shares_documents(self, other: _Query) -> bool:
        """Whether at least half of the fewer documents are shared: single ones may be numbered alike by chance."""
        fewest_documents = min(len(self.relevant), len(other.relevant))
        return bool(fewest_documents) and 2 * len(self.relevant & other.relevant) >= fewest_documents

    def shares_letters(self, other: _Query) -> bool:
        texts = [" ".join(sorted(query.text.split())) for query in (self, other)]
        matcher = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
        # The quick ones are upper bounds.
        ratios = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        return all(ratio() >= MIN_SHARED_LETTERS for ratio in ratios)


# Identifier of a tested query → it, and a used one that it resembles.
QueryPairs = dict[str, tuple[_Query, _Query]]


@dataclass(frozen=True)
class _Likenesses:
    same: QueryPairs  # identifier and text are equal, or one of them is and relevant documents are shared
    same_text: QueryPairs  # the text is equal
    same_documents: QueryPairs  # exactly the same documents are relevant
    reworded: QueryPairs  # of these, the ones that seem to be the same query in other words


def check_shared_queries(
    used_table: str | Path,  # QUERIES table of the queries that train, choose or tune
    tested_table: str | Path,  # QUERIES table of the queries that results are measured on
    dataset_names: tuple[str, str],  # the data sets' names, the used one first
    config_keys: Sequence[str],  # keys of the configuration that name the used data set, for the message
    output: str | Path,  # JSON with the counts
    # TREC files of the judgements of both, the used one first; None if queries are compared by their texts
    # alone.
    qrels: tuple[str | Path, str | Path] | None = None,
    # DOCUMENTS tables of both corpora, the used one first, where they are read from different paths: only
    # documents of equal identifiers and texts are the same. None if the corpora are one.
    documents: tuple[Paths, Paths] | None = None,
) -> dict[str, Any]:
    """Refuse queries that are tested and also used; count those that only share their text or relevant documents.

    Texts are equal by `compared_text`. A query is the same one if identifier and text are equal, or one of them and at
    least half of the fewer relevant documents. It may be a paraphrase if all of its relevant documents are the same.

    Returns:
        Counts: used queries, tested queries, and tested ones whose text, or whose relevant documents, are a used one's.

    Raises:
        ConfigError: a tested query is used too, or too many may be.
    """
    used_relevant, tested_relevant = map(_relevant, qrels) if qrels else ({}, {})
    if documents:
        used_relevant = _with_distinct_ids(used_relevant, tested_relevant, documents)
    tested_queries = {query.identifier: query for query in _queries(tested_table, tested_relevant)}
    used_queries = [*_queries(used_table, used_relevant)]
    likenesses = _compare(used_queries, tested_queries)
    usage = f"{' and '.join(config_keys)}: data set {dataset_names[0]}"
    _refuse(likenesses, len(tested_queries), usage, dataset_names)
    _log(likenesses, len(tested_queries), dataset_names)
    counts = {
        "queries_used": len(used_queries),
        "queries_tested": len(tested_queries),
        "tested_queries_of_equal_text": len(likenesses.same_text),
        "tested_queries_of_equal_documents": len(likenesses.same_documents),
    }
    write_text(output, json.dumps(counts, indent=1) + "\n")
    return counts


def _compare(used_queries: Sequence[_Query], tested_queries: Mapping[str, _Query]) -> _Likenesses:
    tested_by_text: dict[str, list[_Query]] = {}
    tested_by_documents: dict[frozenset[str], list[_Query]] = {}
    for query in tested_queries.values():
        tested_by_text.setdefault(query.text, []).append(query)
        if query.relevant:
            tested_by_documents.setdefault(query.relevant, []).append(query)
    times_used = Counter(query.relevant for query in used_queries)
    likenesses = _Likenesses({}, {}, {}, {})
    for query in used_queries:
        namesake = tested_queries.get(query.identifier)
        if namesake is not None and (namesake.text == query.text or query.shares_documents(namesake)):
            likenesses.same[namesake.identifier] = namesake, query
        for tested_query in tested_by_text.get(query.text, ()):
            likenesses.same_text[tested_query.identifier] = tested_query, query
            if query.shares_documents(tested_query):
                likenesses.same[tested_query.identifier] = tested_query, query
        equally_judged_queries = tested_by_documents.get(query.relevant, ())
        is_only_pair = (
            len(query.relevant) > 1 and times_used[query.relevant] == len(equally_judged_queries) == 1
        )
        for tested_query in equally_judged_queries:
            likenesses.same_documents[tested_query.identifier] = tested_query, query
            if is_only_pair or query.shares_letters(tested_query):
                likenesses.reworded[tested_query.identifier] = tested_query, query
    return likenesses


def _refuse(likenesses: _Likenesses, tested_count: int, usage: str, dataset_names: tuple[str, str]) -> None:
    used_name, tested_name = dataset_names
    remedy = (
        f"Test queries must not train, choose or tune: leave them out of {used_name}, or name other queries."
    )
    tests = f"of the {tested_count:,} queries that {tested_name} tests"
    if pairs := likenesses.same:
        raise ConfigError(
            f"{usage} has {len(pairs):,} {tests}, such as {_example(pairs)}\n"
            f"  {remedy} If they are other queries, give them other identifiers."
        )
    for pairs, likeness in (
        (likenesses.same_text, "the texts"),
        (likenesses.reworded, "exactly the relevant documents"),
    ):
        if len(pairs) > MAX_CHANCE_SHARE * tested_count:
            raise ConfigError(
                f"{usage} has {likeness} of {len(pairs):,} {tests}, under other identifiers, such as "
                f"{_example(pairs)}; at most {MAX_CHANCE_SHARE:.0%} may be equal by chance\n  {remedy}"
            )


def _log(likenesses: _Likenesses, tested_count: int, dataset_names: tuple[str, str]) -> None:
    used_name, tested_name = dataset_names
    if pairs := likenesses.same_text:
        notice(
            tested_name,
            f"{len(pairs):,} of {tested_count:,} tested queries have the text of a query of {used_name}, "
            f"such as {min(pairs)}",
        )
    pairs = likenesses.same_documents
    if len(pairs) <= MAX_CHANCE_SHARE * tested_count:
        pairs = likenesses.reworded
    if pairs:
        notice(
            tested_name,
            f"WARNING: {len(pairs):,} of {tested_count:,} tested queries have exactly the relevant documents of a "
            f"query of {used_name}, such as {_example(pairs)}. If they are the same queries in other words, leave "
            f"them out of {used_name}: test queries must not train, choose or tune.",
        )


def _example(pairs: QueryPairs) -> str:
    tested_query, used_query = pairs[min(pairs)]
    return f"{tested_query.identifier} ({tested_query.text!r}), there {used_query.identifier} ({used_query.text!r})"


def _queries(path: str | Path, relevant_documents: Mapping[str, set[str]]) -> Iterator[_Query]:
    for identifier, text in read_queries(path).items():
        yield _Query(identifier, compared_text(text), frozenset(relevant_documents.get(identifier, ())))


def _relevant(path: str | Path) -> dict[str, set[str]]:
    return {query: relevant(grades) for query, grades in read_qrels(path).items()}


def _with_distinct_ids(
    used_relevant: Mapping[str, set[str]],
    tested_relevant: Mapping[str, set[str]],
    documents: tuple[Paths, Paths],
) -> dict[str, set[str]]:
    """Return the used queries' relevant documents, renamed where only the identifier equals a tested document's."""
    shared_ids = set().union(*used_relevant.values()) & set().union(*tested_relevant.values())
    used_texts, tested_texts = (_text_digests(paths, shared_ids) for paths in documents)
    differing_ids = {
        document_id
        for document_id in shared_ids
        if used_texts.get(document_id) != tested_texts.get(document_id)
    }
    return {
        query: {
            f"{document_id} of the other corpus" if document_id in differing_ids else document_id
            for document_id in document_ids
        }
        for query, document_ids in used_relevant.items()
    }


def _text_digests(paths: Paths, document_ids: set[str]) -> dict[str, bytes]:
    digests: dict[str, bytes] = {}
    for path in paths if document_ids else ():
        for batch in DOCUMENTS.stream_documents(path, document_ids, ["document_id", "body"]):
            for document_id, body in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                digests[document_id] = hashlib.sha256(compared_text(body).encode()).digest()
    return digests
