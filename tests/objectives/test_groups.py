"""The function that objectives build their groups with, and the merge of the groups of shards."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import ConfigError, IntegrityError
from irpretrain.objectives.groups import Span, group
from irpretrain.objectives.shard import Counts, Shard, merge_groups


def test_defaults_make_a_row_of_the_table(tmp_path: Path) -> None:
    row = group((2, 7), ["red fox"], [Span("d1"), Span("d2", 3, 9)])
    assert row == {
        "part": 2,
        "position": 7,
        "sample": 0,
        "queries": [{"text": "red fox", "document_id": "", "start": 0, "end": 0}],
        "documents": [
            {"document_id": "d1", "start": 0, "end": -1, "gap_start": 0, "gap_end": 0},
            {"document_id": "d2", "start": 3, "end": 9, "gap_start": 0, "gap_end": 0},
        ],
        "scores": [1.0, 0.0],
        "anchors": [],
    }
    GROUPS.write(tmp_path / "groups.parquet", [row])
    assert GROUPS.read(tmp_path / "groups.parquet").to_pylist() == [row]


def test_queries_may_be_spans_and_documents_may_have_gaps() -> None:
    row = group((0, 0), [Span("q", 4, 12), "red"], [Span("d1", 2, -1, 5, 8)], sample=3)
    assert row["queries"][0] == {"text": "", "document_id": "q", "start": 4, "end": 12}
    assert row["documents"] == [{"document_id": "d1", "start": 2, "end": -1, "gap_start": 5, "gap_end": 8}]
    assert (row["sample"], row["scores"]) == (3, [1, 0])


D = Span("d1")


@pytest.mark.parametrize(
    ("queries", "documents", "fault"),
    [
        (["a", "b"], [D, D], "2 queries and 2 documents"),
        ([], [D], "0 queries"),
        (["a"], [], "0 documents"),
        ([Span("d", 0, 9, 2, 3)], [D], "a query has no gap"),
        (["a"], [Span("d", 5, 4)], "is no span"),
        (["a"], [Span("d", -1)], "is no span"),
        (["a"], [Span("d", 0, -2)], "is no span"),
        (["a"], [Span("")], "is no span"),
        (["a"], [Span("d", 2, 9, 1, 3)], "is no span"),
        (["a"], [Span("d", 2, 9, 8, 10)], "is no span"),
        (["a"], [Span("d", 2, 9, 4, 4)], "is no span"),
        (["a"], [Span("d", 2, 9, 5, 4)], "is no span"),
    ],
)
def test_what_does_not_fit_is_refused(queries: Any, documents: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        group((0, 0), queries, documents)


def numbered_group(part: int, position: int, sample: int, corpus: str = "a") -> dict[str, Any]:
    documents = [Span(f"{corpus}-{part}-{position}")]
    return group((part, position), [f"{corpus}{i}" for i in range(2)], documents, sample=sample)


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
        GROUPS.write(path, [numbered_group(*location) for location in mine])
    GROUPS.write(folder / "whole.parquet", [numbered_group(*location) for location in sorted(locations)])
    counts = merge_groups([paths], folder / "many.parquet")
    merge_groups([[folder / "whole.parquet"]], folder / "one.parquet")
    assert counts == {"corpora": 1, "shards": shards, "groups": len(locations)}
    assert (folder / "many.parquet").read_bytes() == (folder / "one.parquet").read_bytes()
    assert GROUPS.read(folder / "many.parquet").to_pylist() == [
        numbered_group(*location) for location in sorted(locations)
    ]


def test_corpora_keep_their_order_and_do_not_mix(tmp_path: Path) -> None:
    GROUPS.write(tmp_path / "b.parquet", [numbered_group(0, 0, 0, "b"), numbered_group(0, 2, 0, "b")])
    GROUPS.write(tmp_path / "a0.parquet", [numbered_group(0, 1, 0)])
    GROUPS.write(tmp_path / "a1.parquet", [numbered_group(0, 0, 0)])
    shards = [[tmp_path / "b.parquet"], [tmp_path / "a0.parquet", tmp_path / "a1.parquet"]]
    counts = merge_groups(shards, tmp_path / "merged.parquet")
    assert counts == {"corpora": 2, "shards": 3, "groups": 4}
    merged = GROUPS.read(tmp_path / "merged.parquet").to_pylist()
    assert [g["documents"][0]["document_id"] for g in merged] == ["b-0-0", "b-0-2", "a-0-0", "a-0-1"]


def test_many_blocks_stream_in_order(tmp_path: Path) -> None:
    locations = [(0, position, sample) for position in range(5000) for sample in range(4)]
    for shard in range(3):
        mine = [numbered_group(*location) for location in locations if location[1] // 128 % 3 == shard]
        GROUPS.write(tmp_path / f"{shard}.parquet", mine)
    merge_groups([[tmp_path / f"{shard}.parquet" for shard in range(3)]], tmp_path / "merged.parquet")
    table = GROUPS.read(tmp_path / "merged.parquet", columns=["part", "position", "sample"])
    assert [tuple(row.values()) for row in table.to_pylist()] == locations


@pytest.mark.parametrize("second", [[(0, 1, 0)], [(0, 3, 0), (0, 0, 0)]])
def test_overlapping_or_unsorted_shards_are_refused(
    tmp_path: Path, second: list[tuple[int, int, int]]
) -> None:
    GROUPS.write(tmp_path / "0.parquet", [numbered_group(0, 1, 0), numbered_group(0, 2, 0)])
    GROUPS.write(tmp_path / "1.parquet", [numbered_group(*location) for location in second])
    with pytest.raises(IntegrityError, match="overlap or are out of order"):
        merge_groups([[tmp_path / "0.parquet", tmp_path / "1.parquet"]], tmp_path / "merged.parquet")
    assert not (tmp_path / "merged.parquet").exists()


def test_an_objective_that_reads_articles_names_the_encoder_that_it_lacks(tmp_path: Path) -> None:
    """Of an objective that needs nothing else, which the library makes without one."""
    shard = Shard(tmp_path / "documents.parquet", TextConfig(words="alphanumeric"), 1)
    with pytest.raises(ConfigError, match="reads the word pieces of an encoder; name one: "):
        next(shard.articles(Counts()))
