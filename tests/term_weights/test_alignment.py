"""Words, word pieces and windows brought together by hand. The tiny tokenizer cuts words of a to j into letters."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from irpretrain.retrieval.term_weights.sequences import (
    NO_PIECE,
    first_pieces,
    piece_targets,
    windows,
    word_weights,
)
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.word_pieces import Pieces
from irpretrain.text.words import WordSpans, word_spans

INF = np.inf


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return EncoderPieces(tiny_encoder)


def test_special_tokens_are_the_tokenizers_own(encoder):
    assert (encoder.prefix, encoder.suffix, encoder.pad_id, encoder.room(12)) == ([2], [3], 0, 10)


@pytest.mark.parametrize(
    ("text", "values", "first", "targets"),
    [
        pytest.param("word01 cab word02", None, [0, 1, 4], [1, 2, None, None, 3], id="cut"),
        # don't is two of our words; the tokenizer knows neither, nor the apostrophe. Punctuation has target 0.
        pytest.param("word01, don't!", None, [0, 2, 4], [1, 0, 2, 0, 3, 0], id="punctuation"),
        pytest.param("cab cab", [7, 7], [0, 3], [7, None, None, 7, None, None], id="repeated"),
        # One [UNK] for an unknown word, but one for each ideograph, as BERT separates them.
        pytest.param("unknowable Ünïcode", None, [0, 1], [1, 2], id="unknown"),
        pytest.param("東京 мир", None, [0, 2], [1, None, 2], id="ideographs"),
        # The tokenizer does not cut at a currency sign, so one [UNK] stands for two words, and the largest target.
        pytest.param("cat€xyz word01", [1, 5, 2], [0, 0, 1], [5, 2], id="shared"),
        pytest.param("", None, [], [], id="empty"),
        pytest.param("[MASK]", None, [1], [0, 1, 0], id="name of a special token"),
    ],
)
def test_a_word_has_its_target_on_its_first_piece(encoder, text, values, first, targets):
    words, [pieces] = word_spans(text, "alphanumeric"), encoder.pieces([text])
    given = np.array(values or range(1, len(words.words) + 1), np.float32)
    found, without_piece = piece_targets(words, pieces, given)
    assert first_pieces(words, pieces).tolist() == first
    assert [None if np.isnan(target) else target for target in found.tolist()] == targets
    assert without_piece == 0


def test_overlapping_words_of_chinese_each_begin_at_a_letter_of_their_own(encoder):
    words, [pieces] = word_spans("東京大学、塔", "chinese:alphanumeric"), encoder.pieces(["東京大学、塔"])
    assert words.words == ["東京", "京大", "大学", "塔"]
    assert first_pieces(words, pieces).tolist() == [0, 1, 2, 5]
    targets, without = piece_targets(words, pieces, np.array([1, 2, 3, 4], np.float32))
    assert_array_equal(targets, [1, 2, 3, np.nan, 0, 4])
    assert without == 0


def test_a_dropped_word_has_no_piece():
    words = WordSpans(["a", "b"], np.array([0, 2], np.int32), np.array([1, 3], np.int32))
    pieces = Pieces(*(np.array([n], np.int32) for n in (9, 2, 3)), np.array([True]))
    assert first_pieces(words, pieces).tolist() == [NO_PIECE, 0]
    assert piece_targets(words, pieces, np.array([1, 2], np.float32))[1] == 1


@pytest.mark.parametrize(
    ("pieces", "overlap", "expected"),
    [
        (10, 2, [(0, 10)]),
        (11, 2, [(0, 10), (1, 11)]),
        (20, 2, [(0, 10), (8, 18), (10, 20)]),
        (20, None, [(0, 10)]),
        (18, 2, [(0, 10), (8, 18)]),
        (0, 2, [(0, 0)]),
    ],
)
def test_windows_by_hand(pieces, overlap, expected):
    assert windows(pieces, 10, overlap) == expected


@given(st.integers(0, 400), st.integers(2, 60), st.data())
def test_windows_cover_every_piece_and_no_more_than_they_hold(pieces, room, data):
    overlap = data.draw(st.integers(0, room // 2))
    found = windows(pieces, room, overlap)
    assert sorted({p for start, end in found for p in range(start, end)}) == list(range(pieces))
    assert all(end - start <= room for start, end in found)
    assert all(a < c and d - c >= 0 and b - c >= overlap for (a, b), (c, d) in itertools.pairwise(found))


# A text of 6 pieces, one a word, in windows of 4 that share 2: words 2 and 3 stand in both.
READ = [(0, 4), (2, 6)]
PREDICTED = [np.array([1, 2, 3, 4], np.float32), np.array([30, 40, 5, 6], np.float32)]


def test_a_word_in_two_windows():
    found = word_weights(np.arange(6), 6, READ, PREDICTED)
    # Word 2 is 1 from the first window's end, 0 from the second's start; word 3 the other way round.
    assert found.values.tolist() == [1, 2, 3, 40, 5, 6]
    assert found.read.all()


def test_the_texts_own_ends_are_no_edges():
    # Of 5 pieces in windows of 4, word 2 is one from an edge in both, word 3 at one in the first alone.
    predicted = [np.zeros(4, np.float32), np.ones(4, np.float32)]
    found = word_weights(np.arange(5), 5, [(0, 4), (1, 5)], predicted)
    assert found.values.tolist() == [0, 0, 0, 1, 1]


def test_a_word_that_no_window_reads_has_no_weight():
    first = np.array([0, NO_PIECE, 7])
    for read in ([(0, 4)], READ):
        found = word_weights(first, 8, read, [np.full(4, 0.5, np.float32)] * len(read))
        assert found.read.tolist() == [True, False, False]
        assert found.values[0] == 0.5


@pytest.mark.parametrize("read", [[(0, 4)], [(0, 4), (0, 4)]])
def test_a_weight_that_is_no_plain_number_was_read(read):
    given = np.array([-INF, INF, np.nan, 0], np.float32)
    found = word_weights(np.arange(4), 4, read, [given] * len(read))
    assert found.read.all()
    assert_array_equal(found.values, given)
