"""Status lines: none for short work, one every few seconds for long work, in units that the user knows."""

import os
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest

from irpretrain.foundation import progress as module
from irpretrain.foundation.progress import Counter, duration, notice, print_line, progress


@pytest.fixture
def clock(monkeypatch):
    """Time that a test moves by `clock.now`."""
    made = SimpleNamespace(now=0.0, monotonic=lambda: made.now)
    monkeypatch.setattr(module, "time", made)
    return made


def test_items_pass_unchanged_and_short_work_is_silent(capsys):
    assert list(progress(["a", "b"], "count words", "documents")) == ["a", "b"]
    assert list(progress([], "count words", "documents")) == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "items", "options", "lines"),
    [
        pytest.param(
            6.0,
            [1, 2],
            {},
            ["1/2 units (50%), 10 units/min, 6 s left", "2/2 units (100%), 10 units/min, 0 s left"],
            id="of a list the total is its length",
        ),
        pytest.param(1 / 128, iter(range(257)), {}, ["256 units, 128 units/s"], id="without a total"),
        pytest.param(
            4.0,
            [[0] * 600, [0] * 600, [0] * 300],
            {"total": 1500, "size": len},
            [
                "600/1,500 units (40%), 150 units/s, 6 s left",
                "1,200/1,500 units (80%), 150 units/s, 2 s left",
                "1,500/1,500 units (100%), 125 units/s, 0 s left",
            ],
            id="batches count as what they hold",
        ),
        pytest.param(4.0, [[]], {"total": 10, "size": len}, ["0/10 units (0%)"], id="an empty batch"),
        pytest.param(
            4.0,
            iter(range(2)),
            {"total": 10, "done_count": 6},
            ["7/10 units (70%), 15 units/min, 12 s left", "8/10 units (80%), 15 units/min, 8 s left"],
            id="what an earlier run has done is not in the rate",
        ),
        pytest.param(
            4.0,
            iter(range(2)),
            {"total": 1},
            ["1/1 units (100%), 15 units/min, 0 s left", "2/1 units (200%), 15 units/min, 0 s left"],
            id="more items than announced",
        ),
    ],
)
def test_a_line_says_how_far_how_fast_and_how_long(clock, capsys, seconds, items, options, lines):
    for _ in progress(items, "stage", "units", **options):
        clock.now += seconds
    assert capsys.readouterr().err.splitlines() == [f"[stage] {line}" for line in lines]


def test_lines_come_every_two_seconds_at_first_and_every_ten_later(clock, capsys):
    for _ in progress(iter(range(200)), "read", "records"):
        clock.now += 1
    counts = [
        int(line.removeprefix("[read] ").partition(" ")[0]) for line in capsys.readouterr().err.splitlines()
    ]
    assert counts[:5] == [2, 4, 6, 8, 10]
    assert counts[-3:] == [173, 183, 193]


def test_a_share_of_a_batch_counts_as_so_many_of_its_units(clock, capsys):
    counter = Counter("weigh", "texts", 1000)
    for share in (0.25, 0.5):
        clock.now += 4
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
