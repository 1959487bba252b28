"""Folds: balanced, deterministic, checked; training, validation and test never meet."""

import bz2
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.make_folds import count_folds, deal, make_folds, read_folds_file
from irpretrain.evaluation.folds import WHOLE, read_folds, roles, training_queries
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import ConfigError, InputError

NAMES = [f"q{i}" for i in range(13)]


def dataset(folds: int | str | list[list[Any]]) -> DatasetConfig:
    nothing = {"format": "trec", "path": "x"}
    return DatasetConfig(label="x", corpus="x", queries=nothing, qrels=nothing, folds=folds)


def write_queries(folder: Path, names: Sequence[str] = NAMES) -> Path:
    rows = [{"query_id": name, "text": f"What is {name}?"} for name in names]
    QUERIES.write(folder / "queries.parquet", rows)
    return folder / "queries.parquet"


def test_made_folds(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.json", "two.json")]
    for path in files:
        counts = make_folds(write_queries(tmp_path), dataset(5), 1, path)
        sizes = {"smallest_fold": 2, "largest_fold": 3}
        assert counts == {"queries": 13, "folds": 5, **sizes, "given_for_unknown_queries": 0}
    assert files[0].read_bytes() == files[1].read_bytes()
    make_folds(write_queries(tmp_path), dataset(5), 2, files[1])
    assert files[0].read_bytes() != files[1].read_bytes(), "another seed"
    folds = read_folds(files[0])
    assert list(folds.fold_of) == NAMES
    assert set(folds.fold_of.values()) == {1, 2, 3, 4, 5}
    assert count_folds(dataset(5)) == 5


@given(
    st.lists(st.text(min_size=1), unique=True, min_size=3, max_size=40), st.integers(3, 8), st.integers(0, 9)
)
def test_dealing(names: list[str], number: int, seed: int) -> None:
    number = min(number, len(names))
    folds = deal(names, number, seed)
    sizes = [len(folds.queries(fold)) for fold in range(1, number + 1)]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == len(names)
    assert deal(names[::-1], number, seed).fold_of == folds.fold_of


@given(
    st.dictionaries(st.text(min_size=1), st.sampled_from("abcdefghij"), min_size=12, max_size=40),
    st.integers(3, 5),
    st.integers(0, 9),
)
def test_queries_of_equal_text_share_a_fold(texts: dict[str, str], number: int, seed: int) -> None:
    number = min(number, len(set(texts.values())))
    if number < 3:
        return
    folds = deal(list(texts), number, seed, texts)
    assert len(set(zip(texts.values(), (folds.fold_of[name] for name in texts), strict=True))) == len(
        set(texts.values())
    )
    sizes = [len(folds.queries(fold)) for fold in range(1, number + 1)]
    assert min(sizes) > 0
    assert max(sizes) - min(sizes) <= max(Counter(texts.values()).values())
    assert deal(list(texts)[::-1], number, seed, texts).fold_of == folds.fold_of


def test_other_texts_change_no_fold() -> None:
    assert deal(NAMES, 5, 1, {name: f"what is {name}" for name in NAMES}) == deal(NAMES, 5, 1)
    assert deal(NAMES, 5, 1, dict.fromkeys(NAMES, "")) == deal(NAMES, 5, 1)


def test_queries_that_stand_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"query_id": f"{name}{n}", "text": text.format(n)}
        for name, text in (("q", "Where is river {}?"), ("r", "where is river {}"))
        for n in range(6)
    ]
    QUERIES.write(tmp_path / "queries.parquet", rows)
    counts = make_folds(tmp_path / "queries.parquet", dataset(3), 1, tmp_path / "folds.json")
    fold_of = read_folds(tmp_path / "folds.json").fold_of
    assert [fold_of[f"q{n}"] for n in range(6)] == [fold_of[f"r{n}"] for n in range(6)]
    assert (counts["smallest_fold"], counts["largest_fold"]) == (4, 4)
    assert capsys.readouterr().err == ""

    lists = [["q0", "r0", "q1", "q2"], ["r1", "r2", "q3", "r3"], ["q4", "r4", "q5", "r5"]]
    counts = make_folds(tmp_path / "queries.parquet", dataset(lists), 1, tmp_path / "given.json")
    assert counts["queries_of_equal_text_in_other_folds"] == 4
    reported = (
        "[x] WARNING: 4 of 12 queries have the text of a query of another given fold, such as q1 and r1:"
    )
    assert capsys.readouterr().err.startswith(reported)
    with pytest.raises(ConfigError, match="7 folds cannot be made of 12 queries of 6 texts"):
        make_folds(tmp_path / "queries.parquet", dataset(7), 1, tmp_path / "more.json")


