"""Status lines: none for short work, one every few seconds for long work, a bar on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from irpretrain import progress as module
from irpretrain.progress import progress


class Clock:
    """Time that moves by itself: so many seconds an item."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds = 0.0, seconds

    def items(self, count: int):
        for item in range(count):
            self.now += self.seconds
            yield item

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock(4.0)
    monkeypatch.setattr(module, "time", made)
    return made


def test_items_pass_unchanged_and_short_work_is_silent(capsys):
    assert list(progress(["a", "b"], "count words", "documents")) == ["a", "b"]
    assert list(progress([], "count words", "documents")) == []
    assert capsys.readouterr().err == ""


def test_a_line_every_ten_seconds_says_how_far_how_fast_and_how_long(clock, capsys):
    assert list(progress(clock.items(10), "count words", "documents", total=10)) == list(range(10))
    # Items end at 4, 8, 12, ... seconds: ten seconds have passed at 12, again at 24 and 36.
    assert capsys.readouterr().err.splitlines() == [
        "[count words] 3/10 (30%), 28 s left, 0.25 documents/s",
        "[count words] 6/10 (60%), 16 s left, 0.25 documents/s",
        "[count words] 9/10 (90%), 4 s left, 0.25 documents/s",
    ]


def test_without_a_total_there_is_no_time_left(clock, capsys):
    clock.seconds = 1 / 128
    list(progress(clock.items(1290), "read", "records"))
    assert capsys.readouterr().err == "[read] 1,280, 128 records/s\n"


def test_the_total_of_a_list_is_its_length(monkeypatch, capsys):
    made = Clock(0)
    monkeypatch.setattr(module, "time", made)
    for _ in progress([1, 2, 3, 4], "fold", "folds"):
        made.now += 6
    assert capsys.readouterr().err.splitlines() == [
        "[fold] 2/4 (50%), 12 s left, 0.17 folds/s",
        "[fold] 4/4 (100%), 0 s left, 0.17 folds/s",
    ]


def test_more_items_than_announced_leave_no_negative_time(clock, capsys):
    list(progress(clock.items(6), "read", "records", total=3))
    assert "-" not in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_bar_that_leaves_nothing_behind(monkeypatch):
    terminal = Terminal()
    monkeypatch.delenv("IRPRETRAIN_PLAIN_PROGRESS", raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(progress("abc", "count words", "documents")) == ["a", "b", "c"]
    assert "count words:" in terminal.getvalue()
    assert "3" in terminal.getvalue()
    assert terminal.getvalue().rsplit("\r", 2)[-2].strip() == ""


def test_a_terminal_can_ask_for_lines(monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("IRPRETRAIN_PLAIN_PROGRESS", "1")
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(progress("abc", "count words", "documents")) == ["a", "b", "c"]
    assert terminal.getvalue() == ""


def test_an_error_of_the_source_passes_through(clock):
    def records():
        yield from clock.items(3)
        raise ValueError("bad record")

    with pytest.raises(ValueError, match="bad record"):
        list(progress(records(), "read", "records"))
