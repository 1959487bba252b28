"""Jobs done, running and left, and how a line says so."""

from __future__ import annotations

import math

import pytest

from irpretrain.workflow.costs import PlannedTime
from irpretrain.workflow.screen.display import seconds_by_jobs
from irpretrain.workflow.screen.run_state import Job, RunState


def job(number: int, rule: str, started: float) -> Job:
    return Job(number, rule, f"{rule} squad", started=started)


def planned(*jobs: tuple[int, str, float]) -> RunState:
    """A run of so many jobs of a rule, numbered on, each with so many seconds of work by the plan."""
    times = [PlannedTime(rule, seconds) for count, rule, seconds in jobs for _ in range(count)]
    made = RunState(total=len(times))
    made.plan(dict(enumerate(times)))
    return made


@pytest.fixture
def state() -> RunState:
    """At second 40: three of ten jobs are done, 10 s each; a search runs since 35, a training since 20.

    With its start of 2 s, a search takes 6 s by the plan; it does not know how long a training takes.
    """
    made = planned((3, "read", 0.0), (4, "search", 4.0), (3, "train", math.nan))
    for number in range(3):
        made.start(job(number, "read", number * 10))
        made.finish(number, number * 10 + 10)
    made.start(job(3, "search", 35))
    made.start(job(7, "train", 20))
    return made


def test_without_a_plan_nothing_is_estimated():
    made = RunState(total=9)
    made.start(job(0, "read", 0))
    made.finish(0, 5)
    made.start(job(1, "read", 5))
    assert made.seconds_left(6) is None
    assert made.time_left(6) == "time left not known yet"


def test_the_first_statement_is_the_plan_s():
    made = planned((1, "read", 0.0), (2, "train", 299.0), (1, "report", 0.0))
    assert made.seconds_left(0) is None, "nothing has begun"
    made.start(job(0, "read", 0))
    # Each job has 2 s for its start.
    assert made.seconds_left(1.0) == 1 + 2 * 301 + 2
    assert made.time_left(1.0) == "about 10 min left"


def test_work_that_was_slower_than_planned_makes_other_work_longer():
    made = planned((2, "store", 58.0), (1, "train", 298.0), (1, "check", 0.0))
    made.start(job(0, "store", 0))
    made.finish(0, 180)
    # The plan counts as 60 s that were as planned, so all work takes (60 + 180) / (60 + 60) of its time; and for the
    # second store, this as 60 s that took so.
    assert made.seconds_left(180.0) == pytest.approx((2 * 60 + 180) / (60 + 60) * 60 + 2 * 300 + 2 * 2)


def test_training_without_work_says_nothing_of_training():
    """A control is its encoder with a fresh head."""
    made = planned((1, "pretrain", 0.0), (1, "pretrain", 298.0))
    made.start(job(0, "pretrain", 0))
    made.finish(0, 24)
    assert made.seconds_left(24.0) == 300


def test_a_job_of_unknown_size_takes_as_long_as_others_of_its_kind_by_the_plan():
    made = planned((1, "pretrain", 98.0), (1, "pretrain", 198.0), (1, "pretrain", math.nan))
    made.start(job(0, "pretrain", 0))
    assert made.seconds_left(0.0) == 100 + 200 + 150


def test_few_jobs_of_unknown_size_take_their_start_and_many_prevent_a_statement():
    made = planned((1, "read", 0.0), (18, "store", 8.0), (2, "vectors", math.nan))
    made.start(job(0, "read", 0))
    assert made.seconds_left(0.0) == 2 + 18 * 10 + 2 * 2
    made = planned((1, "read", 0.0), (17, "store", 8.0), (2, "vectors", math.nan))
    made.start(job(0, "read", 0))
    assert made.seconds_left(0.0) is None


