from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import IntegrityError
from irpretrain.objectives.groups import Span
from irpretrain.objectives.groups import group as row
from irpretrain.objectives.shard import merge_groups


def group(part: int, position: int, sample: int, corpus: str = "a") -> dict[str, Any]:
    documents = [Span(f"{corpus}-{part}-{position}")]
    return row(
        (part, position), [f"{corpus}{i}" for i in range(2)], documents, sample=sample, scores=[-1.0, -2.0]
    )


LOCATIONS = st.sets(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 2)), max_size=60)


@given(LOCATIONS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_sharding_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    locations: set[tuple[int, int, int]],
    shards: int,
    dealer: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    dealt: list[list[tuple[int, int, int]]] = [[] for _ in range(shards)]
    for location in sorted(locations):
        dealer.choice(dealt).append(location)
    paths = [folder / f"{i}.parquet" for i in range(shards)]
    for path, mine in zip(paths, dealt, strict=True):
        GROUPS.write(path, [group(*location) for location in mine])
    GROUPS.write(folder / "whole.parquet", [group(*location) for location in sorted(locations)])
    counts = merge_groups([paths], folder / "many.parquet")
    merge_groups([[folder / "whole.parquet"]], folder / "one.parquet")
    assert counts == {"corpora": 1, "shards": shards, "groups": len(locations)}
    assert (folder / "many.parquet").read_bytes() == (folder / "one.parquet").read_bytes()
    assert GROUPS.read(folder / "many.parquet").to_pylist() == [
        group(*location) for location in sorted(locations)
    ]


def test_corpora_keep_their_order_and_do_not_mix(tmp_path: Path) -> None:
    GROUPS.write(tmp_path / "b.parquet", [group(0, 0, 0, "b"), group(0, 2, 0, "b")])
    GROUPS.write(tmp_path / "a0.parquet", [group(0, 1, 0)])
    GROUPS.write(tmp_path / "a1.parquet", [group(0, 0, 0)])
    shards = [[tmp_path / "b.parquet"], [tmp_path / "a0.parquet", tmp_path / "a1.parquet"]]
    counts = merge_groups(shards, tmp_path / "merged.parquet")
    assert counts == {"corpora": 2, "shards": 3, "groups": 4}
    merged = GROUPS.read(tmp_path / "merged.parquet").to_pylist()
    assert [g["documents"][0]["document_id"] for g in merged] == ["b-0-0", "b-0-2", "a-0-0", "a-0-1"]


def test_many_blocks_stream_in_order(tmp_path: Path) -> None:
    locations = [(0, position, sample) for position in range(5000) for sample in range(4)]
    for shard in range(3):
        mine = [group(*location) for location in locations if location[1] // 128 % 3 == shard]
        GROUPS.write(tmp_path / f"{shard}.parquet", mine)
    merge_groups([[tmp_path / f"{shard}.parquet" for shard in range(3)]], tmp_path / "merged.parquet")
    table = GROUPS.read(tmp_path / "merged.parquet", columns=["part", "position", "sample"])
    assert [tuple(row.values()) for row in table.to_pylist()] == locations


@pytest.mark.parametrize("second", [[(0, 1, 0)], [(0, 3, 0), (0, 0, 0)]])
def test_overlapping_or_unsorted_shards_are_refused(
    tmp_path: Path, second: list[tuple[int, int, int]]
) -> None:
    GROUPS.write(tmp_path / "0.parquet", [group(0, 1, 0), group(0, 2, 0)])
    GROUPS.write(tmp_path / "1.parquet", [group(*location) for location in second])
    with pytest.raises(IntegrityError, match="overlap or are out of order"):
        merge_groups([[tmp_path / "0.parquet", tmp_path / "1.parquet"]], tmp_path / "merged.parquet")
    assert not (tmp_path / "merged.parquet").exists()
