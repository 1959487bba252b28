"""What jobs ask for grows with each attempt."""

from __future__ import annotations

from small_plan import W

from irpretrain.workflow.plan.part import memory, minutes


def test_memory_and_time_grow_with_each_attempt():
    assert [memory(4000)(W(), attempt) for attempt in (1, 2)] == [4000, 8000]
    assert [minutes(30)(W(), attempt) for attempt in (1, 3)] == [30, 90]


def test_memory_may_depend_on_the_job_and_on_its_processes():
    by_shard = memory(lambda wildcards: 10 * int(wildcards.shard), lambda wildcards: 2)
    assert by_shard(W(shard="3"), 1) == 60
