"""Windows of a text and the answers that are read from them: every word piece is read, targets are whole answers."""

import json
import shutil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_tasks import answering, squad, write_questions

from irpretrain.foundation.errors import InputError
from irpretrain.training import downstream as module
from irpretrain.training.downstream import QuestionAnswering, best_span

CONTEXT = "word01 word02 cab word03 word04 word05"
"""Eight pieces: cab is c ##a ##b."""
TEXT = ["word01", "word02", "c", "##a", "##b", "word03", "word04", "word05"]


@pytest.fixture
def windows(tmp_path, tiny_encoder, monkeypatch):
    """Return the training windows of a question on CONTEXT: their pieces, and their targets' positions."""
    monkeypatch.setattr(module, "QUESTION_LENGTH", 2)

    def make(answers, question="word10 word11 word12", context=CONTEXT, encoder=tiny_encoder, **options):
        path = write_questions(
            tmp_path,
            squad([(context, [("a", question, answers)])]),
            squad([("word01", [("b", "x", ["word01"]), ("c", "x", ["word01"])])]),
        )
        work = QuestionAnswering(encoder, path, answering(**options))
        features = work.features("train")
        pieces = [work.tokenizer.convert_ids_to_tokens(window["input_ids"].tolist()) for window in features]
        return pieces, [(window["start_positions"], window["end_positions"]) for window in features]

    return make


def test_windows_overlap_and_the_question_is_cut(windows):
    # 12 - 3 special - 2 of the question leave 7 pieces; 6 of them overlap.
    pieces, _ = windows(["word03"], max_length=12, stride=2)
    head = ["[CLS]", "word10", "word11", "[SEP]"]
    assert pieces == [[*head, *TEXT[:7], "[SEP]"], [*head, *TEXT[5:], "[SEP]"]]


def test_an_answer_in_two_windows_is_a_target_in_both(windows):
    assert windows(["word03"], max_length=12, stride=2)[1] == [(9, 9), (4, 4)]


def test_an_answer_that_a_window_cuts_is_no_target(windows):
    assert windows(["word02 cab word03"], max_length=10, stride=1)[1] == [(0, 0), (0, 0)]


def test_of_several_answers_the_first_that_a_window_holds(windows):
    assert windows(["word05", "word01"], max_length=12, stride=2)[1] == [(4, 4), (6, 6)]


def test_names_of_special_tokens_are_text(windows):
    pieces, _ = windows(["word01"], context="word01 [SEP] word02", max_length=24)
    assert pieces[0].count("[SEP]") == 2


def test_a_tokenizer_that_pads_and_cuts_on_the_left_does_so_on_the_right(windows, tiny_encoder, tmp_path):
    expected = windows(["word03"], max_length=12, stride=2)
    left = shutil.copytree(tiny_encoder, tmp_path / "left")
    sides = {"padding_side": "left", "truncation_side": "left"}
    settings = json.loads((left / "tokenizer_config.json").read_text())
    (left / "tokenizer_config.json").write_text(json.dumps(settings | sides))
    assert windows(["word03"], encoder=left, max_length=12, stride=2) == expected


@pytest.mark.parametrize(("max_length", "width"), [(12, 12), (24, 16), (64, 64)])
def test_a_gpu_gets_few_widths_and_none_is_beyond_the_longest(
    windows, tiny_encoder, tmp_path, max_length, width
):
    options = {"max_length": max_length, "stride": 2}
    pieces, _ = windows(["word03"], **options)
    work = QuestionAnswering(tiny_encoder, tmp_path / "examples.parquet", answering(**options))
    rows = [{"input_ids": window["input_ids"]} for window in work.features("train")]
    for device, expected in (("cpu", max(map(len, pieces))), ("cuda", width)):
        assert work.collator(torch.device(device))(rows)["input_ids"].shape == (len(rows), expected)


def test_the_best_span(monkeypatch):
    text = np.array([[-1, -1], [0, 2], [3, 4], [5, 6], [7, 8], [-1, -1]])
    starts, ends = np.float32([9, 0, 6, 1, 0, 9]), np.float32([9, 9, 0, 1, 4, 9])
    assert best_span(starts, ends, text) == (10.0, 2, 4), "an end before its start is none"
    monkeypatch.setattr(module, "ANSWER_LENGTH", 2)
    assert best_span(starts, ends, text) == (9.0, 1, 1)
    assert best_span(starts, ends, np.full((6, 2), -1))[0] == -np.inf


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=40))
def test_the_search_is_exact(logits):
    starts, ends = (np.float32([pair[side] for pair in logits]) for side in (0, 1))
    score, first, last = best_span(starts, ends, np.zeros((len(logits), 2)))
    longest = module.ANSWER_LENGTH
    allowed = {
        (i, j): starts[i] + ends[j]
        for i in range(len(logits))
        for j in range(i, min(i + longest, len(logits)))
    }
    assert allowed[first, last] == score == max(allowed.values())


def test_the_answer_is_cut_from_the_text_as_it_is_written(tmp_path, tiny_encoder):
    development = squad([("word01 Word02, CAB!", [("b", "x", ["CAB"]), ("c", "x", ["CAB"])])])
    path = write_questions(tmp_path, squad([(CONTEXT, [("a", "x", ["cab"])])]), development)
    work = QuestionAnswering(tiny_encoder, path, answering())
    [window] = work.features("test")
    # [CLS] x [SEP] word01 word02 , c ##a ##b !
    assert (window["start_positions"], window["end_positions"]) == (6, 8)
    logits = np.zeros((2, 1, len(window["input_ids"]) + 3), np.float32)
    logits[0, 0, window["start_positions"]] = logits[1, 0, window["end_positions"]] = 5
    [answer] = work.predictions("test", tuple(logits)).values()
    assert answer == "CAB"
    logits[:, 0, -1] = 9
    assert [*work.predictions("test", tuple(logits)).values()] == ["CAB"]


def test_a_directory_without_a_model_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no tokenizer"):
        QuestionAnswering(tmp_path, tmp_path / "examples.parquet", answering())


def test_questions_and_windows_with_an_answer_are_counted_in_training_alone(tmp_path, tiny_encoder):
    """Two windows hold a part of the text each; the answer is in the second, and tested questions do not count."""
    train = squad([(f"{CONTEXT} word06", [("a", "word10", ["word06"])])])
    path = write_questions(
        tmp_path, train, squad([("word01", [("b", "x", ["word01"]), ("c", "x", ["word01"])])])
    )
    work = QuestionAnswering(tiny_encoder, path, answering(max_length=12, stride=2))
    assert len(work.features("train")) == 2
    assert len(work.features("test")) == 1
    assert work.counts == {"questions": 1, "windows_with_answer": 1}
