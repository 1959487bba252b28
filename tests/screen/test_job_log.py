"""What is read from a job's log: the lines that `foundation.progress`, training and `foundation.stage` write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from irpretrain.foundation import progress as progress_module
from irpretrain.foundation.progress import notice, progress
from irpretrain.workflow.screen.job_output import Status, failure_message, newest_status, notices


@pytest.fixture
def log(tmp_path) -> Path:
    return tmp_path / "job.log"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (
            "[weigh squad] 1,200/1,500 texts (80%), 150 texts/s, 2 s left",
            Status("1,200/1,500 texts (80%), 150 texts/s, 2 s left", 0.8),
        ),
        ("[read] 256 records, 128 records/s", Status("256 records, 128 records/s", None)),
        (
            "[prop seed 1] step 40/100, loss 0.6931, 2,000 tokens/s, 12 s left",
            Status("step 40/100, loss 0.6931, 2,000 tokens/s, 12 s left", 0.4),
        ),
        ("[a [b]] 1/2 folds (50%), 10 folds/min, 6 s left", Status("1/2 folds (50%), 10 folds/min, 6 s left", 0.5)),
        ("[read] 10/10 records (100%), 0 s left", None),
        ("[squad] NOTE: 3 queries are left out", None),
        ("2026-11-21 12:00:00 INFO something of Java 3/4", None),
        ("[tuning] batch 8, rate 0.001 (1/2), epoch 1/5: loss 0.5", None),
    ],
    ids=["batches", "without a total", "training", "brackets", "complete", "notice", "java", "epoch"],
)  # fmt: skip
def test_a_status_is_a_line_with_a_count(log, line, status):
    log.write_text(f"begins\n{line}\nends\n")
    assert newest_status(log) == status


def test_the_newest_of_a_long_log_is_found(log):
    log.write_text("".join(f"[read] {count} records, 1 records/s\n" for count in range(10_000)))
    assert newest_status(log) == Status("9999 records, 1 records/s", None)


def test_what_progress_writes_is_read(log, monkeypatch):
    moments = iter(range(0, 100, 5))
    monkeypatch.setattr(progress_module, "time", type("Clock", (), {"monotonic": lambda: next(moments)}))
    with open(log, "w") as handle:
        monkeypatch.setattr(sys, "stderr", handle)
        list(progress(range(4), "read", "records", total=5))
        notice("read", "2 records are left out")
        print("SLOW: padding is computed", file=handle)
    assert newest_status(log) == Status("4/5 records (80%), 12 records/min, 5 s left", 0.8)
    assert notices(log) == ["[read] 2 records are left out", "SLOW: padding is computed"]


def test_a_message_is_the_end_of_the_log(log):
    log.write_text(
        "[read] 1 records, 1 records/s\n\nERROR in read_corpus: a.jsonl:3: not JSON\n  Mend it.\n\n  Or not.\n\n"
    )
    assert failure_message(log) == "ERROR in read_corpus: a.jsonl:3: not JSON\n  Mend it.\n\n  Or not."


def test_a_fault_is_its_pointer_and_not_its_traceback(log):
    log.write_text(
        "Traceback (most recent call last):\n  boom\n\nFAULT in search: KeyError: 1\n  Its traceback is in x\n\n"
    )
    assert failure_message(log) == "FAULT in search: KeyError: 1\n  Its traceback is in x"


def test_without_a_log_nothing_is_reported(tmp_path):
    absent = tmp_path / "absent.log"
    assert (newest_status(absent), notices(absent), failure_message(absent)) == (None, [], "")
