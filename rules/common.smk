"""The plan of this configuration, and the few names that every rule uses. What decides anything is in irpretrain.plan."""

from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES
from irpretrain.plan import Plan, paths
from irpretrain.plan.axioms import NO_VALUES, RANKING_SETTINGS, TERM_SETTINGS
from irpretrain.plan.corpora import LINK_SETTINGS
from irpretrain.plan.paths import sidecar
from irpretrain.plan.requests import CHEAP_CHECKS, PREPARATION, RESULTS, memory, minutes
from irpretrain.plan.retrieval import INDEX_SETTINGS, POSITION_SETTINGS, SEARCH_SETTINGS
from irpretrain.plan.room import one_of, plain, wildcard_number
from irpretrain.plan.shown import table_files

plan = Plan(CFG, MANIFEST)
settings = plan.settings


wildcard_constraints:
    asset=r"[a-z0-9-]+",
    corpus=r"[a-z0-9-]+",
    collection=r"[a-z0-9-]+",
    objective=r"[a-z0-9-]+",
    model=r"[a-z0-9-]+",
    dataset=r"[a-z0-9-]+",
    candidates=r"[a-z0-9-]+",
    index=r"[a-z0-9-]+",
    experiment=r"[a-z0-9-]+",
    predictor=r"[a-z0-9-]+",
    terms="all|held",
    weighting=r"[a-z0-9-]+",
    diagnosis=r"[a-z0-9-]+",
    distribution=r"[a-z0-9-]+",
    page=r"[a-z0-9-]+",
    entry=r"[a-z0-9-]+",
    task=r"[a-z0-9-]+",
    paper=r"[a-z0-9-]+",
    shard=r"\d+",
    seed=r"\d+",
    fold=r"\d+",
    step=r"\d+",


def result_of_the_run():
    """What a run ends with, for the display and the log."""
    from irpretrain.screen.closing import closing_text

    return closing_text(plan, MISSING, workflow.dag_settings.targets, STARTED)


def planned_costs(jobs):
    """What a dry run ends with."""
    from irpretrain.costs.dry_run import costs_text

    return costs_text(CFG, MANIFEST, jobs, MISSING, PLANNED_ABSENT)