def test_the_time_left_follows_from_the_rates_of_this_run(state):
    state.finish(3, 47.0)
    state.finish(7, 64.0)
    # Waiting: 3 searches, and 2 trainings of 44 s. The search that has ended took 12 s instead of 6 s, so work takes
    # (60 + 12) / (60 + 6) of its time by the plan. 42 + 44 s of work were done in 64 s.
    search = (60 * 72 / 66 + 12) / (60 + 6) * 6
    left = state.seconds_left(64.0)
    assert left == pytest.approx((3 * search + 2 * 44) / (86 / 64))


def test_a_collection_of_unknown_size_has_a_time_left_once_a_fine_tuning_has_ended():
    """Ten fine-tunings of 150 s after 16 short jobs; twelve short jobs of other kinds follow."""
    made = planned((16, "prepare", 0.0), (10, "finetune", math.nan), (12, "write", 0.0))
    for number in range(16):
        made.start(job(number, "prepare", number * 4))
        assert made.seconds_left(number * 4 + 1) is None
        made.finish(number, number * 4 + 4)
    for number in range(10):
        began = 64 + number * 150
        made.start(job(16 + number, "finetune", began))
        left = made.seconds_left(began + 60)
        assert left is None if number == 0 else left == pytest.approx(90 + (9 - number) * 150 + 12 * 2)
        made.finish(16 + number, began + 150)


def test_every_statement_of_a_run_is_between_half_and_twice_the_truth():
    """Short jobs first, as in the default run; two jobs at a time, on a machine that takes half as long again."""
    jobs = [(40, "store", 1.0), (30, "check", 0.0), (6, "pretrain", 250.0), (2, "finetune", 400.0)]
    made = planned(*jobs, (20, "write", 0.0))
    rules = [(rule, seconds) for count, rule, seconds in [*jobs, (20, "write", 0.0)] for _ in range(count)]
    free = [0.0, 0.0]
    running: list[tuple[float, int]] = []
    statements = []
    for number, (rule, seconds) in enumerate(rules):
        began = min(free)
        for end, other in sorted(running):
            if end <= began:
                made.finish(other, end)
        running = [(end, other) for end, other in running if end > began]
        made.start(job(number, rule, began))
        left = made.seconds_left(began)
        assert left is not None
        statements.append((began, left))
        free[free.index(began)] = began + 3 + 1.5 * seconds
        running.append((began + 3 + 1.5 * seconds, number))
    end = max(free)
    for began, seconds in statements:
        if began < 0.9 * end:
            assert 0.5 < seconds / (end - began) < 2, (began, seconds, end)


def test_what_a_rule_does_for_one_paper_is_timed_by_what_it_does_for_others():
    made = planned((1, "make_tables_prop", 0.0), (1, "make_tables_php", 0.0))
    made.start(job(0, "make_tables_prop", 0))
    made.finish(0, 10)
    assert made.seconds_left(10.0) == 10


def test_a_run_does_not_end_before_the_job_that_says_how_long_it_takes_still():
    made = planned((2, "pretrain", 100.0))
    made.start(job(0, "pretrain", 0))
    made.start(job(1, "pretrain", 0))
    texts = {0: "step 46/200, 5 min left", 1: "step 150/200, 20 s left"}
    assert seconds_by_jobs(texts) == {0: 300, 1: 20}
    assert made.seconds_left(60.0) == 102 - 60
    assert made.seconds_left(60.0, seconds_by_jobs(texts)) == 300
    assert seconds_by_jobs({0: "step 9/200", 1: "", 2: "3,000 texts, 40 texts/s, 1.5 h left"}) == {2: 5400}


def test_a_job_that_takes_longer_than_usual_leaves_no_negative_time(state):
    state.finish(7, 36.0)
    assert state.seconds_left(1000.0) > 0


def test_a_job_that_is_tried_again_has_not_failed(state):
    failure = state.fail(7, "exit status 1", [])
    assert failure is not None
    assert list(state.failures) == [7]
    state.start(job(7, "train", 50))
    assert not state.failures
    assert state.fail(99, "", []) is None
