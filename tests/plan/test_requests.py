"""What jobs ask for grows with each attempt."""

import pytest
import yaml
from small_plan import W, plan_of

from irpretrain.config.load import deep_merge
from irpretrain.workflow.plan.part import memory, minutes


def test_memory_and_time_grow_with_each_attempt():
    assert [memory(4000)(W(), attempt) for attempt in (1, 2)] == [4000, 8000]
    assert [minutes(30)(W(), attempt) for attempt in (1, 3)] == [30, 90]


def test_memory_may_depend_on_the_job_and_on_its_processes():
    by_shard = memory(lambda wildcards: 10 * int(wildcards.shard), lambda wildcards: 2)
    assert by_shard(W(shard="3"), 1) == 60


ASKED = """
datasets:
  asked:
    label: Asked
    corpus: web
    queries: {format: entity-questions, path: asked}
    qrels: {format: entity-questions, path: asked}
    measures: [Success@5]
experiments:
  asked: {dataset: asked, models: [base], regimes: [zero-shot]}
"""


# As many as ARES has (section 5.1.1), or as are said.
@pytest.mark.parametrize(("told", "questions"), [({}, 22_036), ({"about": 400}, 400)])
def test_judging_by_answers_asks_for_memory_also_where_nobody_says_how_many_questions_there_are(
    told, questions
):
    plan = plan_of(
        yaml.safe_dump(deep_merge(yaml.safe_load(ASKED), {"datasets": {"asked": {"queries": told}}}))
    )
    # BM25 and query likelihood retrieve 200 passages each, at half a kB.
    assert plan.datasets.judging_memory(W(dataset="asked")) == 2000 + questions // 5
