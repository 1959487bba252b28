"""The folds of a data set: dealt out, or given as lists, a file of JSON or text, or a folder of LETOR."""

import json
import os
import re
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.corpora import FEWEST_FOLDS, DatasetConfig, folds_fault
from irpretrain.corpora.checked import read_json
from irpretrain.corpora.fields import as_identifier
from irpretrain.corpora.file_lists import require_file
from irpretrain.corpora.formats.letor import read_folds as read_letor_folds
from irpretrain.corpora.shared_queries import compared_text
from irpretrain.evaluation.folds import WHOLE, Folds, roles
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.characters import identifier_fault
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.foundation.files import numbered_lines, split_columns
from irpretrain.foundation.progress import notice, print_line
from irpretrain.foundation.randomness import stream_key
from irpretrain.foundation.records import Malformed
from irpretrain.text.texts import read_queries

NUMBERED = f"Folds are numbered from 1 without gaps; {FEWEST_FOLDS} or more are needed."


def make_folds(
    queries: str | Path,
    dataset: DatasetConfig,
    seed: int,
    output: str | Path,
    shots: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Deal the queries into folds, or take the folds from the file that `dataset.folds` names, and write
    JSON.

    Made folds differ in size by at most one query, or as many as share a text: queries of equal text
    (`compared_text`) stay together, as one that trains for its twin is no unseen query. They depend on the seed, the
    set of query identifiers and which texts are equal, not on the order of the queries. Given folds that part such
    queries are told as a warning.

    Args:
        dataset: its `folds` is a number of folds, the folds themselves as lists of queries, a file: JSON (query →
            fold; or this function's own output; or a list of lists of queries) or text with a query and its fold on
            each line, or a folder with LETOR's Fold1, Fold2 and so on.
        seed: names the random order in which queries are dealt.
        output: JSON, `{"folds": k, "queries": {query: fold}}` in the data set's order.
        shots: the largest n of the few-shot-<n> regimes that will ask for n training queries, where a fold is tested
            and where another data set is; 0 for none.

    Returns:
        Counts: queries, folds, smallest and largest fold, and the queries that only the given file knows
        (queries that were left out of the data set); where given folds part queries of equal text, their number too.

    Raises:
        ConfigError: more folds than queries of different text, too few of either, or fewer training queries than
            `shots` for some test fold.
        InputError: the given file cannot be read, lacks a query, or leaves a fold empty.
    """
    texts = {query: compared_text(text) for query, text in read_queries(queries).items()}
    query_ids = list(texts)
    unknown_count, split_count = 0, 0
    if isinstance(dataset.folds, int):
        folds = deal(query_ids, dataset.folds, seed, texts, dataset.label)
    else:
        fold_by_query = configured_folds(dataset)
        source_name = dataset.folds if isinstance(dataset.folds, str) else f"folds of {dataset.label}"
        folds = _folds_of_queries(query_ids, fold_by_query, source_name)
        unknown_count = len(fold_by_query.keys() - folds.fold_of.keys())
        if unknown_count > len(fold_by_query) / 100:
            query_count = f"{unknown_count:,} of {len(fold_by_query):,} queries"
            notice(dataset.label, f"{query_count} of {source_name} are none of the data set's")
        split_count = _warn_of_split(folds, texts, dataset.label)
    _check_shots(folds, shots, dataset.label)
    content = {"folds": folds.fold_count, "queries": folds.fold_of}
    write_text(output, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    sizes = [len(folds.queries(fold)) for fold in range(1, folds.fold_count + 1)]
    return {
        "queries": len(query_ids),
        "folds": folds.fold_count,
        "smallest_fold": min(sizes),
        "largest_fold": max(sizes),
        "given_for_unknown_queries": unknown_count,
        **({"queries_of_equal_text_in_other_folds": split_count} if split_count else {}),
    }


def deal(
    queries: Sequence[str],
    fold_count: int,
    seed: int,
    texts: Mapping[str, str] | None = None,
    label: str = "",
) -> Folds:
    """Deal queries into `fold_count` folds like cards, in the order of a hash of (seed, query).

    Args:
        texts: query → text; queries of equal text are one card, which goes to the smallest fold, the first of equal
            ones. So without any each fold has its turn.
        label: the data set, for messages.

    Raises:
        ConfigError: more folds than queries of different text, or too few.
    """
    shuffled = sorted(queries, key=lambda query: (stream_key(seed, "folds", query), query))
    queries_by_text: dict[str, list[str]] = {}
    for query in shuffled:
        queries_by_text.setdefault((texts or {}).get(query) or f"\n{query}", []).append(query)
    text_count = len(queries_by_text)
    equal_texts_note = f"{len(queries)} queries of {text_count} texts" if text_count < len(queries) else ""
    if fault := folds_fault(fold_count, text_count, equal_texts_note):
        raise ConfigError(f"datasets ({label}).folds: {fault}")
    sizes = [0] * fold_count
    fold_of: dict[str, int] = {}
    for equal_queries in queries_by_text.values():
        fold = sizes.index(min(sizes))
        sizes[fold] += len(equal_queries)
        fold_of |= dict.fromkeys(equal_queries, fold + 1)
    return Folds(fold_count, {query: fold_of[query] for query in queries})


def _warn_of_split(folds: Folds, texts: Mapping[str, str], label: str) -> int:
    folds_of_text: dict[str, set[int]] = {}
    for query, fold in folds.fold_of.items():
        folds_of_text.setdefault(texts[query], set()).add(fold)
    split_queries = [
        query for query in folds.fold_of if texts[query] and len(folds_of_text[texts[query]]) > 1
    ]
    if split_queries:
        first, fold_of = split_queries[0], folds.fold_of
        twin = next(q for q in split_queries if texts[q] == texts[first] and fold_of[q] != fold_of[first])
        print_line(
            f"[{label}] WARNING: {len(split_queries):,} of {len(texts):,} queries have the text of a query of "
            f"another given fold, such as {first} and {twin}: one trains a model that is tested on the other. Put "
            "them in one fold."
        )
    return len(split_queries)


def _check_shots(folds: Folds, shots: tuple[int, int], label: str) -> None:
    """Refuse now what fine-tuning would refuse after hours of pre-training."""
    for largest_shots, test_folds in zip(shots, (range(1, folds.fold_count + 1), [WHOLE]), strict=True):
        fewest_queries, fold = min((len(roles(folds, fold).train), fold) for fold in test_folds)
        if largest_shots > fewest_queries:
            fold_text = (
                f" for test fold {fold} of {folds.fold_count}"
                if fold
                else f" outside the first of {folds.fold_count} folds"
            )
            raise ConfigError(
                f"experiments: few-shot-{largest_shots} asks for more training queries than {label} has: "
                f"{fewest_queries}{fold_text}; "
                "ask for fewer, or give more queries"
            )


def _folds_of_queries(queries: Sequence[str], fold_by_query: dict[str, int], path: str | Path) -> Folds:
    without_fold = [query for query in queries if query not in fold_by_query]
    if without_fold:
        examples = ", ".join(without_fold[:5]) + (", ..." if len(without_fold) > 5 else "")
        raise InputError(path, f"{len(without_fold)} of {len(queries)} queries have no fold: {examples}")
    fold_of = {query: fold_by_query[query] for query in queries}
    # As `count_folds` says, which is asked before the queries are known.
    fold_count = max(fold_by_query.values(), default=0)
    empty_folds = sorted(set(range(1, fold_count + 1)) - set(fold_of.values()))
    if empty_folds or fold_count < FEWEST_FOLDS:
        fault = (
            f"fold {empty_folds[0]} has no query of this data set"
            if empty_folds
            else f"there are only {fold_count} folds"
        )
        raise InputError(path, fault, remedy=NUMBERED)
    return Folds(fold_count, fold_of)


def configured_folds(dataset: DatasetConfig) -> dict[str, int]:
    """Return query → fold of a data set whose folds are given, numbered without gaps; see `make_folds`."""
    if isinstance(dataset.folds, list):
        path = f"folds of {dataset.label}"
        folds = _folds_from_lists(dataset.folds, path)
    else:
        path = str(dataset.folds)
        folds = read_folds_file(path)
    fold_numbers = set(folds.values())
    if max(fold_numbers, default=0) > len(fold_numbers):
        missing_fold = next(fold for fold in range(1, len(fold_numbers) + 1) if fold not in fold_numbers)
        raise InputError(
            path,
            f"fold {missing_fold} has no query, but there is a fold {max(fold_numbers)}",
            remedy=NUMBERED,
        )
    return folds


def read_folds_file(path: str | Path) -> dict[str, int]:
    """Read query → fold from a user's file of JSON or text, or a folder of LETOR; see `make_folds`."""
    if os.path.isdir(path):
        return read_letor_folds(Path(path))
    first_line = next(numbered_lines(require_file(path)), (0, ""))[1].lstrip()
    if not first_line.startswith(("{", "[")) and ".json" not in Path(path).suffixes:
        return _folds_from_text(path)
    content = read_json(Path(path))
    if isinstance(content, Malformed):
        raise InputError(
            path, f"{content.reason}: {content.detail}", content.line, "Set the data set's `folds`."
        )
    if isinstance(content, dict) and isinstance(content.get("queries"), dict):
        content = content["queries"]
    if isinstance(content, list):
        return _folds_from_lists(content, path)
    if not isinstance(content, dict):
        raise InputError(path, "expected an object from query to fold, or a list of lists of queries")
    return {_checked_query(query, path): _checked_fold(fold, path, query) for query, fold in content.items()}


def _folds_from_lists(content: list[Any], path: str | Path) -> dict[str, int]:
    folds: dict[str, int] = {}
    for fold, fold_members in enumerate(content, 1):
        if not isinstance(fold_members, list):
            raise InputError(path, f"entry {fold} is not a list of queries")
        for query in (_checked_query(member, path) for member in fold_members):
            if query in folds:
                raise InputError(path, f"query {query!r} is in folds {folds[query]} and {fold}")
            folds[query] = fold
    return folds


def _folds_from_text(path: str | Path) -> dict[str, int]:
    folds: dict[str, int] = {}
    for line, text in numbered_lines(path):
        columns = split_columns(text)
        if len(columns) != 2:
            raise InputError(path, f"expected a query and its fold, found {len(columns)} columns", line)
        query, fold_text = columns
        if query in folds:
            raise InputError(path, f"query {query!r} is listed twice", line)
        fold_value = int(fold_text) if re.fullmatch("[0-9]{1,9}", fold_text) else fold_text
        folds[_checked_query(query, path, line)] = _checked_fold(fold_value, path, query, line)
    return folds


def _checked_query(value: Any, path: str | Path, line: int | None = None) -> str:
    identifier = as_identifier(value)
    if identifier is None:
        raise InputError(path, f"{reprlib.repr(value)} is no query: a text or a whole number is needed", line)
    if fault := identifier_fault(identifier):
        raise InputError(path, fault, line)
    return identifier


def _checked_fold(value: Any, path: str | Path, query: str, line: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(path, f"the fold of query {query!r} is {value!r}; folds are numbered from 1", line)
    return value


def count_folds(dataset: DatasetConfig) -> int:
    """Return how many folds `dataset` has before they are made; a given file is read for it."""
    if isinstance(dataset.folds, int):
        return dataset.folds
    return max(configured_folds(dataset).values(), default=0)
