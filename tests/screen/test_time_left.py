"""The time left of a run, from the plan's times and from how long its jobs took."""

import math

import pytest

from irpretrain.workflow.costs import PlannedTime
from irpretrain.workflow.screen.time_left import TimeLeft


def planned(*jobs: tuple[int, str, float]) -> TimeLeft:
    """A run of so many jobs of a rule, numbered on, each with so many seconds of work by the plan."""
    times = [PlannedTime(rule, seconds) for count, rule, seconds in jobs for _ in range(count)]
    return TimeLeft(dict(enumerate(times)))


def test_without_a_plan_nothing_is_estimated():
    left = planned()
    left.end_job(0, 5)
    assert left.seconds({1: 1.0}, 6) is None


def test_the_first_statement_is_the_plan_s():
    # Each job has 2 s for its start.
    left = planned((1, "read", 0.0), (2, "train", 299.0), (1, "report", 0.0))
    assert left.seconds({0: 1.0}, 1) == 1 + 2 * 301 + 2


def test_work_that_was_slower_than_planned_makes_other_work_longer():
    left = planned((2, "store", 58.0), (1, "train", 298.0), (1, "check", 0.0))
    left.end_job(0, 180)
    # The plan counts as 60 s that were as planned, so all work takes (60 + 180) / (60 + 60) of its time; and for the
    # second store, this as 60 s that took so.
    assert left.seconds({}, 180) == pytest.approx((2 * 60 + 180) / (60 + 60) * 60 + 2 * 300 + 2)


def test_training_without_work_says_nothing_of_training():
    """A control is its encoder with a fresh head."""
    left = planned((2, "pretrain", 0.0), (1, "pretrain", 298.0))
    left.end_job(0, 24)
    assert left.seconds({}, 24) == 24 + 300


def test_a_job_of_unknown_size_takes_as_long_as_others_of_its_rule_by_the_plan():
    left = planned((1, "pretrain", 98.0), (1, "pretrain", 198.0), (1, "pretrain", math.nan))
    assert left.seconds({0: 0.0}, 0) == 100 + 200 + 150


def test_few_jobs_of_unknown_size_take_their_start_and_many_prevent_a_statement():
    assert (
        planned((1, "read", 0.0), (18, "store", 8.0), (2, "vectors", math.nan)).seconds({}, 0)
        == 2 + 18 * 10 + 4
    )
    assert planned((1, "read", 0.0), (17, "store", 8.0), (2, "vectors", math.nan)).seconds({}, 0) is None


def test_as_many_jobs_run_at_a_time_as_until_now():
    left = planned((2, "train", 98.0), (2, "train", 98.0))
    left.end_job(0, 100)
    assert left.seconds({1: 60.0}, 80) == pytest.approx((40 + 2 * 100) / (160 / 80))


def test_a_collection_of_unknown_size_has_a_time_left_once_a_fine_tuning_has_ended():
    left = planned((16, "prepare", 0.0), (10, "finetune", math.nan), (12, "write", 0.0))
    for number in range(16):
        left.end_job(number, 4)
    assert left.seconds({16: 60.0}, 124) is None
    left.end_job(16, 150)
    assert left.seconds({17: 60.0}, 274) == pytest.approx(90 + 8 * 150 + 12 * 2)


def test_a_job_that_takes_longer_than_planned_leaves_no_negative_time():
    assert planned((1, "train", 8.0)).seconds({0: 1000.0}, 1000) == pytest.approx(100)


def test_every_statement_of_a_run_is_between_half_and_twice_the_truth():
    """Short jobs first, as in the default run; two jobs at a time, on a machine that takes half as long again."""
    jobs = [
        (40, "store", 1.0),
        (30, "check", 0.0),
        (6, "pretrain", 250.0),
        (2, "finetune", 400.0),
        (20, "write", 0.0),
    ]
    left = planned(*jobs)
    works = [seconds for count, _, seconds in jobs for _ in range(count)]
    free = [0.0, 0.0]
    running: dict[int, tuple[float, float]] = {}
    statements = []
    for number, work in enumerate(works):
        began = min(free)
        for other in [other for other, (_, end) in running.items() if end <= began]:
            start, end = running.pop(other)
            left.end_job(other, end - start)
        end = began + 3 + 1.5 * work
        free[free.index(began)] = end
        running[number] = began, end
        seconds = left.seconds({other: began - start for other, (start, _) in running.items()}, began)
        assert seconds is not None
        statements.append((began, seconds))
    for began, seconds in statements:
        if began < 0.9 * max(free):
            assert 0.5 < seconds / (max(free) - began) < 2, (began, seconds, max(free))


def test_nothing_is_left_where_all_jobs_have_ended_or_failed():
    left = planned((2, "train", 98.0))
    left.end_job(0, 100)
    assert left.seconds({}, 100, failed={1}) == 0
    left.end_job(1, 100)
    assert left.seconds({}, 200) == 0
