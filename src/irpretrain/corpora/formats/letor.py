"""LETOR 4.0 (Qin and Liu, 2013): lines of relevance, query, features and, as a comment, the document.

    2 qid:10032 1:0.056537 2:0.000000 ... 46:0.076923 #docid = GX029-35-5894638 inc = 0.0119881192468859 prob = 0.139842

A data set is a folder with Fold1 to Fold5, each with train.txt, vali.txt and test.txt. The test parts together are all
lines, each once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import (
    NoOptions,
    converted,
    judgement,
    retrieved,
    several_records,
)
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import NUMBER
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import Line, read_lines, split_columns
from irpretrain.foundation.records import Judgement, Malformed, Retrieved

PARTS = ("train", "vali", "test")
_LINE = re.compile(
    r"(?P<label>[+-]?[0-9]{1,9})\s+qid:(?P<query>[^ \t]++)(?P<features>[^#]*)#\s*docid\s*=\s*(?P<document>[^ \t]+)"
    r"(?=[ \t]*(?:$|\w+[ \t]*=))"  # a blank within an identifier would cut it
)
_FEATURE = re.compile(rf"([0-9]{{1,4}}):(NULL|{NUMBER.pattern})")
_FOLD = re.compile(r"fold([0-9]{1,3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LetorLine:
    """One document of a query; a feature that the file calls NULL is None."""

    position: int
    line: int
    label: str
    query_id: str
    document_id: str
    features: dict[int, float | None]


def read_letor(path: Path) -> Iterator[LetorLine | Malformed]:
    """Yield the lines of one file; a position is the line's number less 1."""
    return converted(read_lines(path), _parse)


def _parse(line: Line) -> LetorLine | Malformed:
    match = _LINE.match(line.text)
    if match is None:
        detail = f"{line.text[:60]!r} is no <label> qid:<query> <features> #docid = <document>"
        return line.malformed("not a line of LETOR", detail)
    if marks := line.text.count("qid:", match.end()):
        return several_records(line.position, marks + 1, "qid:", line.number)
    features: dict[int, float | None] = {}
    for word in split_columns(match["features"]):
        feature = _FEATURE.fullmatch(word)
        if feature is None or int(feature[1]) in features:
            return line.malformed("feature cannot be read", repr(word[:40]))
        features[int(feature[1])] = None if feature[2] == "NULL" else float(feature[2])
    return LetorLine(line.position, line.number, match["label"], match["query"], match["document"], features)


def read_folds(folder: Path) -> dict[str, int]:
    """Return query → fold such that the folds have LETOR's own three parts.

    Test fold f validates on the next fold; LETOR's Fold1 tests S5 and validates on S4, Fold2 tests S1 and validates on
    S5, and so on. So fold 1 is S5, fold 2 is S4 ... fold 5 is S1.

    Raises:
        InputError: a folder or a file is missing, a line cannot be read, a query is in two test parts, or the parts do
            not follow this order.
    """
    folders = {
        int(match[1]): path
        for path in sorted(folder.iterdir())
        if path.is_dir() and (match := _FOLD.fullmatch(path.name))
    }
    if sorted(folders) != list(range(1, len(folders) + 1)) or len(folders) < 3:
        folder_names = ", ".join(path.name for path in folders.values()) or "none"
        raise InputError(
            folder, f"this folder must hold LETOR's folds Fold1, Fold2, Fold3 ...; it has {folder_names}"
        )
    for path in folders.values():
        for part in PARTS:
            if not (path / f"{part}.txt").is_file():
                raise InputError(path, f"{part}.txt is missing", remedy="Unpack the whole data set.")
    queries_of_fold = {
        fold_number: {part: _queries(path / f"{part}.txt") for part in PARTS}
        for fold_number, path in folders.items()
    }
    folder_order = [1, *range(len(folders), 1, -1)]
    for fold_number, next_fold in pairwise([*folder_order, 1]):
        if queries_of_fold[fold_number]["vali"] != queries_of_fold[next_fold]["test"]:
            fault = f"these are not the queries of {folders[next_fold].name}'s test.txt"
            raise InputError(folders[fold_number] / "vali.txt", fault)
    fold_of: dict[str, int] = {}
    for fold, fold_number in enumerate(folder_order, 1):
        for query in sorted(queries_of_fold[fold_number]["test"]):
            if query in fold_of:
                raise InputError(folders[fold_number] / "test.txt", f"query {query} is in two test parts")
            fold_of[query] = fold
    for fold_number, part_queries in queries_of_fold.items():
        if part_queries["train"] != set(fold_of) - part_queries["test"] - part_queries["vali"]:
            fault = "these are not the queries of the other parts"
            raise InputError(folders[fold_number] / "train.txt", fault)
    return fold_of


def _queries(path: Path) -> set[str]:
    query_ids = set[str]()
    for line in read_letor(path):
        if isinstance(line, Malformed):
            raise InputError(path, str(line), line.line, remedy="Get the data set again.")
        query_ids.add(line.query_id)
    return query_ids


def read_judgements(path: Path, options: NoOptions) -> Iterator[Judgement | Malformed]:
    return converted(read_letor(path), _judgement)


def _judgement(line: LetorLine) -> Judgement | Malformed:
    return judgement(line.query_id, line.document_id, line.label, line.position, line.line)


class LetorRunOptions(Section):
    """Options of the format letor."""

    feature: int = option(25, "Feature used as score; in LETOR 4.0, 25 is BM25.", ge=1)


def read_runs(path: Path, options: LetorRunOptions) -> Iterator[Retrieved | Malformed]:
    return converted(read_letor(path), lambda line: _retrieved(line, options.feature))


def _retrieved(line: LetorLine, feature: int) -> Retrieved | Malformed:
    score = line.features.get(feature)
    if score is None:
        return Malformed(line.position, "no such feature", f"{feature} is missing or NULL", line.line)
    return retrieved(line.query_id, line.document_id, None, repr(score), line.position, line.line)


JUDGEMENTS = Format(NoOptions, read_judgements, suffixes=("test.txt",))
RUNS = Format(LetorRunOptions, read_runs, suffixes=("test.txt",))
