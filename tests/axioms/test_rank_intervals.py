"""Queries by the interval of their rank."""

import json
from pathlib import Path

import made_values
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_values import row

from irpretrain.axioms.rank_intervals import interval_ends, interval_names, rank_intervals
from irpretrain.foundation.errors import IntegrityError


def write(path: Path, ranks: list[int]) -> Path:
    return made_values.write(path, [row(0, sample, rank=rank) for sample, rank in enumerate(ranks)])


def test_shards_add_up(tmp_path: Path) -> None:
    shards = [write(tmp_path / "a", [1, 2, 3, 5, 6, 0]), write(tmp_path / "b", [1, 10, 11, 50, 0, 0])]
    found = rank_intervals(shards, tmp_path / "ranks.json")
    wanted = {"1": 2, "2": 1, "3-5": 2, "6-10": 2, "11-50": 2, ">50": 3}
    assert found == {"queries": 12, "depth": 50, "intervals": wanted}
    assert json.loads((tmp_path / "ranks.json").read_text()) == found


@pytest.mark.parametrize(
    ("depth", "ranks", "wanted"),
    [
        (7, [1, 5, 6, 7, 0], {"1": 1, "2": 0, "3-5": 1, "6-7": 2, ">7": 1}),
        (6, [6, 0], {"1": 0, "2": 0, "3-5": 0, "6": 1, ">6": 1}),
        (1, [1, 0, 0], {"1": 1, ">1": 2}),
        (1000, [50, 51, 1000, 0], {"1": 0, "2": 0, "3-5": 0, "6-10": 0, "11-50": 1, ">50": 3}),
    ],
)
def test_other_depths_say_only_what_is_known(
    tmp_path: Path, depth: int, ranks: list[int], wanted: dict[str, int]
) -> None:
    assert rank_intervals([write(tmp_path / "a", ranks)], tmp_path / "r.json", depth)["intervals"] == wanted


@pytest.mark.parametrize("rank", [-1, 51])
def test_ranks_of_another_depth_are_refused(tmp_path: Path, rank: int) -> None:
    with pytest.raises(IntegrityError, match="RANK must be known up to 50"):
        rank_intervals([write(tmp_path / "a", [1, rank])], tmp_path / "ranks.json")
    assert not (tmp_path / "ranks.json").exists()


@given(st.lists(st.integers(1, 99), min_size=1, unique=True).map(sorted))
def test_names_say_where_intervals_end(lasts: list[int]) -> None:
    assert interval_ends(interval_names(lasts)) == lasts


@pytest.mark.parametrize("names", [[], [">5"], ["1-2"], ["1", "3-5", ">5"], ["1-2", "3-5", ">6"]])
def test_names_that_leave_ranks_out_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match="no intervals of all ranks"):
        interval_ends(names)
