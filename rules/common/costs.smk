"""What a dry run says of the cost of its jobs."""

from contextlib import chdir


def print_costs(directory):
    """Estimate the jobs that a dry run has planned; nothing where it made no plan, or is to be quiet."""
    if (
        workflow.scheduler is None
        or not workflow.dryrun
        or Quietness.ALL in (workflow.output_settings.quiet or ())
    ):
        return
    from irpretrain.costs.counted import with_counted_sizes
    from irpretrain.costs.estimate import estimate, table

    jobs = workflow.dag.needrun_jobs(exclude_finished=False)
    with chdir(directory):  # files of folds are relative to it
        counted = with_counted_sizes(CFG, MANIFEST)
        found = estimate(counted, [(job.rule.name, job.wildcards_dict) for job in jobs])
    if found.rows:
        print("\n" + table(found), file=sys.stderr)
    what = "planned as if they were; a run leaves out" if PLANNED_ABSENT else "left out is"
    print(told(MISSING, f"\nNot there, and {what} what needs them:"), file=sys.stderr)


def print_costs_at_the_end():
    """Snakemake calls no hook after a dry run, so it is the process's end that is waited for; not in processes of jobs."""
    if workflow.exec_mode == ExecMode.DEFAULT:
        atexit.register(print_costs, os.getcwd())