def test_more_shots_than_training_queries(tmp_path: Path) -> None:
    queries = write_queries(tmp_path)  # 13 in 5 folds: two folds of 3 are left out, 7 queries train
    make_folds(queries, dataset(5), 1, tmp_path / "folds.json", shots=(7, 10))
    with pytest.raises(ConfigError, match=r"few-shot-8 asks for more .* than x has: 7 for test fold 1 of 5;"):
        make_folds(queries, dataset(5), 1, tmp_path / "more.json", shots=(8, 0))
    with pytest.raises(ConfigError, match=r"few-shot-11 asks .* has: 10 outside the first of 5 folds"):
        make_folds(queries, dataset(5), 1, tmp_path / "more.json", shots=(0, 11))
    lists = [NAMES[:4], NAMES[4:5], NAMES[5:]]  # 3 is tested and 1 validates: 1 query trains
    with pytest.raises(ConfigError, match=r"few-shot-2 asks .* has: 1 for test fold 3 of 3;"):
        make_folds(queries, dataset(lists), 1, tmp_path / "more.json", shots=(2, 0))
    assert not (tmp_path / "more.json").exists()


def test_a_given_fold_that_the_data_set_has_no_query_of(tmp_path: Path) -> None:
    given = {name: 1 + number % 3 for number, name in enumerate(NAMES)} | {"left-out": 4}
    (tmp_path / "given.json").write_text(json.dumps(given))
    assert count_folds(dataset(str(tmp_path / "given.json"))) == 4
    with pytest.raises(InputError, match="fold 4 has no query of this data set"):
        make_folds(write_queries(tmp_path), dataset(str(tmp_path / "given.json")), 1, tmp_path / "folds.json")


@given(st.integers(3, 7), st.integers(7, 30))
def test_each_query_is_tested_once_and_each_fold_leaves_some_to_train(number: int, queries: int) -> None:
    folds = deal([f"q{i}" for i in range(queries)], number, 1)
    by_fold = [roles(folds, fold) for fold in range(1, number + 1)]
    assert all(fold_roles.train for fold_roles in by_fold)
    tested = [query for fold_roles in by_fold for query in fold_roles.test]
    assert sorted(tested) == sorted(folds.fold_of)


@pytest.mark.parametrize("tested", [WHOLE, 1, 5])
@pytest.mark.parametrize("validates", [True, False])
def test_all_queries_train_but_those_that_validate_and_those_that_are_tested(
    tested: int, validates: bool
) -> None:
    """The fold after the tested one validates (the first, for another data set); none where nothing is chosen."""
    folds = deal(NAMES, 5, 1)
    train, validation, test = roles(folds, tested, validates=validates)
    assert validation == (folds.queries(tested % 5 + 1) if validates else [])
    assert test == folds.queries(tested)
    assert sorted(train + validation + test) == sorted(NAMES)


def test_the_first_queries_are_those_of_the_data_set_s_order() -> None:
    """PROP, section 4.9; the seed has no say."""
    assert training_queries(["b", "a", "c"], "full", 1) == ["b", "a", "c"]
    for seed in (1, 7):
        assert training_queries(["b", "a", "c"], "few-shot-2", seed, "first") == ["b", "a"]


def test_more_shots_contain_fewer_whatever_the_order_and_seeds_differ() -> None:
    names = [f"q{number}" for number in range(40)]
    ten = training_queries(names, "few-shot-10", 1)
    assert len(set(ten)) == 10
    assert (
        training_queries(names[::-1], "few-shot-10", 1)
        == ten
        == training_queries(names, "few-shot-30", 1)[:10]
    )
    drawn = {query for seed in range(20) for query in training_queries(names, "few-shot-10", seed)}
    assert len(drawn) == 40


@pytest.mark.parametrize(
    ("queries", "number", "message"),
    [
        (13, 2, "leave no room for training"),
        (13, 14, "cannot be made of 13"),
        *(
            (2, number, "2 queries cannot be parted .*; give 3 .* train_on, or test without")
            for number in (1, 2, 5)
        ),
    ],
)
def test_impossible_numbers_of_folds_are_refused(
    tmp_path: Path, queries: int, number: int, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make_folds(write_queries(tmp_path, NAMES[:queries]), dataset(number), 1, tmp_path / "folds.json")


GIVEN = {"b": 1, "a": 2, "c": 3, "left-out": 3}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("folds.json", json.dumps(GIVEN)),
        ("folds.json", json.dumps({"folds": 3, "queries": GIVEN})),
        ("folds.json", json.dumps([["b"], ["a"], ["c", "left-out"]])),
        ("folds.tsv", "".join(f"{query}\t{fold}\n" for query, fold in GIVEN.items())),
        ("folds", "b 1\n\na 2\r\nc 3\nleft-out 3"),
    ],
)
def test_given_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    given_file = dataset(str(tmp_path / name))
    counts = make_folds(write_queries(tmp_path, ["a", "b", "c"]), given_file, 1, tmp_path / "out.json")
    assert counts["given_for_unknown_queries"] == 1
    assert "1 of 4 queries of" in capsys.readouterr().err
    assert counts["folds"] == count_folds(given_file) == 3
    folds = read_folds(tmp_path / "out.json")
    assert folds.fold_of == {"a": 2, "b": 1, "c": 3}
    assert list(folds.fold_of) == ["a", "b", "c"]


