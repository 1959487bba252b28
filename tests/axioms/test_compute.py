"""The stage: from tables, stores, postings and vectors to AXIOM_VALUES."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axiom_cases import make_batch, plain_options, values_of, vector_rows
from hypothesis import given
from hypothesis import strategies as st
from made_collection import TEXT, MadeCollection, write_shards
from small_collections import by_sorting

from irpretrain.axioms import axiom_values
from irpretrain.axioms.axiom_values import compute_axiom_values
from irpretrain.axioms.batch import open_collection
from irpretrain.config.axioms import AxiomsConfig, Bm25Config
from irpretrain.foundation.contracts import AXIOM_VALUES, DOCUMENT_QUERIES
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.text.terms import read_terms

TEXTS = ["a b a c", "b c", "the running man runs", "", "c a d", "b", "a b c d e a b"]
QUERIES = [
    ("a b", 0),
    ("c", 0),
    ("b zebra", 1),
    ("the man ran", 2),
    ("runs", 2),
    ("a", 3),
    ("", 4),
    ("d e a", 6),
]
VECTORS = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (1.0, 0.5), "man": (-0.25, 0.25), "d": (0.125, 0.75)}


class Files(MadeCollection):
    """The inputs of the stage for a collection, its documents dealt to some shards."""

    def __init__(self, folder: Path, texts: list[str], options: AxiomsConfig, shards: int = 1) -> None:
        super().__init__(folder, write_shards(folder, texts, shards))
        self.options, self.postings, self.vectors = options, self.write_postings(options), folder / "vectors"
        rows = vector_rows(self.statistics, VECTORS)
        self.vectors.mkdir()
        np.save(self.vectors / "vectors.npy", rows)
        record = f'{{"words": {len(rows)}, "dimensions": {rows.shape[1]}, "source": "test"}}'
        (self.vectors / "vectors.json").write_text(record)

    def compute(
        self, queries: list[tuple[str, int]], stores: list[Path] | None = None, threads: int = 1
    ) -> tuple[dict[str, Any], Path]:
        """Run the stage; return its counts and its output."""
        rows = [
            {"part": 0, "position": number, "sample": sample, "document_id": f"d{number}"}
            | {"query_id": "", "query": text}
            for sample, (text, number) in enumerate(queries)
        ]
        DOCUMENT_QUERIES.write(self.folder / "queries.parquet", rows)
        collection = open_collection(self.statistics, self.postings, self.vectors, self.options, threads)
        output = self.folder / "values.parquet"
        inputs = self.folder / "queries.parquet", stores or self.stores, collection
        return compute_axiom_values(*inputs, TEXT, output), output


def test_rows_keep_their_order_and_get_every_value(tmp_path: Path) -> None:
    counts, output = Files(tmp_path, TEXTS, AxiomsConfig()).compute(QUERIES)
    found = AXIOM_VALUES.read(output)
    assert found["query"].to_pylist() == [text for text, _ in QUERIES]
    assert found["document_id"].to_pylist() == [f"d{number}" for _, number in QUERIES]
    # "a" is a stop word.
    assert found["terms"].to_pylist() == [1, 1, 2, 2, 1, 0, 0, 2]
    assert not any(np.isnan(found[name]).any() for name in found.schema.names[-9:])
    assert counts == {
        "queries": 8,
        "without_terms": 2,
        "document_lacks_a_term": 2,
        "collection_lacks_a_term": 2,
        "rank_1": 4,  # by hand: 2, 1, 3, 1, 1, none, none, 1
        "rank_beyond_depth": 2,
    }


@given(
    texts=st.lists(st.lists(st.sampled_from("abcde"), max_size=7).map(" ".join), min_size=1, max_size=5),
    query=st.lists(st.sampled_from([*"abcde", "zebra"]), max_size=4).map(" ".join),
)
def test_ranks_are_those_of_bm25_and_the_rest_that_of_the_batch(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str
) -> None:
    folder = tmp_path_factory.mktemp("case")
    queries = [(query, number) for number in range(len(texts))]
    options = plain_options(rank_depth=3, stm_3_threshold=0.4567)
    _, output = Files(folder / "stage", texts, options).compute(queries)
    found = AXIOM_VALUES.read(output)
    [ranking] = by_sorting([numbers_of(text) for text in texts], 5, [numbers_of(query)])
    ranks = {number: rank for rank, (number, _) in enumerate(ranking[:3], 1)}
    assert found["rank"].to_pylist() == [ranks.get(number, 0) for number in range(len(texts))]
    batch = make_batch(folder / "batch", texts, queries, options, VECTORS)
    for column, expected in values_of(batch).items():
        assert np.array_equal(found[column].to_numpy(), expected), column


def numbers_of(text: str) -> list[int]:
    """The words' places among a to e, -1 for others."""
    return ["abcde".find(word) for word in text.split()]


