"""Jobs done, running and left, and how a line says so."""

from __future__ import annotations

import pytest

from irpretrain.workflow.screen.job_output import Status
from irpretrain.workflow.screen.run_state import Job, RunState, finished_line, progress_line, time_left


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
    assert made.left(5, {}) is None
    assert time_left(None) == "time left not known yet"


def test_a_lower_bound_is_reported_while_most_jobs_that_remain_are_of_kinds_without_a_time(state):
    assert state.left(40.0, {}) is None, "neither a search nor a training has a time"
    # Of the seven that remain, the running training and two that wait take 40 s each by its rate, 20 s of it are over.
    # 30 + 5 + 20 s of work were done in 40 s.
    left = state.left(40.0, {4: Status("step 5/10, 20 s left", 0.5)})
    assert left == (pytest.approx((20 + 2 * 40) / (55 / 40)), True)
    assert time_left(left) == "at least 73 s left"
    state.finish(3, 45.0)
    assert not state.left(45.0, {}).at_least


def test_the_time_left_follows_from_the_rates_of_this_run(state):
    state.finish(3, 47.0)
    # Running: a training, half done after 27 s. Waiting: 3 searches of 12 s, and 2 trainings of 54 s. 42 + 27 s of
    # work were done in 47 s.
    left = state.left(47.0, {4: Status("step 5/10, 27 s left", 0.5)})
    assert left == (pytest.approx((27 + 3 * 12 + 2 * 54) / (69 / 47)), False)
    assert time_left(left) == "about 2 min left"


def test_a_collection_of_one_s_own_has_a_time_left_from_the_first_fine_tuning_on():
    """Ten fine-tunings of 150 s after 16 short jobs; twelve short jobs of other kinds follow."""
    made = RunState()
    made.plan(
        {**{f"prepare_{n}": 1 for n in range(16)}, "finetune": 10, **{f"write_{n}": 1 for n in range(12)}}
    )
    for number in range(16):
        made.start(job(number, f"prepare_{number}", number * 4))
        made.finish(number, number * 4 + 4)
    for number in range(10):
        began = 64 + number * 150
        made.start(job(100 + number, "finetune", began))
        left = made.left(began + 60, {100 + number: Status("step 4/10, 90 s left", 0.4)})
        assert left == (pytest.approx(90 + (9 - number) * 150), True)
        made.finish(100 + number, began + 150)
    assert made.left(2000.0, {}) is None


def test_a_job_that_has_hardly_begun_takes_as_long_as_others(state):
    state.finish(3, 47.0)
    assert state.left(47.0, {4: Status("step 1/100, 45 min left", 0.01)}) == state.left(47.0, {})


def test_what_a_rule_does_for_one_paper_is_timed_by_what_it_does_for_others():
    made = RunState()
    made.plan({"make_tables_prop": 1, "make_tables_php": 1, "read": 2})
    for number, rule in enumerate(("read", "read", "make_tables_prop")):
        made.start(job(number, rule, number * 10))
        made.finish(number, number * 10 + 10)
    assert made.left(30.0, {}) == (10, False)


def test_a_job_that_takes_longer_than_usual_leaves_no_negative_time(state):
    state.finish(3, 36.0)
    state.start(job(5, "search", 36))
    left = state.left(1000.0, {4: Status("step 5/10", 0.5)})
    assert left is not None
    assert left.seconds > 0


# What the showcase printed as "about 66 min left", and 20 s later as "about 6.4 h left".
RANKING = Status("464/5,000 pairs (9%), 26 pairs/s, 3 min left", 0.09)


def test_the_second_part_of_a_job_is_not_taken_for_the_whole_job():
    made = RunState()
    made.plan({"finetune": 10})
    made.start(job(1, "finetune", 0))
    assert made.left(190.0, {1: Status("79/80 steps (99%), 2 s left", 0.99)}) == (2 + 9 * 192, False)
    assert made.left(210.0, {1: RANKING}) == (180 + 9 * 390, False)


def test_a_job_takes_at_least_the_time_that_it_reports():
    made = RunState()
    made.plan({"finetune": 2})
    made.start(job(1, "finetune", 0))
    made.finish(1, 100)
    made.start(job(2, "finetune", 100))
    assert made.left(310.0, {2: RANKING}) == (180, False)


def test_running_jobs_give_a_time_left_before_any_has_ended():
    """The first three minutes of the showcase's second part."""
    made = RunState()
    made.plan({"pretrain": 4, "finetune": 44})
    for number in (1, 2):
        made.start(job(number, "pretrain", 0))
    status = Status("step 40/200, loss 0.5, 2 min left", 0.2)
    assert made.left(40.0, {1: status, 2: status}) == (pytest.approx((2 * 120 + 2 * 160) / 2), True)


def test_a_line_says_how_far_the_run_and_its_jobs_are(state):
    line = progress_line(state, 40.0, {3: None, 4: Status("step 5/10, loss 0.5, 20 s left", 0.5)})
    assert (
        line
        == (
            "3 of 10 jobs done, at least 73 s left. "
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
