"""IR-Pretrain: from dumps to the tables of the papers. `snakemake --cores N` makes everything the configuration asks for.

Targets:
    all                   everything (default)
    prop, wikiformer, ... a paper of resources/published that `report.papers` names
    datasets              which data sets are there, and what the others need
    downstream            question answering, where an overlay names models and tasks
    exported_models       trained models with their cards
    attributions          which words scores come from
    term_weight_pages     how weights of words look
or any file under results/. docs/module.md uses it from another Snakefile; docs/architecture.md is the map.
"""

import os
import sys
import time
from importlib.util import find_spec

HERE = str(workflow.current_basedir)
LIBRARY = find_spec("irpretrain")  # as the display and the jobs' scripts find it
sys.path.insert(0, os.path.join(HERE, "src"))

from snakemake.exceptions import WorkflowError

if not os.path.isdir(os.path.join(HERE, "src")):
    raise WorkflowError(
        f"{HERE}: the library is not beside the Snakefile. Clone the repository and name the clone's Snakefile."
    )

from irpretrain.config import lay_overlays
from irpretrain.foundation.errors import IRPretrainError
from irpretrain.foundation.garbage import raise_gc_threshold
from irpretrain.workflow.plan.preparation import check_library, prepare
from irpretrain.workflow.screen.job_output import as_user_path
from snakemake_logger_plugin_irpretrain import internals

STARTED = time.time()
# Another Snakefile's targets, display and command line are not ours.
IS_MODULE = internals.is_module(workflow)
internals.refuse_no_cores(workflow)
if not IS_MODULE:
    internals.refuse_containerize()
raise_gc_threshold()  # of the half million objects of a large plan none is garbage
CONFIG_FILE = os.path.join(HERE, "config.yaml")
MANIFEST_FILE = os.path.join(HERE, "resources", "embedded.yaml")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


configfile: CONFIG_FILE


try:
    check_library(LIBRARY)
    source = " + ".join(as_user_path(path) for path in internals.configuration_files(workflow))
    if IS_MODULE:
        source, last = "config of the module", dict(config)
        config = lay_overlays(CONFIG_FILE, last.pop("layers", []), last)
    # Snakemake knows nothing of layers, nor of what an overlay inherits.
    elif overlays := internals.overlays(workflow):
        config = lay_overlays(CONFIG_FILE, *overlays)
    prepared = prepare(
        config,
        source,
        MANIFEST_FILE,
        # The list of data sets is there for those who have none yet.
        needs_data=not internals.is_job(workflow) and set(internals.targets(workflow)) != {"datasets"},
        stand_ins=internals.folder_of_this_process if internals.is_dry_run(workflow) else None,
    )
except IRPretrainError as error:
    raise WorkflowError(str(error)) from None

internals.prepare_run(workflow, prepared.warnings)


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
include: "rules/report.smk"
include: "rules/export.smk"


if not IS_MODULE:
    internals.log_after_dry_run(workflow, planned_costs)
    internals.notify_display(workflow, closing=result_of_the_run)


onstart:
    internals.keep_jobs_off_the_screen(workflow, log)
    internals.notify_display(workflow, times=partial(planned_times, internals.planned_jobs(workflow)))
    internals.disable_default_rate_limit(workflow)


onsuccess:
    logger.info(result_of_the_run())


onerror:
    logger.info(
        "The run stopped. The message above says why; the rule's log under results/logs says more."
    )
    logger.info("After mending it, the same command goes on from where it stopped.")


rule all:
    default_target: not IS_MODULE
    input:
        paths.REPORT,
        paths.ALL_SCORES,
        plan.targets.all_tables,
        [path for paper in CFG.report.papers for path in plan.paper_results(paper)(None)],


for target, files in plan.targets_by_name().items():

    rule:
        name:
            target
        input:
            files,


if not IS_MODULE:
    internals.refuse_unknown_targets(workflow, plan.targets.faults)
