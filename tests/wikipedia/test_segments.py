"""Segments hold so many words, cover them all, and never overlap."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.wikipedia import links as module
from irpretrain.wikipedia.links import segments


def cut(body: str, words: int) -> list[str]:
    return [body[start:end] for start, end in segments(body, words)]


def test_whole_segments_and_rests():
    assert cut("a b c d e f", 3) == ["a b c", "d e f"]
    assert cut("a b c d", 3) == ["a b c d"], "a rest of one is less than half of three"
    assert cut("a b c d e", 3) == ["a b c", "d e"], "a rest of two is not"
    assert cut("a b c d e f", 4) == ["a b c d", "e f"], "half is enough"
    assert cut("a", 4) == ["a"], "all there is, however short"
    assert cut(" a  b\n\nc\td ", 2) == ["a  b", "c\td"]
    assert cut("a b c", 1) == ["a", "b", "c"]


def test_a_body_without_words_is_one_segment():
    assert segments("", 5) == [(0, 0)]
    assert segments(" \n ", 5) == [(0, 3)]


def test_offsets_are_characters():
    assert segments("é😀 ß x y", 2) == [(0, 4), (5, 8)]


def test_no_more_than_a_column_can_count(monkeypatch):
    monkeypatch.setattr(module, "MAX_SEGMENTS", 3)
    assert cut("a b c d e f g", 1) == ["a", "b", "c d e f g"]


def test_zero_words_are_refused():
    with pytest.raises(ValueError, match="0 words"):
        segments("a", 0)


@given(st.text(st.sampled_from("ab \n\u00a0é")), st.integers(1, 9))
def test_any_body(body, words):
    spans = segments(body, words)
    pieces = [body[start:end].split() for start, end in spans]
    assert [word for piece in pieces for word in piece] == body.split()
    assert all(len(piece) == words for piece in pieces[:-1])
    assert all(one[1] < other[0] for one, other in pairwise(spans))
    if len(pieces) > 1:
        assert words / 2 <= len(pieces[-1]) < words * 1.5
