"""Identifiers that differ by how they are written get a hint."""

from __future__ import annotations

import pyarrow as pa
import pytest

from irpretrain.corpora.topics_and_judgements import near_hint


@pytest.mark.parametrize("lost", ["X_0000", "X-0", "x-0000", "X 00", "x.0"])
def test_how_an_identifier_is_written_is_named_as_the_cause(lost: str) -> None:
    hint = near_hint([lost], [pa.array(["X-0001", "X-0000"])], "the corpus")
    assert hint.startswith(f"The corpus has X-0000 in place of {lost}: identifiers differ by")


@pytest.mark.parametrize("lost", ["X-10", "Y-0000", "X0-000"])
def test_other_identifiers_get_no_hint(lost: str) -> None:
    assert near_hint([lost], [pa.array(["X-0001", "X-0000"])], "the corpus") == ""
