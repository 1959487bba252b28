"""IR-Pretrain: from dumps to the tables of the papers. `snakemake --cores N` makes everything the configuration asks for.

Targets:
    all                   everything (default)
    prop, wikiformer, ... a paper that `report.papers` names
    datasets              which data sets are there, and what the others need
    downstream            question answering and GLUE, where an overlay names models and tasks
    exported_models       trained models with their cards
    attributions          which words scores come from
    weight_distributions, term_weight_pages   how weights of words look
    query_pages           rankings of single queries side by side
or any file under results/.
docs/architecture.md is the map.
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(workflow.basedir, "src"))

from snakemake.exceptions import WorkflowError

from irpretrain.catalogue.absence import refuse_absent, without_absent
from irpretrain.catalogue.folders import with_data_of_the_project
from irpretrain.catalogue.needed import missing_by_entry, told
from irpretrain.config import lay_overlays, parse_config
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import check_sources, with_caveats
from irpretrain.errors import IRPretrainError

STARTED = time.time()
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


include: "rules/common/dry_run.smk"
include: "rules/common/screen.smk"


configfile: os.path.join(workflow.basedir, "config.yaml")


try:
    given = workflow.config_settings
    # Snakemake knows nothing of layers, nor of what an overlay inherits.
    if not given.replace_workflow_config:
        config = lay_overlays(os.path.join(workflow.basedir, "config.yaml"), given.configfiles, given.config)
    CFG = parse_config(config, " + ".join(os.path.relpath(path) for path in workflow.configfiles))
    CFG = with_data_of_the_project(CFG)
    MISSING = missing_by_entry(CFG)
    if asks_for_data():
        refuse_absent(CFG)
    PLANNED_ABSENT = bool(MISSING) and CFG.skip_absent and is_dry_run()
    if PLANNED_ABSENT:
        from irpretrain.costs.stand_ins import with_stand_ins

        CFG = with_stand_ins(CFG, folder_of_this_process())
    CFG = without_absent(CFG)
    MANIFEST = read_manifest(os.path.join(workflow.basedir, "resources", "embedded.yaml"))
    check_sources(CFG, MANIFEST)
    CFG = with_caveats(CFG, MANIFEST)
except IRPretrainError as error:
    raise WorkflowError(str(error)) from None


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/datasets.smk"
include: "rules/corpora.smk"
include: "rules/text.smk"
include: "rules/graph.smk"
include: "rules/axioms.smk"
include: "rules/groups.smk"
include: "rules/term_weights.smk"
include: "rules/pretraining.smk"
include: "rules/neural.smk"
include: "rules/retrieval.smk"
include: "rules/reranking.smk"
include: "rules/evaluation.smk"
include: "rules/downstream.smk"
include: "rules/attributions.smk"
include: "rules/weight_views.smk"
include: "rules/query_pages.smk"
include: "rules/report.smk"
include: "rules/export.smk"


print_costs_at_the_end()
tell_the_display(closing=closing_text)


onstart:
    keep_jobs_off_the_screen(log)
    # The limit of jobs a second sets a timer after each selection of jobs, and each timer ends in another selection: once
    # a second for every job so far, for as long as any job waits (Snakemake 9.27). Another limit than its own is the user's.
    limit = workflow.scheduler.job_rate_limiter
    if workflow.local_exec and limit is not None and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    logger.info(closing_text())


onerror:
    logger.info(
        "The run stopped. The message above says why; the rule's log under results/logs says more."
    )
    logger.info("After mending it, the same command goes on from where it stopped.")


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/scores.csv",
        tables_of_what_is_asked,
        [path for paper in PAPERS for path in paper_results(paper)(None)],


rule prop:
    input:
        paper_results("prop"),


rule wikiformer:
    input:
        paper_results("wikiformer"),


rule php:
    input:
        paper_results("php"),


rule ares:
    input:
        paper_results("ares"),


rule deepct:
    input:
        paper_results("deepct"),


rule datasets:
    input:
        "results/datasets.md",


rule exported_models:
    input:
        exported_models,


rule downstream:
    input:
        downstream_tables,


rule attributions:
    input:
        attribution_pages,


rule weight_distributions:
    input:
        distribution_figures,


rule term_weight_pages:
    input:
        weight_pages,


rule query_pages:
    input:
        all_query_pages,


refuse_unknown_targets()
