"""Counting and merging, against a Counter and for every way of dealing documents to shards."""

import gc
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import IntegrityError
from irpretrain.text.statistics import Totals, count_words, merge_counts, read_totals
from irpretrain.text.stop_words import stems_of
from irpretrain.text.words import find_words
from small_documents import write_documents

TEXT = TextConfig(words="alphanumeric")


def counted(path: Path) -> list[tuple[str, int, int, int]]:
    return [tuple(row.values()) for row in WORD_COUNTS.read(path).to_pylist()]  # type: ignore[misc]


def test_a_small_shard(tmp_path: Path) -> None:
    documents = write_documents(tmp_path / "documents.parquet", ["Run runs RUN", "", "running: a run", "!"])
    counts = count_words(documents, TEXT, tmp_path / "words.parquet")
    assert counts == {"documents": 4, "documents_without_words": 2, "words": 6, "distinct_words": 4}
    # The stem "run" is in two documents; each counts for the first of its words there.
    assert counted(tmp_path / "words.parquet") == [
        ("a", 1, 1, 1),
        ("run", 3, 2, 1),
        ("running", 1, 1, 1),
        ("runs", 1, 1, 0),
    ]
    assert read_totals(tmp_path / "words.parquet") == Totals(documents=4, words=6)


def test_a_table_without_totals_is_refused(tmp_path: Path) -> None:
    WORD_COUNTS.write(tmp_path / "words.parquet", [])
    with pytest.raises(IntegrityError, match="totals are missing"):
        read_totals(tmp_path / "words.parquet")


TEXTS = st.lists(st.text("ab1 éZ-'", max_size=30), max_size=12)


@given(TEXTS, st.integers(1, 5), st.integers(1, 4))
def test_any_sharding_gives_the_bytes_of_one_shard_and_the_counts_of_a_counter(
    texts: list[str], shards: int, words_in_memory: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count_words(write_documents(folder / "all.parquet", texts), TEXT, folder / "whole.parquet")
        merge_counts([folder / "whole.parquet"], folder / "one.parquet")
        paths = []
        for shard in range(shards):
            documents = write_documents(folder / f"documents-{shard}.parquet", texts[shard::shards])
            paths.append(folder / f"words-{shard}.parquet")
            count_words(documents, TEXT, paths[-1], words_in_memory)
        merge_counts(paths[::-1], folder / "many.parquet")
        assert (folder / "one.parquet").read_bytes() == (folder / "many.parquet").read_bytes()
        rows, totals = counted(folder / "many.parquet"), read_totals(folder / "many.parquet")

    words = [find_words(text, "alphanumeric") for text in texts]
    assert totals == Totals(len(texts), sum(map(len, words)))
    occurrences = Counter(word for one in words for word in one)
    assert {row[0]: row[1] for row in rows} == occurrences
    assert {row[0]: row[2] for row in rows} == Counter(word for one in words for word in set(one))
    assert [row[0] for row in rows] == sorted(occurrences)
    by_stem: Counter[str] = Counter()
    for row, stem in zip(rows, stems_of([row[0] for row in rows]), strict=True):
        by_stem[stem] += row[3]
    assert by_stem == Counter(stem for one in words for stem in set(stems_of(one)))


def test_words_that_were_counted_leave_memory_at_once(tmp_path: Path) -> None:
    """A cycle would keep millions of them until the garbage collector comes, which stages call rarely."""
    documents = write_documents(tmp_path / "documents.parquet", ["pear apple pear"])
    gc.collect()
    count_words(documents, TEXT, tmp_path / "words.parquet")
    assert gc.collect() == 0


def test_many_blocks_merge_to_one_sorted_table(tmp_path: Path) -> None:
    words = [f"w{i:05d}" for i in range(40_000)]
    shards = [words[::2], words[1::3], words]
    paths = []
    for shard, retained in enumerate(shards):
        documents = write_documents(tmp_path / "documents.parquet", [" ".join(retained)])
        paths.append(tmp_path / f"{shard}.parquet")
        count_words(documents, TEXT, paths[-1])
    merge_counts(paths, tmp_path / "merged.parquet")
    expected = Counter(word for retained in shards for word in retained)
    assert [row[:2] for row in counted(tmp_path / "merged.parquet")] == sorted(expected.items())
