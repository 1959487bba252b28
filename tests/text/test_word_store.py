"""Documents as numbers of words, and the terms that these numbers stand for."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import IntegrityError
from irpretrain.text.statistics import count_words
from irpretrain.text.terms import NO_TERM, Terms, read_terms
from irpretrain.text.word_store import WordStore, write_word_store
from irpretrain.text.words import find_words
from small_documents import write_documents

TEXT = TextConfig(words="alphanumeric")


def make(folder: Path, texts: list[str]) -> tuple[Path, Path]:
    """Write documents, their statistics and their word store; return the store and the statistics."""
    write_documents(folder / "documents.parquet", texts)
    count_words(folder / "documents.parquet", TEXT, folder / "statistics.parquet")
    write_word_store(folder / "documents.parquet", folder / "statistics.parquet", TEXT, folder / "store")
    return folder / "store", folder / "statistics.parquet"


def test_words_are_rows_of_the_statistics_in_text_order(tmp_path: Path) -> None:
    directory, _ = make(tmp_path, ["b a b", "", "c!"])
    store = WordStore(directory)
    assert store.words.tolist() == [1, 0, 1, 2]
    assert store.offsets.tolist() == [0, 3, 3, 4]
    assert store.vocabulary_size == 3
    assert len(store) == 3
    assert store.documents.to_pylist()[2] == {"document_id": "d2", "part": 0, "position": 2}


@given(texts=st.lists(st.text(alphabet="ab é.", max_size=12), max_size=5))
def test_the_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    directory, statistics = make(tmp_path_factory.mktemp("store"), texts)
    store = WordStore(directory)
    words = WORD_COUNTS.read(statistics)["word"].to_pylist()
    found = [
        [words[w] for w in store.words[a:b]] for a, b in zip(store.offsets, store.offsets[1:], strict=False)
    ]
    assert found == [find_words(text, "alphanumeric") for text in texts]


def test_statistics_of_other_documents_are_refused(tmp_path: Path) -> None:
    _, statistics = make(tmp_path / "one", ["a b"])
    make(tmp_path / "two", ["a c"])
    with pytest.raises(IntegrityError, match="the word 'c', which these statistics lack"):
        write_word_store(tmp_path / "two" / "documents.parquet", statistics, TEXT, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    directory, _ = make(tmp_path, ["a b"])
    np.save(directory / "offsets.npy", np.array([0, 1]))
    with pytest.raises(IntegrityError, match="do not fit together"):
        WordStore(directory)
    (directory / "words.npy").unlink()
    with pytest.raises(IntegrityError, match="not a word store"):
        WordStore(directory)
    directory, _ = make(tmp_path / "other", ["a b"])
    (directory / "store.json").write_text("{}")
    with pytest.raises(IntegrityError, match="not a word store"):
        WordStore(directory)


def terms(folder: Path, texts: list[str], **options: str) -> Terms:
    _, statistics = make(folder, texts)
    return read_terms(statistics, **{"stop_list": "none", "stemming": "none"} | options)  # type: ignore[arg-type]


def test_without_stems_and_stop_list_words_are_terms(tmp_path: Path) -> None:
    found = terms(tmp_path, ["the runs the", "run"])
    assert found.names == ["run", "runs", "the"]
    assert found.term_of.tolist() == [0, 1, 2, NO_TERM]
    assert found.counts.tolist() == [1, 1, 2]
    assert found.documents.tolist() == [1, 1, 1]
    assert found.mean_document_length == 2.0


def test_stems_join_words_and_stop_words_have_no_term(tmp_path: Path) -> None:
    found = terms(tmp_path, ["the runs run", "run sun"], stop_list="inquery", stemming="porter")
    assert found.names == ["run", "sun"]
    numbers = found.words(["the", "runs", "run", "sun", "moon"])
    assert found.terms(numbers).tolist() == [NO_TERM, 0, 0, 1, NO_TERM]
    assert found.counts.tolist() == [3, 1]
    assert found.collection_documents == 2


def test_an_empty_collection_has_no_terms(tmp_path: Path) -> None:
    found = terms(tmp_path, [""])
    assert found.names == []
    assert found.terms(found.words(["a"])).tolist() == [NO_TERM]
