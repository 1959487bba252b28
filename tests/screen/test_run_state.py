"""Jobs done, running and left, and how a line says so."""

from __future__ import annotations

import pytest

from irpretrain.screen.job_output import Status
from irpretrain.screen.run_state import Job, RunState, finished_line, progress_line, time_left


def job(number: int, rule: str, started: float) -> Job:
    return Job(number, rule, f"{rule} squad", started=started)


@pytest.fixture
def state() -> RunState:
    """At second 40: three of ten jobs are done, 10 s each; a search runs since 35, a training since 20."""
    made = RunState()
    made.plan({"read": 3, "search": 4, "train": 3})
    for number in range(3):
        made.start(job(number, "read", number * 10))
        made.finish(number, number * 10 + 10)
    made.start(job(3, "search", 35))
    made.start(job(4, "train", 20))
    return made


def test_a_finished_job_is_counted_and_timed(state):
    ended = state.finish(3, 47.0)
    assert ended is not None
    assert finished_line(state, *ended) == "[ 4/10] search squad, 12 s"


def test_nothing_is_estimated_before_three_jobs_are_done():
    made = RunState()
    made.plan({"read": 9})
    for number in range(2):
        made.start(job(number, "read", 0))
        made.finish(number, 5)
    assert made.seconds_left(5, {}) is None
    assert time_left(None) == "time left not known yet"


def test_no_time_left_is_reported_while_most_jobs_that_remain_are_of_kinds_of_which_none_has_ended(state):
    half_done = {4: Status("step 5/10", 0.5)}
    assert state.seconds_left(40.0, half_done) is None
    state.finish(3, 45.0)
    assert state.seconds_left(45.0, half_done) is not None


def test_the_time_left_follows_from_the_rates_of_this_run(state):
    state.finish(3, 47.0)
    # Running: a training, half done after 27 s. Waiting: 3 searches of 12 s, and 2 trainings, each as the mean of the
    # four jobs that have ended. 42 + 27 s of work were done in 47 s.
    left = state.seconds_left(47.0, {4: Status("step 5/10", 0.5)})
    assert left == pytest.approx((27 + 3 * 12 + 2 * 42 / 4) / (69 / 47))
    assert time_left(left) == "about 57 s left"


def test_a_job_that_has_hardly_begun_takes_as_long_as_others(state):
    state.finish(3, 47.0)
    assert state.seconds_left(47.0, {4: Status("step 1/100", 0.01)}) == state.seconds_left(47.0, {})


def test_what_a_rule_does_for_one_paper_is_timed_by_what_it_does_for_others():
    made = RunState()
    made.plan({"make_tables_prop": 1, "make_tables_php": 1, "read": 2})
    for number, rule in enumerate(("read", "read", "make_tables_prop")):
        made.start(job(number, rule, number * 10))
        made.finish(number, number * 10 + 10)
    assert made.seconds_left(30.0, {}) == 10


def test_a_job_that_takes_longer_than_usual_leaves_no_negative_time(state):
    state.finish(3, 36.0)
    state.start(job(5, "search", 36))
    left = state.seconds_left(1000.0, {4: Status("step 5/10", 0.5)})
    assert left is not None
    assert left > 0


def test_a_line_says_how_far_the_run_and_its_jobs_are(state):
    line = progress_line(state, 40.0, {3: None, 4: Status("step 5/10, loss 0.5, 20 s left", 0.5)})
    assert (
        line
        == (
            "3 of 10 jobs done, time left not known yet. "
            "Running: search squad (5 s); train squad (20 s: step 5/10, 20 s left)"
        )
        + "."
    )


def test_a_line_names_few_of_many_running_jobs(state):
    for number in range(10, 110):
        state.start(job(number, "search", 40))
    assert progress_line(state, 40.0, {}).endswith("; and 98 more.")


def test_a_job_that_is_tried_again_has_not_failed(state):
    failure = state.fail(4, "exit status 1")
    assert failure is not None
    assert list(state.failures) == [4]
    state.start(job(4, "train", 50))
    assert not state.failures
    assert state.fail(99) is None
