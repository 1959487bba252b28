"""Which files and options belong to which job, from the configuration. Functions only; no rules, no
computing. What belongs to one stage is in common/."""

from functools import cache
from itertools import product
from pathlib import Path

from irpretrain.catalogue.folders import data_folders, folder_of
from irpretrain.config.consistency import view_faults
from irpretrain.config.query_page_consistency import can_attribute
from irpretrain.config.query_uses import query_uses
from irpretrain.config.usage import (
    active_diagnoses,
    active_distributions,
    active_downstream,
    active_experiments,
    active_query_pages,
    depth_of,
    first_stage_names,
    most_shots,
    shown_predictors,
    trained_on,
    training_candidates,
    used_first_stages,
    used_models,
    wanted_models,
    with_starts,
)
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, TF_INDEX
from irpretrain.config.term_weights import TRAINED
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.files import given_files, list_files
from irpretrain.corpora.registry import format_module
from irpretrain.corpora.sources import corpus_aids, corpus_files, encoder_files
from irpretrain.objectives.registry import needs
from irpretrain.report.figures import FIGURES, figure_names
from irpretrain.report.filled_tables import filled_tables
from irpretrain.report.naming import dataset_label, first_stage_labels, index_labels, regime_label
from irpretrain.report.published import load_published

RESOURCES = Path(workflow.basedir) / "resources"
PAPERS = CFG.report.papers
CHEAP_CHECKS = 1000
"""Priority of the jobs that refuse wrong data in seconds, so that nothing costly is started before them."""
RESULTS = 900
"""Priority of tables and reports: what can be shown is shown before anything else is computed."""
PREPARATION = 800
"""Priority of what models wait for; models themselves have priorities by paper, `training_priority`."""


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
    paper=r"[a-z]+",
    shard=r"\d+",
    seed=r"\d+",
    fold=r"\d+",
    step=r"\d+",


def dump(section):
    """A section of the configuration as plain values, so that a change of any of them reruns what depends on it."""
    return section.model_dump(mode="json")


def memory(megabytes, processes=None):
    """Memory request that grows with each attempt: of one process, of which a job may have several. `megabytes` is a
    number, or says it of the wildcards."""

    def request(wildcards, attempt):
        number = megabytes(wildcards) if callable(megabytes) else megabytes
        return number * attempt * (processes(wildcards) if processes else 1)

    return request


def minutes(number):
    """Request of run time that grows with each attempt."""

    def request(wildcards, attempt):
        return number * attempt

    return request


def seed_number(wildcards):
    return int(wildcards.seed)


include: "common/inputs.smk"
include: "common/catalogue.smk"
include: "common/corpora.smk"
include: "common/groups.smk"
include: "common/axioms.smk"
include: "common/term_weights.smk"
include: "common/graph.smk"
include: "common/neural.smk"
include: "common/pretraining.smk"
include: "common/datasets.smk"
include: "common/first_stages.smk"
include: "common/runs.smk"
include: "common/downstream.smk"
include: "common/attributions.smk"
include: "common/weight_views.smk"
include: "common/query_pages.smk"
include: "common/report.smk"
include: "common/export.smk"
include: "common/costs.smk"
include: "common/targets.smk"
