"""What is read from a job's log: the lines that `foundation.progress`, training and `foundation.stage` write."""

import sys
from pathlib import Path

import pytest

from irpretrain.foundation import progress as progress_module
from irpretrain.foundation.progress import notice, progress
from irpretrain.workflow.screen.job_output import Job, failure_message, newest_progress, notices


@pytest.fixture
def log(tmp_path) -> Path:
    return tmp_path / "job.log"


def job_of(log: Path, rule: str = "read_corpus", started: float = 0.0) -> Job:
    return Job(1, rule, rule, [log], started=started)


@pytest.mark.parametrize(
    ("lines", "newest"),
    [
        (["[read] 255 records, 128 records/s", "[read] 256 records, 128 records/s"], "256 records"),
        (["[a [b]] 1/2 folds (50%), 6 s left", "INFO something of Java 3/4"], "1/2 folds (50%), 6 s left"),
        (["[tuning] epoch 1/5: loss 0.5", "[squad] NOTE: 3 queries are left out"], "epoch 1/5: loss 0.5"),
        (["begins"], ""),
    ],
    ids=["newest", "brackets", "notice", "none"],
)  # fmt: skip
def test_the_newest_line_of_progress_has_a_title(log, lines, newest):
    log.write_text("\n".join(lines))
    assert newest_progress(job_of(log)) == newest


def test_a_log_of_an_earlier_run_says_nothing_of_this_one(log):
    log.write_text("[read] 256 records\n")
    assert newest_progress(job_of(log, started=log.stat().st_mtime + 5)) == ""


def test_the_newest_of_a_long_log_is_found(log):
    log.write_text("".join(f"[read] {count} records\n" for count in range(10_000)))
    assert newest_progress(job_of(log)) == "9999 records"


def test_what_progress_writes_is_read(log, monkeypatch):
    moments = iter(range(0, 100, 5))
    monkeypatch.setattr(progress_module, "time", type("Clock", (), {"monotonic": lambda: next(moments)}))
    with open(log, "w") as handle:
        monkeypatch.setattr(sys, "stderr", handle)
        list(progress(range(4), "read", "records", total=5))
        for _ in range(2):  # as workers that share a log do
            notice("read", "2 records are left out")
        print("SLOW: padding is computed", file=handle)
    assert newest_progress(job_of(log)) == "4/5 records (80%), 5 s left"
    assert notices(log) == ["[read] 2 records are left out", "SLOW: padding is computed"]


def test_a_message_ends_at_a_blank_line(log):
    log.write_text(
        "[read] 1 records\n\nERROR in read_corpus_prop: no\n\nERROR in read_corpus: a.jsonl:3: not JSON\n  Mend it.\n\n"
        "[search] 2 queries\n"
    )
    message = "ERROR in read_corpus: a.jsonl:3: not JSON\n  Mend it."
    assert failure_message(job_of(log), []) == message


def test_a_fault_is_its_pointer_and_not_its_traceback(log):
    log.write_text(
        "Traceback (most recent call last):\n  boom\n\nFAULT in search: KeyError: 1\n  Its traceback is in x\n\n"
    )
    assert (
        failure_message(job_of(log, "search"), []) == "FAULT in search: KeyError: 1\n  Its traceback is in x"
    )


def test_without_a_log_nothing_is_reported(tmp_path):
    absent = tmp_path / "absent.log"
    assert (newest_progress(job_of(absent)), notices(absent)) == ("", [])