@pytest.mark.parametrize(("shards", "threads", "at_once"), [(3, 2, 8192), (2, 1, 3), (1, 1, 1)])
def test_shards_threads_and_batches_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int, threads: int, at_once: int
) -> None:
    _, expected = Files(tmp_path / "one", TEXTS, AxiomsConfig()).compute(QUERIES)
    monkeypatch.setattr(axiom_values, "QUERIES_AT_ONCE", at_once)
    _, output = Files(tmp_path / "other", TEXTS, AxiomsConfig(), shards).compute(QUERIES, threads=threads)
    assert output.read_bytes() == expected.read_bytes()


def test_document_frequencies_of_stems_are_exact_beside_stop_words(tmp_path: Path) -> None:
    # "day" is a stop word, "days" is none. Of their stem, WORD_COUNTS only knows the document where "days" comes first.
    texts = ["day days", "days"]
    files = Files(tmp_path, texts, AxiomsConfig())
    terms = read_terms(files.statistics, "inquery", "porter")
    found = open_collection(files.statistics, files.postings, files.vectors, AxiomsConfig())
    position = terms.names.index("dai")
    assert found.frequencies[position] == 2
    assert terms.documents[position] == 1


def test_a_table_without_queries_gives_one_without_values(tmp_path: Path) -> None:
    counts, output = Files(tmp_path, TEXTS, AxiomsConfig()).compute([])
    assert AXIOM_VALUES.read(output).num_rows == counts["queries"] == 0


def test_a_document_that_no_store_holds_is_named(tmp_path: Path) -> None:
    files = Files(tmp_path, TEXTS, AxiomsConfig(), shards=2)
    with pytest.raises(InputError, match=r"1 document in none of 1 word store, such as d1"):
        files.compute([("a", 0), ("b", 1), ("c", 1)], files.stores[:1])
    assert not (tmp_path / "values.parquet").exists()


def test_postings_of_other_options_are_refused(tmp_path: Path) -> None:
    files = Files(tmp_path, TEXTS, plain_options())
    files.options = AxiomsConfig()
    with pytest.raises(IntegrityError, match="collection, stop list or stemming differ"):
        files.compute(QUERIES)
    files.options = plain_options().model_copy(update={"bm25": Bm25Config(k1=0.7)})
    with pytest.raises(IntegrityError, match=r"these postings are for BM25 with .* has k1=0\.7"):
        files.compute(QUERIES)


def test_stores_and_vectors_of_another_collection_are_refused(tmp_path: Path) -> None:
    files, other = Files(tmp_path / "1", TEXTS, AxiomsConfig()), Files(tmp_path / "2", ["a"], AxiomsConfig())
    with pytest.raises(IntegrityError, match="it numbers 1 words, but the collection has"):
        files.compute(QUERIES, other.stores)
    files.vectors = other.vectors
    with pytest.raises(IntegrityError, match="for 1 word, but the statistics have"):
        files.compute(QUERIES)
