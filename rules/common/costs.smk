"""What a dry run says of the cost of its jobs."""

import atexit
from contextlib import chdir

from snakemake.settings.types import ExecMode, Quietness


def print_costs(directory):
    """Estimate the jobs that a dry run has planned; nothing where it made no plan, or is to be quiet."""
    if workflow.scheduler is None or not workflow.dryrun or Quietness.ALL in workflow.output_settings.quiet:
        return
    from irpretrain.costs.estimate import estimate, table

    jobs = workflow.dag.needrun_jobs(exclude_finished=False)
    with chdir(directory):  # files of folds are relative to it
        found = estimate(CFG, [(job.rule.name, job.wildcards_dict) for job in jobs])
    print("\n" + table(found), file=sys.stderr)


def print_costs_at_the_end():
    """Snakemake calls no hook after a dry run, so it is the process's end that is waited for; not in processes of jobs."""
    if workflow.exec_mode == ExecMode.DEFAULT:
        atexit.register(print_costs, os.getcwd())
