"""The plan of this configuration, and the few names that every rule uses. What decides anything is in irpretrain.workflow.plan."""

from functools import partial

from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES
from irpretrain.foundation.other_code import (
    library_code,
    other_code_text,
    planned_text,
    results_of_other_code,
)
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.axioms import RANKING_SETTINGS, TERM_SETTINGS
from irpretrain.workflow.plan.paths import sidecar
from irpretrain.workflow.plan.part import CHEAP_CHECKS, PREPARATION, RESULTS, memory, minutes
from irpretrain.workflow.plan.retrieval import INDEX_SETTINGS
from irpretrain.workflow.plan.part import files_in, pattern_of, as_json, wildcard_number
from irpretrain.workflow.plan.shown import table_files
from irpretrain.workflow.plan.whole import Plan

CFG = prepared.config
plan = Plan(CFG, prepared.manifest)
settings = plan.settings
travelling = partial(internals.group_on_cluster, workflow)


wildcard_constraints:
    **paths.CONSTRAINTS,


def result_of_the_run():
    """What a run ends with, for the display and the log."""
    from irpretrain.workflow.screen.closing import closing_text

    return closing_text(plan, prepared.missing, internals.targets(workflow), STARTED)


def planned_times(jobs):
    """Number of a planned job → its time, for the display."""
    from irpretrain.workflow.costs.encoder_work import shapes
    from irpretrain.workflow.costs.estimate import job_times

    return dict(zip(jobs, job_times(CFG, jobs.values(), shapes=shapes(CFG, prepared.manifest))))


def planned_costs(jobs):
    """What a dry run ends with."""
    from irpretrain.workflow.costs.estimate import costs_text

    return "\n".join(filter(None, [costs_text(prepared, jobs), other_code_text(results_of_other_code())]))
