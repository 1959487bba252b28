"""Status lines: none for short work, one every few seconds for long work, in units that the user knows."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import pytest

from irpretrain.foundation import progress as module
from irpretrain.foundation.progress import Counter, duration, notice, print_line, progress


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


def test_a_line_says_how_far_how_fast_and_how_long(clock, capsys):
    assert list(progress(clock.items(3), "count words", "documents", total=3)) == list(range(3))
    assert capsys.readouterr().err.splitlines() == [
        "[count words] 1/3 documents (33%), 15 documents/min, 8 s left",
        "[count words] 2/3 documents (67%), 15 documents/min, 4 s left",
        "[count words] 3/3 documents (100%), 15 documents/min, 0 s left",
    ]


def test_lines_come_every_two_seconds_at_first_and_every_ten_later(clock, capsys):
    clock.seconds = 1.0
    list(progress(clock.items(200), "read", "records"))
    counts = [
        int(line.removeprefix("[read] ").partition(" ")[0]) for line in capsys.readouterr().err.splitlines()
    ]
    assert counts[:5] == [2, 4, 6, 8, 10]
    assert counts[-3:] == [173, 183, 193]


def test_without_a_total_there_is_no_time_left(clock, capsys):
    clock.seconds = 1 / 128
    list(progress(clock.items(257), "read", "records"))
    assert capsys.readouterr().err == "[read] 256 records, 128 records/s\n"


def test_batches_count_as_what_they_hold(clock, capsys):
    batches = [[0] * 600, [0] * 600, [0] * 300]
    list(progress((batches[i] for i in clock.items(3)), "weigh", "texts", 1500, size=len))
    assert capsys.readouterr().err.splitlines() == [
        "[weigh] 600/1,500 texts (40%), 150 texts/s, 6 s left",
        "[weigh] 1,200/1,500 texts (80%), 150 texts/s, 2 s left",
        "[weigh] 1,500/1,500 texts (100%), 125 texts/s, 0 s left",
    ]


def test_empty_batches_are_no_division_by_zero(clock, capsys):
    list(progress(([] for _ in clock.items(1)), "weigh", "texts", 10, size=len))
    assert capsys.readouterr().err == "[weigh] 0/10 texts (0%)\n"


def test_the_total_of_a_list_is_its_length(clock, capsys):
    for _ in progress([1, 2], "fold", "folds"):
        clock.now += 6
    assert capsys.readouterr().err.splitlines() == [
        "[fold] 1/2 folds (50%), 10 folds/min, 6 s left",
        "[fold] 2/2 folds (100%), 10 folds/min, 0 s left",
    ]


def test_more_items_than_announced_leave_no_negative_time(clock, capsys):
    list(progress(clock.items(6), "read", "records", total=3))
    assert "-" not in capsys.readouterr().err


def test_what_an_earlier_run_has_done_counts_but_not_in_the_rate(clock, capsys):
    list(progress(clock.items(2), "score", "pairs", total=10, done_count=6))
    assert capsys.readouterr().err.splitlines() == [
        "[score] 7/10 pairs (70%), 15 pairs/min, 12 s left",
        "[score] 8/10 pairs (80%), 15 pairs/min, 8 s left",
    ]


def test_a_share_of_a_batch_counts_as_so_many_of_its_units(clock, capsys):
    counter = Counter("weigh", "texts", 1000)
    for share, _ in zip((0.25, 0.5), clock.items(2), strict=False):
        counter.reach(100 + int(200 * share))
    assert capsys.readouterr().err.splitlines() == [
        "[weigh] 150/1,000 texts (15%), 38 texts/s, 23 s left",
        "[weigh] 200/1,000 texts (20%), 25 texts/s, 32 s left",
    ]


def test_a_notice_names_its_stage_without_control_characters(capsys):
    notice("a\x1b[31m", "b\x07\tc")
    assert capsys.readouterr().err == "[a\\x1b[31m] NOTE: b\\x07\tc\n"


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (99, "99 s"), (720, "12 min"), (9000, "2.5 h")])
def test_times_are_reported_in_the_unit_that_fits(seconds, text):
    assert duration(seconds) == text


def test_a_line_that_stderr_cannot_take_ends_no_work(monkeypatch):
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", full)
        print_line("step 1")
        patch.undo()
        with suppress(OSError):  # it holds the line still
            full.close()


def test_who_reads_no_more_lines_ends_the_work(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    with monkeypatch.context() as patch:
        with open(writing, "w", buffering=1) as closed:
            patch.setattr(sys, "stderr", closed)
            with pytest.raises(BrokenPipeError):
                print_line("step 1")
            patch.undo()
            os.dup2(os.open(os.devnull, os.O_WRONLY), writing)
