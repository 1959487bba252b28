"""Windows of a text: every word piece is read, and an answer is a target where it lies whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_tasks import answering, squad, write_questions

from irpretrain.downstream.question_answering import Candidate, answer_text, best_span
from irpretrain.downstream.windows import (
    NO_ANSWER,
    WindowSequences,
    cut_windows,
    piece_span,
    read_questions,
    window_bounds,
)
from irpretrain.text.encoder_pieces import EncoderPieces


def test_windows_of_a_text():
    assert window_bounds(10, 10, 4) == [(0, 10)]
    assert window_bounds(11, 10, 4) == [(0, 10), (4, 11)]
    assert window_bounds(18, 10, 4) == [(0, 10), (4, 14), (8, 18)]
    assert window_bounds(0, 10, 4) == [(0, 0)]
    assert window_bounds(25, 10, 128) == [(0, 10), (10, 20), (20, 25)], "no word piece is left out"


@given(st.integers(0, 300), st.integers(1, 60), st.integers(1, 80))
def test_every_word_piece_is_in_a_window_that_fits(pieces, room, stride):
    found = window_bounds(pieces, room, stride)
    assert {place for start, end in found for place in range(start, end)} == set(range(pieces))
    assert all(end - start <= room for start, end in found)
    assert [end for _, end in found][:-1] == [start + room for start, _ in found][:-1]
    assert len(set(found)) == len(found)


CONTEXT = "word01 word02 cab word03 word04 word05"
"""Eight pieces: cab is c ##a ##b."""


@pytest.fixture
def encoder(tiny_encoder):
    return EncoderPieces(tiny_encoder)


@pytest.fixture
def question(tmp_path, encoder):
    def make(context, *answers):
        path = write_questions(
            tmp_path,
            squad([(context, [("a", "word10 word11 word12", list(answers))])]),
            squad([("word01", [("b", "x", ["word01"]), ("c", "x", ["word01"])])]),
        )
        [found] = read_questions(path, "train", encoder, 2)
        return found

    return make


def test_characters_become_word_pieces(encoder):
    [pieces] = encoder.encode([CONTEXT])
    assert len(pieces.ids) == 8
    whole = CONTEXT.index("cab"), CONTEXT.index("cab") + 3
    assert piece_span(pieces, whole) == (2, 4)
    assert piece_span(pieces, (whole[0] + 1, whole[0] + 2)) == (3, 3)
    assert piece_span(pieces, (0, len(CONTEXT))) == (0, 7)
    assert piece_span(pieces, (6, 7)) == NO_ANSWER, "white space"


def test_an_answer_in_two_windows_is_a_target_in_both(question):
    asked = question(CONTEXT, "word03")
    # 12 - 3 special - 2 of the question leave 7 pieces; word03 is piece 5.
    found = cut_windows([asked], answering(max_length=12, question_length=2, stride=1), 3)
    assert [(w.start, w.end, w.first, w.last) for w in found] == [(0, 7, 5, 5), (1, 8, 5, 5)]


def test_an_answer_that_a_window_cuts_is_none_of_its_targets(question):
    asked = question(CONTEXT, "word02 cab word03")  # pieces 1 to 5
    found = cut_windows([asked], answering(max_length=10, question_length=2, stride=2), 3)
    assert [(w.start, w.end, w.first, w.last) for w in found] == [
        (0, 5, -1, -1),
        (2, 7, -1, -1),
        (4, 8, -1, -1),
    ]


def test_of_several_answers_the_first_that_a_window_holds(question):
    asked = question(CONTEXT, "word05", "word01")
    found = cut_windows([asked], answering(max_length=12, question_length=2, stride=1), 3)
    assert [(w.first, w.last) for w in found] == [(0, 0), (7, 7)]


def test_a_batch(question, encoder, tiny_encoder):
    asked = question(CONTEXT, "word03")
    short = question("word05", "word05")
    windows = cut_windows([asked, short], answering(max_length=12, question_length=2, stride=1), 3)
    batch = WindowSequences(encoder, [asked, short]).batch(windows)
    ids = {name: number for number, name in enumerate((tiny_encoder / "vocab.txt").read_text().split())}
    text = ["word01", "word02", "c", "##a", "##b", "word03", "word04"]
    first = ["[CLS]", "word10", "word11", "[SEP]", *text, "[SEP]"]
    last = ["[CLS]", "word10", "word11", "[SEP]", "word05", "[SEP]", *["[PAD]"] * 6]
    assert batch.input_ids[0].tolist() == [ids[name] for name in first]
    assert batch.input_ids[2].tolist() == [ids[name] for name in last]
    assert batch.token_type_ids[2].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert batch.attention_mask[2].sum() == 6
    assert batch.starts.tolist() == batch.ends.tolist() == [9, 8, 4]
    assert batch.offsets.tolist() == [4, 4, 4]


def test_no_answer_points_to_the_first_token(question, encoder):
    asked = question(CONTEXT, "word02 cab word03")
    windows = cut_windows([asked], answering(max_length=10, question_length=2, stride=2), 3)
    batch = WindowSequences(encoder, [asked]).batch(windows)
    assert batch.starts.tolist() == batch.ends.tolist() == [0, 0, 0]


# Answers


def test_the_best_span():
    starts, ends = np.float32([0, 6, 1, 0]), np.float32([9, 0, 1, 4])
    assert best_span(starts, ends, 4) == Candidate(1, 3, 10.0), "an end before its start is none"
    assert best_span(starts, ends, 2) == Candidate(0, 0, 9.0)
    assert best_span(starts[:0], ends[:0], 2) is None


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=12), st.integers(1, 5)
)
def test_the_search_is_exact(logits, longest):
    starts, ends = (np.float32([pair[side] for pair in logits]) for side in (0, 1))
    found = best_span(starts, ends, longest)
    allowed = {
        (i, j): starts[i] + ends[j]
        for i in range(len(logits))
        for j in range(i, min(i + longest, len(logits)))
    }
    assert found is not None
    assert allowed[found.first, found.last] == found.score == max(allowed.values())


def test_the_answer_is_cut_from_the_text_as_it_is_written(encoder):
    context = "word01 Word02, CAB!"
    [pieces] = encoder.encode([context])
    assert answer_text(context, pieces, Candidate(1, 1, 0.0)) == "Word02"
    last = len(pieces.ids) - 1
    assert answer_text(context, pieces, Candidate(3, last - 1, 0.0)) == "CAB"