@pytest.mark.parametrize("unknown_count", [1, 2])
def test_folds_of_unknown_queries_are_told_from_one_in_a_hundred(
    unknown_count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"q{number}" for number in range(100)]
    folds = dataset([names[start::3] for start in range(3)])
    make_folds(write_queries(tmp_path, names[unknown_count:]), folds, 1, tmp_path / "out.json")
    assert ("queries of folds of x are none" in capsys.readouterr().err) == (unknown_count > 1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f.tsv", "a 1\nb 2\n", "1 of 3 queries have no fold: c"),
        ("f.tsv", "a 1\nb 2\nc 4\n", "fold 3 has no query, but there is a fold 4"),
        ("f.tsv", "a 2\nb 3\nc 4\n", "fold 1 has no query, but there is a fold 4"),
        ("f.tsv", "a 1\nb 2\nc 1\n", "there are only 2 folds"),
        ("f.tsv", "a 0\n", r"f\.tsv:1: the fold of query 'a' is 0; folds are numbered from 1"),
        ("f.tsv", "a 1\nb x\n", r"f\.tsv:2: the fold of query 'b' is 'x'"),
        ("f.tsv", "a 1\na 2\n", r"f\.tsv:2: query 'a' is listed twice"),
        ("f.tsv", "a 1 2\n", r"f\.tsv:1: expected a query and its fold, found 3 columns"),
        ("f.json", '{"a": 1.5}', "the fold of query 'a' is 1.5"),
        ("f.json", '{"a": true}', "the fold of query 'a' is True"),
        ("f.json", '{"a": 1,\n', r"f\.json:2: not valid JSON"),
        ("f.json", "3", "expected an object from query to fold, or a list of lists"),
        ("f.json", '[["a"], "b"]', "entry 2 is not a list of queries"),
        ("f.json", '[["a"], ["b", "a"]]', "query 'a' is in folds 1 and 2"),
        ("f.json", '[[null], ["b"]]', "None is no query: a text or a whole number is needed"),
        ("f.json", "[[1.0], [true]]", r"1\.0 is no query"),
        ("f.json", '[["a"], [" b"]]', "the identifier ' b' holds white space"),
        ("f.json", '{"a ": 1}', "the identifier 'a ' holds white space"),
        ("f.json", '{"a": 1, "b": 2, "a": 2}', "the key 'a' twice"),
        ("f.tsv", "a\u00a01 1\n", r"f\.tsv:1: the identifier 'a.xa01' holds white space"),
        ("f.tsv", "a \u0661\n", r"f\.tsv:1: the fold of query 'a' is '\u0661'"),
    ],
)
def test_faulty_given_folds(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        make_folds(
            write_queries(tmp_path, ["a", "b", "c"]), dataset(str(tmp_path / name)), 1, tmp_path / "out"
        )


def test_folds_that_cannot_be_counted_are_refused(tmp_path: Path) -> None:
    for name in ("none.json", "none.tsv"):
        with pytest.raises(InputError, match="there is no such file"):
            count_folds(dataset(str(tmp_path / name)))
    (tmp_path / "given.tsv").write_text("q0 1\nq1 2\nq2 20240101\n")
    with pytest.raises(InputError, match="fold 3 has no query, but there is a fold 20240101"):
        count_folds(dataset(str(tmp_path / "given.tsv")))


def test_folds_in_the_configuration(tmp_path: Path) -> None:
    lists = [NAMES[0::3], NAMES[1::3], NAMES[2::3]]
    make_folds(write_queries(tmp_path), dataset(lists), 1, tmp_path / "folds.json")
    folds = read_folds(tmp_path / "folds.json")
    assert [folds.queries(fold) for fold in (1, 2, 3)] == lists
    assert count_folds(dataset(lists)) == count_folds(dataset([[301], [302], [303]])) == 3
    with pytest.raises(InputError, match="folds of x: query 'q0' is in folds 1 and 3"):
        count_folds(dataset([["q0"], ["q1"], ["q0"]]))
    with pytest.raises(InputError, match="folds of x: 1 of 13 queries have no fold: q12"):
        make_folds(write_queries(tmp_path), dataset([NAMES[:4], NAMES[4:8], NAMES[8:12]]), 1, tmp_path / "f")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.txt", "\ufeff\ufeff001 1\n002 2\n"),
        ("f.json", '\ufeff\ufeff{"001": 1, "002": 2}'),
        ("f", '{"001": 1, "002": 2}'),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_marks_and_packings_of_given_folds(tmp_path, name, content, pack):
    (tmp_path / name).write_bytes(pack(content.encode()))
    assert read_folds_file(tmp_path / name) == {"001": 1, "002": 2}
