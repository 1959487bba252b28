"""Postings: what is in them, that nothing but the documents decides it, and what is refused."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_collections import BM25, Build, shard_of

from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.foundation.errors import InputError, IntegrityError

DOCUMENTS = [[0, 1, 0, 2, 0], [2], [], [1, 1, 2, 2, 4]]
"""Five terms, of which the fourth is in no document."""


def lists_of(postings: Postings) -> list[list[tuple[int, int]]]:
    """The postings (document, frequency) of every term."""
    lists = postings.lists
    pairs = list(zip(lists.documents.tolist(), lists.frequencies.tolist(), strict=True))
    bounds = lists.offsets.tolist()
    return [pairs[start:end] for start, end in pairwise(bounds)]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def random_documents(count: int, terms: int, seed: int = 1) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [(random.zipf(1.3, random.integers(0, 40)) % terms).tolist() for _ in range(count)]


def test_postings_of_five_words(build: Build) -> None:
    postings = build(DOCUMENTS, 5)
    assert lists_of(postings) == [[(0, 3)], [(0, 1), (3, 2)], [(0, 1), (1, 1), (3, 2)], [], [(3, 1)]]
    assert postings.lists.lengths.tolist() == [5, 1, 0, 5]
    assert (len(postings), postings.terms, postings.index.filled_documents) == (4, 5, 3)
    assert postings.document_frequencies().tolist() == [1, 2, 3, 0, 1]
    assert postings.document_ids.to_pylist() == ["d0", "d1", "d2", "d3"]
    assert postings.rows(pa.array(["d3", "d0"])).tolist() == [3, 0]


def test_words_of_one_term_add_up_and_stop_words_do_not_count(tmp_path: Path) -> None:
    # Words 0 and 1 are forms of term 0, word 2 is a stop word, word 3 is term 1.
    write_postings(
        [[shard_of([[0, 1, 2, 3], [2, 2]])]], np.array([0, 0, -1, 1], np.int32), 2, tmp_path / "p", BM25
    )
    postings = Postings.open(tmp_path / "p")
    assert lists_of(postings) == [[(0, 2)], [(0, 1)]]
    assert postings.lists.lengths.tolist() == [3, 0]
    assert postings.index.filled_documents == 1


def test_frequent_words_overflow_into_another_file(build: Build) -> None:
    postings = build([[0] * 254, [0] * 255, [0] * 700], 1)
    assert postings.lists.frequencies.tolist() == [254, 255, 255]
    assert postings.lists.overflow_positions.tolist() == [1, 2]
    assert postings.lists.overflow_frequencies.tolist() == [255, 700]


def test_bytes_depend_on_neither_shards_nor_memory(tmp_path: Path) -> None:
    """One shard of documents, or two and an empty one; in a collection of two corpora."""
    documents, mapping = random_documents(400, 30), np.arange(30, dtype=np.int32)
    pieces = [shard_of(documents, range(0, 400, 2)), shard_of([]), shard_of(documents, range(1, 400, 2))]
    other = [shard_of(random_documents(50, 30, 2), name="e")]
    for name, shards, memory_mb, passes in (("one", [shard_of(documents)], 1, 1), ("many", pieces, 0, 30)):
        counts = write_postings([shards, other], mapping, 30, tmp_path / name, BM25, memory_mb)
        assert counts["passes"] == passes
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_parts_come_one_after_the_other(tmp_path: Path) -> None:
    first, second = shard_of([[0], [1]], part=1), shard_of([[2]], name="e")
    write_postings([[first, second]], np.arange(3, dtype=np.int32), 3, tmp_path / "p", BM25)
    assert Postings.open(tmp_path / "p").document_ids.to_pylist() == ["e0", "d0", "d1"]


def test_documents_that_share_a_name_are_refused(tmp_path: Path) -> None:
    shard, mapping = shard_of([[0]]), np.zeros(1, np.int32)
    with pytest.raises(IntegrityError, match="1 document identifiers occur twice in 2 word stores"):
        write_postings([[shard], [shard]], mapping, 1, tmp_path / "p", BM25)
    assert not list(tmp_path.iterdir())


def test_words_and_terms_out_of_range_are_refused(tmp_path: Path) -> None:
    shard = shard_of([[0, 5]])
    with pytest.raises(IntegrityError, match="a word that is not among the 5 of the collection"):
        write_postings([[shard]], np.zeros(5, np.int32), 1, tmp_path / "p", BM25)
    with pytest.raises(IntegrityError, match=r"a term number is outside -1 … 0"):
        write_postings([[shard]], np.ones(6, np.int32), 1, tmp_path / "p", BM25)


def test_documents_that_are_not_there_are_named(build: Build) -> None:
    with pytest.raises(InputError, match="2 documents are not in these postings, such as x, y"):
        build(DOCUMENTS, 5).rows(pa.array(["d1", "x", "y"]))


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("postings.json", Path.unlink),
        ("documents.npy", Path.unlink),
        ("documents.npy", _truncate),
        ("postings.json", lambda path: path.write_text("{}")),
        (
            "postings.json",
            lambda path: path.write_text(path.read_text().replace('"version": ', '"version": 9')),
        ),
        ("postings.json", lambda path: path.write_text(path.read_text().replace('"terms": 5', '"terms": 6'))),
        ("frequencies.npy", lambda path: np.save(path, np.zeros(3, np.uint8))),
        ("frequencies.npy", lambda path: np.save(path, np.zeros(7, np.int64))),
        ("offsets.npy", lambda path: np.save(path, np.array([0, 3, 1, 6, 6, 7]))),
        ("impacts/levels.npy", Path.unlink),
        ("impacts/impacts.json", Path.unlink),
    ],
)
def test_a_damaged_folder_is_found_out(build: Build, name: str, harm) -> None:
    postings = build(DOCUMENTS, 5)
    harm(postings.directory / name)
    with pytest.raises(IntegrityError, match=r"these are not whole postings: [^\n]+\n  Delete it and run"):
        Postings.open(postings.directory)


def test_damaged_identifiers_are_found_out_when_they_are_read(build: Build) -> None:
    opened = build(DOCUMENTS, 5)
    path = opened.directory / "identifiers.parquet"
    pq.write_table(pa.table({"document_id": ["d0"]}), path)
    with pytest.raises(IntegrityError, match="1 identifiers for 4 documents"):
        _ = opened.document_ids
    path.unlink()
    with pytest.raises(IntegrityError):
        _ = opened.document_ids


def test_summaries_of_long_lists_say_what_is_in_them(build: Build) -> None:
    postings = build(random_documents(3000, 12), 12)
    bounds, lists = postings.index.bounds, postings.lists
    assert len(bounds.long_lists) > 5
    for number, term in enumerate(bounds.long_lists.tolist()):
        own = slice(lists.offsets[term], lists.offsets[term + 1])
        levels, documents = bounds.levels[own], lists.documents[own]
        assert bounds.tops[term] == levels.max()
        prefix = slice(bounds.prefix_offsets[number], bounds.prefix_offsets[number + 1])
        expected = sorted(
            (-int(level), document) for level, document in zip(levels, documents.tolist(), strict=True)
        )
        expected = [(-level, document) for level, document in expected if -level > bounds.floors[number]]
        assert len(expected) * 4 <= len(levels)
        floor = int(bounds.floors[number])
        assert floor == 0 or (levels > floor - 1).sum() * 4 > len(levels)
        assert bounds.prefix_levels[prefix].tolist() == [level for level, _ in expected]
        assert bounds.prefix_documents[prefix].tolist() == [document for _, document in expected]
        hull = slice(bounds.hull_offsets[number], bounds.hull_offsets[number + 1])
        assert_convex(levels, bounds.hull_levels[hull].astype(int), bounds.hull_above[hull])


def assert_convex(levels: np.ndarray, hull_levels: np.ndarray, hull_above: np.ndarray) -> None:
    """The vertices are points of (level, postings above it), from 0 to the highest, and no point is below them."""
    above = np.array([(levels > level).sum() for level in range(levels.max() + 1)])
    assert hull_above.tolist() == above[hull_levels].tolist()
    assert (hull_levels[0], hull_levels[-1]) == (0, levels.max())
    assert (np.diff(np.diff(hull_above) / np.diff(hull_levels)) > 0).all()
    assert (np.interp(np.arange(len(above)), hull_levels, hull_above) <= above + 1e-9).all()
