"""Test queries that train, choose or tune too: found by the queries themselves, whatever their data set is called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_text
from irpretrain.contracts import QUERIES
from irpretrain.corpora.query_texts import compared_text
from irpretrain.errors import ConfigError
from irpretrain.evaluation.qrels import read_qrels, relevant
from irpretrain.progress import notice

MOST_OF_EQUAL_TEXT = 0.1
"""Largest share of the tested queries whose texts may occur among the used ones under other identifiers: different
people ask some questions in the same words; a larger share is the same queries, numbered anew."""


def check_shared_queries(
    used: str | Path,
    tested: str | Path,
    names: tuple[str, str],
    keys: Sequence[str],
    output: str | Path,
    qrels: tuple[str | Path, str | Path] | None = None,
) -> dict[str, Any]:
    """Refuse queries that are tested and also used; count those that only share their text.

    Texts are equal if they are so without regard to case, white space and punctuation (`compared_text`). A query is the
    same one if its identifier and text are, or its identifier and its relevant documents: half of the fewer ones.

    Args:
        used: QUERIES table of the queries that train, choose or tune.
        tested: QUERIES table of the queries that results are measured on.
        names: the data sets' names, the used one first.
        keys: keys of the configuration that name the used data set, for the message.
        output: JSON with the counts.
        qrels: TREC files of the judgements of both, the used one first, where their documents are the same ones by
            name; None where queries are compared by their texts alone.

    Returns:
        Counts: used queries, tested queries, and those of the tested ones whose text is among the used ones.

    Raises:
        ConfigError: a query is in both tables with its identifier and text or relevant documents, or too many texts
            are.
    """
    tested_texts = dict(_queries(tested))
    used_relevant, tested_relevant = map(_relevant, qrels) if qrels else ({}, {})
    identifiers: dict[str, list[str]] = {}
    for identifier, text in tested_texts.items():
        identifiers.setdefault(text, []).append(identifier)
    identical: list[str] = []
    judged_alike: list[str] = []
    same_text: dict[str, str] = {}
    number = 0
    for identifier, text in _queries(used):
        number += 1
        if tested_texts.get(identifier) == text:
            identical.append(identifier)
        elif _share_documents(used_relevant.get(identifier, set()), tested_relevant.get(identifier, set())):
            judged_alike.append(identifier)
        same_text |= dict.fromkeys(identifiers.get(text, ()), identifier)
    where = f"{' and '.join(keys)}: data set {names[0]}"
    remedy = (
        f"Test queries must not train, choose or tune: leave them out of {names[0]}, or name other queries."
    )
    if identical:
        example = min(identical)
        raise ConfigError(
            f"{where} has {len(identical):,} of the {len(tested_texts):,} queries that {names[1]} tests, with the "
            f"same identifiers and texts, such as {example} ({tested_texts[example]!r})\n  {remedy}"
        )
    if judged_alike:
        example = min(judged_alike)
        raise ConfigError(
            f"{where} has {len(judged_alike):,} of the {len(tested_texts):,} queries that {names[1]} tests in other "
            f"words, with the same identifiers and relevant documents, such as {example} ({tested_texts[example]!r})\n"
            f"  {remedy} If they are other queries, give them other identifiers."
        )
    if len(same_text) > MOST_OF_EQUAL_TEXT * len(tested_texts):
        example = min(same_text)
        raise ConfigError(
            f"{where} has the texts of {len(same_text):,} of the {len(tested_texts):,} queries that {names[1]} tests, "
            f"under other identifiers, such as {example}, there {same_text[example]} ({tested_texts[example]!r}); "
            f"at most {MOST_OF_EQUAL_TEXT:.0%} may be equal by chance\n  {remedy}"
        )
    if same_text:
        notice(
            names[1],
            f"{len(same_text):,} of {len(tested_texts):,} tested queries have the text of a query of {names[0]}, "
            f"such as {min(same_text)}",
        )
    counts = {
        "queries_used": number,
        "queries_tested": len(tested_texts),
        "tested_queries_of_equal_text": len(same_text),
    }
    write_text(output, json.dumps(counts, indent=1) + "\n")
    return counts


def _queries(path: str | Path) -> Iterator[tuple[str, str]]:
    """Yield identifier and compared text of every query."""
    table = QUERIES.read(path)
    yield from zip(table["query_id"].to_pylist(), map(compared_text, table["text"].to_pylist()), strict=True)


def _relevant(path: str | Path) -> dict[str, set[str]]:
    """Return query → relevant documents."""
    return {query: relevant(grades) for query, grades in read_qrels(path).items()}


def _share_documents(some: set[str], others: set[str]) -> bool:
    """Whether at least half of the fewer documents are among the others: queries of one small corpus that are only
    numbered alike share a document by chance."""
    return bool(some and others) and 2 * len(some & others) >= min(len(some), len(others))
