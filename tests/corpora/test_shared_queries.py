"""Queries that are tested and used too are found by what they are, not by the name of their data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from irpretrain.contracts import QUERIES
from irpretrain.corpora.shared_queries import check_shared_queries
from irpretrain.errors import ConfigError

TESTED = {f"q{number:02}": f"Where is  river {number}?" for number in range(20)}
OTHERS = {f"t{number}": f"who built bridge {number}" for number in range(5)}


def check(folder: Path, used: dict[str, str]) -> dict[str, int]:
    for name, queries in (("used", used), ("tested", TESTED)):
        rows = [{"query_id": identifier, "text": text} for identifier, text in queries.items()]
        QUERIES.write(folder / f"{name}.parquet", rows)
    files = folder / "used.parquet", folder / "tested.parquet"
    return check_shared_queries(*files, ("copy", "tiny"), ["datasets.tiny.train_on"], folder / "apart.json")


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        pytest.param(TESTED, "20 of the 20 queries that tiny tests, with the same identifiers", id="a copy"),
        pytest.param(
            {**OTHERS, "q03": "where is River 3?"},
            "has 1 of the 20 queries that tiny tests, with the same identifiers and texts, such as q03",
            id="one, written otherwise",
        ),
        pytest.param(
            {f"x{name}": text for name, text in TESTED.items()},
            "the texts of 20 of the 20 queries that tiny tests, under other identifiers, such as q00, there xq00",
            id="a copy numbered anew",
        ),
    ],
)
def test_shared_queries_are_refused(tmp_path: Path, used: dict[str, str], expected: str) -> None:
    with pytest.raises(ConfigError, match=r"^datasets\.tiny\.train_on: data set copy has") as refusal:
        check(tmp_path, used)
    assert expected in str(refusal.value)
    assert not (tmp_path / "apart.json").exists()


@pytest.mark.parametrize(
    ("used", "equal"),
    [
        pytest.param(OTHERS, 0, id="other queries"),
        pytest.param({"q00": "who built bridge 0"}, 0, id="an identifier alone"),
        pytest.param({**OTHERS, "t7": "where is river 7?", "t8": "where is river 7?"}, 1, id="a text alone"),
    ],
)
def test_other_queries_pass_and_equal_texts_are_counted(
    tmp_path: Path, used: dict[str, str], equal: int, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = check(tmp_path, used)
    expected = {"queries_used": len(used), "queries_tested": 20, "tested_queries_of_equal_text": equal}
    assert counts == json.loads((tmp_path / "apart.json").read_text()) == expected
    assert ("1 of 20 tested queries have the text of a query of copy" in capsys.readouterr().err) == bool(
        equal
    )
