"""LETOR: its lines, and its folds as ours."""

from itertools import product
from pathlib import Path

import pytest

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.formats.letor import LetorLine, read_folds, read_letor
from irpretrain.corpora.make_folds import make_folds
from irpretrain.evaluation.folds import read_folds as read_made
from irpretrain.evaluation.folds import roles
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Malformed

LINE = "2 qid:10 1:0.5 2:NULL 46:-1e-3 #docid = GX029-35-5894638 inc = 0.01 prob = 0.13\n"
SETS = {f"S{n}": [str(10 * n + i) for i in range(2)] for n in range(1, 6)}
"""The parts of the data set, two queries each."""


def line(query: str, document: str = "GX1", label: int = 0) -> str:
    return f"{label} qid:{query} 1:0.1 25:{query} #docid = {document} inc = 1 prob = 0.5\n"


def write_folds(folder: Path) -> Path:
    """LETOR's partition: Fold1 trains on S1 to S3, validates on S4, tests S5; Fold2 trains on S2 to S4, and so on."""
    for number in range(1, 6):
        parts = [f"S{(number + offset - 1) % 5 + 1}" for offset in range(5)]
        content = {"train": parts[:3], "vali": parts[3:4], "test": parts[4:]}
        (folder / f"Fold{number}").mkdir(parents=True)
        for part, sets in content.items():
            text = "".join(line(query, f"GX{d}") for name in sets for query in SETS[name] for d in range(3))
            (folder / f"Fold{number}/{part}.txt").write_text(text)
    return folder


def read(path: Path, text: str):
    path.write_text(text)
    return list(read_letor(path))


def test_a_line(tmp_path):
    assert read(tmp_path / "x.txt", LINE) == [
        LetorLine(0, 1, "2", "10", "GX029-35-5894638", {1: 0.5, 2: None, 46: -0.001})
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 10 1:0.5 #docid = GX1\n", "not a line of LETOR"),
        ("x qid:10 1:0.5 #docid = GX1\n", "not a line of LETOR"),
        ("2 qid:10 1:0.5\n", "not a line of LETOR"),
        ("2 qid:10 1:0.5 #docid =\n", "not a line of LETOR"),
        ("2 qid:10 1:abc #docid = GX1\n", "feature cannot be read: 1:abc"),
        ("2 qid:10 1:nan #docid = GX1\n", "feature cannot be read: 1:nan"),
        ("2 qid:10 1:1 1:2 #docid = GX1\n", "feature cannot be read: 1:2"),
        ("2 qid:10 1 #docid = GX1\n", "feature cannot be read: 1"),
    ],
)
def test_what_is_no_line(tmp_path, text, reason):
    [found] = read(tmp_path / "x.txt", text)
    assert isinstance(found, Malformed)
    assert found.line == 1
    assert str(found).replace("'", "").startswith(reason)


def test_our_roles_are_the_three_files_of_each_fold(tmp_path):
    folder = write_folds(tmp_path / "MQ2007")
    fold_of = read_folds(folder)
    names = [query for queries in SETS.values() for query in queries]
    assert sorted(fold_of) == sorted(names)
    QUERIES.write(tmp_path / "queries.parquet", [{"query_id": name, "text": "x"} for name in names])
    nothing = {"format": "trec", "path": "x"}
    dataset = DatasetConfig(label="x", corpus="x", queries=nothing, qrels=nothing, folds=str(folder))
    make_folds(tmp_path / "queries.parquet", dataset, 1, tmp_path / "folds.json")
    made = read_made(tmp_path / "folds.json")
    ours = {
        tuple(map(frozenset, (found.train, found.validation, found.test)))
        for found in (roles(made, fold) for fold in range(1, 6))
    }
    theirs = {
        tuple(
            frozenset(entry.query_id for entry in read_letor(folder / f"Fold{number}/{part}.txt"))
            for part in ("train", "vali", "test")
        )
        for number in range(1, 6)
    }
    assert ours == theirs


def test_folds_that_do_not_fit(tmp_path):
    folder = write_folds(tmp_path / "MQ2007")
    (folder / "Fold3/train.txt").write_text(line("11"))
    with pytest.raises(InputError, match=r"train\.txt: these are not the queries of the other parts"):
        read_folds(folder)
    (folder / "Fold3/vali.txt").write_text(line("11"))
    with pytest.raises(InputError, match=r"vali\.txt: these are not the queries of Fold2's test\.txt"):
        read_folds(folder)
    (folder / "Fold3/test.txt").write_text("no line")
    with pytest.raises(InputError, match=r"test\.txt:1: not a line of LETOR"):
        read_folds(folder)
    (folder / "Fold3/test.txt").unlink()
    with pytest.raises(InputError, match=r"Fold3: test\.txt is missing"):
        read_folds(folder)
    (folder / "Fold4").rename(folder / "Fold7")
    with pytest.raises(InputError, match="it has Fold1, Fold2, Fold3, Fold5, Fold7"):
        read_folds(folder)


def test_a_query_in_two_test_parts_is_refused(tmp_path):
    for number, part in product((1, 2, 3), ("train", "vali", "test")):
        (tmp_path / f"Fold{number}").mkdir(exist_ok=True)
        (tmp_path / f"Fold{number}/{part}.txt").write_text(line("10"))
    with pytest.raises(InputError, match=r"Fold3/test\.txt: query 10 is in two test parts"):
        read_folds(tmp_path)


def test_a_blank_does_not_cut_the_identifier_of_a_document(tmp_path):
    (fault,) = read(tmp_path / "a", "1 qid:1 1:0.5 #docid = d 1\n")
    assert isinstance(fault, Malformed)
    for end in ("", " ", " inc = 1", " inc=1 prob=2", "\tinc = 1"):
        (record,) = read(tmp_path / "a", f"1 qid:1 1:0.5 #docid = d{end}\n")
        assert record.document_id == "d"
