"""Collection and document models, against numbers worked out by hand."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from document_model import DocumentModel, numbers_of
from irpretrain.config.text import TextConfig
from irpretrain.foundation.errors import InputError
from irpretrain.objectives.prop.language_model import (
    RARE_WORD,
    STOP_WORD,
    CollectionModel,
    keep_probabilities,
    read_collection_model,
)
from irpretrain.text.set_sizes import set_size_probabilities
from irpretrain.text.statistics import count_words
from small_documents import write_documents

TEXT = TextConfig(words="alphanumeric")
TEXTS = ["apple apple banana cherry durian", "banana banana cherry elder elder"]


def model_of(folder: Path, texts: list[str], **options: Any) -> CollectionModel:
    write_documents(folder / "documents.parquet", texts)
    count_words(folder / "documents.parquet", TEXT, folder / "words.parquet")
    defaults: dict[str, Any] = {
        "stop_words": frozenset(),
        "minimum_count": 1,
        "background": "word-counts",
        "rare_words": "excluded",
    }
    return read_collection_model(folder / "words.parquet", **(defaults | options))


def probabilities(model: CollectionModel, text: str) -> dict[str, float]:
    document = DocumentModel(model, text.split())
    return dict(zip(model.terms, document.probabilities.tolist(), strict=True))


def test_dirichlet_smoothing_by_hand(tmp_path: Path) -> None:
    model = model_of(tmp_path, TEXTS)
    assert model.mu == 5.0  # ten words in two documents
    expected = {"apple": 0.3, "banana": 0.25, "cherry": 0.2, "durian": 0.15, "elder": 0.1}
    assert probabilities(model, TEXTS[0]) == pytest.approx(expected, rel=1e-15)


def test_document_frequencies_as_background(tmp_path: Path) -> None:
    model = model_of(tmp_path, TEXTS, background="document-frequencies")
    # apple 1, banana 2, cherry 2, durian 1, elder 1 documents
    assert model.background.tolist() == pytest.approx([1 / 7, 2 / 7, 2 / 7, 1 / 7, 1 / 7])


def test_stop_words_and_rare_words_leave_the_vocabulary(tmp_path: Path) -> None:
    model = model_of(tmp_path, TEXTS, stop_words=frozenset({"banana"}), minimum_count=2)
    assert model.terms == ["apple", "cherry", "elder"]
    assert numbers_of(model, ["banana", "durian", "unseen", "elder"]).tolist() == [
        STOP_WORD,
        RARE_WORD,
        RARE_WORD,
        2,
    ]
    assert (model.total, model.mu) == (6, 3.0)  # over V: 2 apples, 2 cherries, 2 elders
    document = DocumentModel(model, TEXTS[0].split())
    assert document.length == 3  # two apples and a cherry
    assert document.probabilities.tolist() == pytest.approx([3 / 6, 2 / 6, 1 / 6])


def test_rare_words_can_count_in_lengths_and_totals(tmp_path: Path) -> None:
    model = model_of(tmp_path, TEXTS, stop_words=frozenset({"banana"}), minimum_count=2, rare_words="counted")
    assert (model.total, model.mu) == (7, 3.5)  # durian too
    assert model.background.tolist() == pytest.approx([2 / 7, 2 / 7, 2 / 7])
    document = DocumentModel(model, TEXTS[0].split())
    assert document.length == 4
    assert document.probabilities[0] == pytest.approx((2 + 3.5 * 2 / 7) / 7.5)


def test_an_empty_vocabulary_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at least 99 times.*\n.*[Ll]ower the objective's minimum_count"):
        model_of(tmp_path, TEXTS, minimum_count=99)


def test_keep_probabilities_by_hand() -> None:
    counts = np.array([1, 10, 100, 1000])  # of 10,000 words, threshold 0.001: t/f = 10, 1, 0.1, 0.01
    code = keep_probabilities(counts, 10_000, 1e-3)
    assert code.tolist() == pytest.approx([1.0, 1.0, math.sqrt(0.1) + 0.1, 0.11])
    skipped_lists = keep_probabilities(counts, 10_000, 1e-3, minimum_count=101)
    assert skipped_lists.tolist() == pytest.approx([1.0, 1.0, 1.0, 0.11])
    just = keep_probabilities(counts, 10_000, 1e-3, minimum_count=100)
    assert just.tolist() == code.tolist()  # a word with the minimum count itself is thinned
    assert keep_probabilities(counts, 10_000, 0).tolist() == [1.0] * 4


def test_set_sizes_are_the_poisson_law_without_zero_and_large_values() -> None:
    law = [math.exp(-3) * 3**size / math.factorial(size) for size in range(1, 6)]
    np.testing.assert_allclose(set_size_probabilities(3.0, 5), np.array(law) / sum(law), rtol=1e-14)
    assert set_size_probabilities(3.0, 1000).sum() == pytest.approx(1.0)
    assert set_size_probabilities(700.0, 1000).max() < 0.1
