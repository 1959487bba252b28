"""Shares of a passage's weight by rank: passages of a few words by hand, and the same bytes for any shards."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lucene import OPTIONS, write_vectors

from irpretrain.config.retrieval import LUCENE_WORDS
from irpretrain.retrieval.weighted_index import RANK_COUNT, Shares, measure_distribution

PASSAGES = {
    "zoo cat": {"zoo": 3, "cat": 1},
    "dog": {"dog": 7},
    "lost": {},
    "stop words": {"the": 5, "of": 1},
    "stems": {"fish": 4, "running": 3, "runs": 2, "the": 90},
}
"""Sorted and divided: 3/4, 1/4; 1; nothing; nothing; run 5/9, fish 4/9."""


def measure(folder: Path, **weightings: list[Path]) -> dict[str, dict]:
    counts = measure_distribution(weightings, OPTIONS, LUCENE_WORDS, folder / "shares.json")
    found = json.loads((folder / "shares.json").read_text())
    assert found["ranks"] == RANK_COUNT == 10
    assert list(counts) == [row["weighting"] for row in found["weightings"]] == list(weightings)
    return {row["weighting"]: row for row in found["weightings"]}


def test_shares_by_hand(tmp_path: Path) -> None:
    row = measure(tmp_path, few=[write_vectors(tmp_path / "0.parquet", PASSAGES)])["few"]
    assert (row["passages"], row["passages_without_terms"], row["mean_terms"]) == (5, 2, 5 / 3)
    assert row["shares"][:2] == pytest.approx([(3 / 4 + 1 + 5 / 9) / 3, (1 / 4 + 0 + 4 / 9) / 3], rel=1e-15)
    assert row["shares"][2:] == [0.0] * 8
    assert row["passages_reaching"] == [3, 2, *[0] * 8]


def test_shards_change_no_byte(tmp_path: Path) -> None:
    names = list(PASSAGES)
    whole = write_vectors(tmp_path / "whole.parquet", PASSAGES)
    parts = [
        write_vectors(tmp_path / f"{number}.parquet", {name: PASSAGES[name] for name in some})
        for number, some in enumerate((names[3:], names[:1], [], names[1:3]))
    ]
    measure_distribution({"few": [whole]}, OPTIONS, LUCENE_WORDS, tmp_path / "one.json")
    measure_distribution({"few": parts}, OPTIONS, LUCENE_WORDS, tmp_path / "several.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "several.json").read_bytes()


def test_a_weighting_that_leaves_no_term_has_no_shares(tmp_path: Path) -> None:
    row = measure(tmp_path, none=[write_vectors(tmp_path / "0.parquet", {"a": {}, "b": {"the": 1}})])["none"]
    assert row["shares"] == [None] * 10
    assert (row["passages_without_terms"], row["mean_terms"]) == (2, None)


passages = st.lists(st.lists(st.integers(1, 1_000_000), max_size=15), max_size=12)


@given(passages, st.randoms())
def test_means_are_those_of_exact_fractions_in_any_order(weights: list[list[int]], random) -> None:
    shares, shuffled = Shares(), Shares()
    for passage in weights:
        shares.add(passage)
    for passage in random.sample(weights, len(weights)):
        shuffled.add(random.sample(passage, len(passage)))
    assert shuffled.means() == shares.means()
    retained = [sorted(passage, reverse=True) for passage in weights if passage]
    if not retained:
        assert shares.means() == [None] * RANK_COUNT
        return
    exact = [
        sum((Fraction(p[rank], sum(p)) for p in retained if rank < len(p)), Fraction(0)) / len(retained)
        for rank in range(RANK_COUNT)
    ]
    assert shares.means() == pytest.approx([float(share) for share in exact], rel=1e-14)
    assert shares.means() == sorted(shares.means(), reverse=True)
