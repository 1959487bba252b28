"""The contrastive term distribution: by hand, and its limits."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contrastive_reference import distribution
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.axioms.contrastive import (
    ContrastiveModel,
    read_contrastive_model,
    weight_classes,
)
from irpretrain.config.axioms import PseudoQueriesConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.errors import InputError
from irpretrain.text.statistics import count_words
from small_documents import write_documents


def model(folder: Path, texts: list[str], **given: Any) -> ContrastiveModel:
    write_documents(folder / "documents.parquet", texts)
    count_words(folder / "documents.parquet", TextConfig(words="alphanumeric"), folder / "words.parquet")
    options = PseudoQueriesConfig(**{"stop_list": "none", "minimum_count": 1, **given})
    return read_contrastive_model(folder / "words.parquet", options)


def test_two_documents_by_hand(tmp_path: Path) -> None:
    found = model(tmp_path, ["ape ape bat", "bat cat"])
    assert found.words.to_pylist() == ["ape", "bat", "cat"]
    assert found.mu == 2.5  # five words, two documents
    # Document frequencies 1, 2, 1, each raised by one.
    assert found.background.tolist() == pytest.approx([2 / 7, 3 / 7, 2 / 7])
    document = [(2 + 5 / 7) / 5.5, (1 + 7.5 / 7) / 5.5, (5 / 7) / 5.5]
    gamma = [p * math.log(1 / q) for p, q in zip(document, [2 / 7, 3 / 7, 2 / 7], strict=True)]
    weights = [math.exp(g / 0.5) for g in gamma]
    rows = np.array([0, 1, 0])
    expected = [w / sum(weights) for w in weights]
    assert distribution(found, rows, 0.5, "collection").tolist() == pytest.approx(expected)
    own = [w / sum(weights[:2]) for w in weights[:2]]
    assert distribution(found, rows, 0.5, "document").tolist() == pytest.approx([*own, 0])


def test_stop_words_and_rare_words_are_outside(tmp_path: Path) -> None:
    found = model(tmp_path, ["the ape bat ape", "bat the cat"], stop_list="inquery", minimum_count=2)
    assert found.words.to_pylist() == ["ape", "bat"]
    assert found.position_of.tolist() == [0, 1, -1, -1]
    assert found.background.tolist() == pytest.approx([2 / 5, 3 / 5])
    assert found.mu == 2.0  # ape twice, bat twice, two documents


def test_an_empty_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no word outside the stop list occurs at least 3 times"):
        model(tmp_path, ["ape ape the the the"], stop_list="inquery", minimum_count=3)


@given(st.lists(st.floats(0, 0.4), min_size=1, max_size=60), st.floats(1e-9, 10))
def test_words_of_a_class_differ_by_a_factor_of_two_at_most(heights: list[float], temperature: float) -> None:
    given_heights = np.array(heights)
    classes = weight_classes(given_heights, temperature)
    assert sorted(classes.members.tolist()) == list(range(len(heights)))
    for kind, top in enumerate(classes.tops):
        members = classes.members[classes.offsets[kind] : classes.offsets[kind + 1]]
        assert (classes.class_of[members] == kind).all()
        assert given_heights[members].max() == top
        assert np.exp((given_heights[members].min() - top) / temperature) >= 0.5 - 1e-6
