"""All that the Snakefile asks of Snakemake beyond its documented interface, in one place (Snakemake 9.27).

tests/screen/test_snakemake_internals.py fails where Snakemake changes any of it. `workflow` is the Snakefile's global.
"""

import atexit
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from snakemake import common
from snakemake.exceptions import WorkflowError
from snakemake.io import report
from snakemake.logging import ColorizingTextHandler, DefaultFormatter, logger
from snakemake.settings.types import ExecMode, Quietness

from irpretrain.foundation.errors import did_you_mean
from irpretrain.foundation.other_code import unrecorded_text
from irpretrain.workflow.costs import PlannedJob

NAME = "irpretrain"
# Attribute of log records by which the Snakefile talks to the display: a mapping with `closing`, `times` or `logs`.
ATTRIBUTE = "irpretrain"
# What Snakemake says where all files are there.
NOTHING_TO_DO = common.NOTHING_TO_BE_DONE_MSG
# How texts of it begin: of the end of a run with failed jobs; on SIGINT and SIGTERM; of a record that a full disk or a
# kill cut off, whose job is made again.
FINAL_ERROR = "At least one job did not complete successfully."
LOOK_ABOVE = "Exiting because a job execution failed."
TERMINATING = "Terminating processes on user request"
HALF_WRITTEN = "Ignore corrupted or currently written metadata record"
# Jobs, and seconds, of the limit that Snakemake has where the user sets none.
USUAL_LIMIT = (100, 1)


def has_display(settings: Any) -> bool:
    """Whether Snakemake's output settings ask for the display, rather than for all that Snakemake says itself."""
    requested = NAME in getattr(settings, "log_handler_settings", {NAME: None})
    return requested and not (settings.dryrun or settings.verbose or settings.debug_dag)


def keep_exceptions() -> None:
    """Let records have the exception that is handled where they are logged, as `error`: plugins see them later."""
    logger.addFilter(_keep_exception)


def _keep_exception(record: logging.LogRecord) -> bool:
    record.error = sys.exception()
    return True


def is_job(workflow: Any) -> bool:
    """Whether this process runs a job, and neither plans nor schedules."""
    return bool(workflow.exec_mode != ExecMode.DEFAULT)


def is_dry_run(workflow: Any) -> bool:
    return not is_job(workflow) and bool(workflow.output_settings.dryrun)


def is_module(workflow: Any) -> bool:
    """Whether another Snakefile uses the one that is being read as a module."""
    return not workflow.modifier.is_main_snakefile()


def targets(workflow: Any) -> list[str]:
    """Return the command line's, which Snakemake tells a Snakefile only once it is read; none in a job."""
    if is_job(workflow):
        return []
    from snakemake.cli import get_argument_parser

    return list(get_argument_parser().parse_known_args(sys.argv[1:])[0].targets)


def configuration_files(workflow: Any) -> Sequence[str | Path]:
    """Return the files that the configuration comes from, the Snakefile's own first."""
    return workflow.configfiles


def overlays(workflow: Any) -> tuple[Sequence[str | Path], Mapping[str, Any]] | None:
    """Return the files of `--configfile` and the keys of `--config`; None where they are the whole configuration."""
    settings = workflow.config_settings
    return None if settings.replace_workflow_config else (settings.configfiles, settings.config)


def refuse_no_cores(workflow: Any) -> None:
    """Raise WorkflowError where not one core, or not one job at a time, may be used: Snakemake would wait for ever."""
    requested = workflow.resource_settings
    for option, number in (("--cores", requested.cores), ("--jobs", requested.nodes)):
        if number is not None and number < 1:
            raise WorkflowError(f"{option} {number}: no job can run so; give a number from 1 on.")


def refuse_containerize() -> None:
    """Raise WorkflowError for `snakemake --containerize`, which would print a recipe without a package."""
    if "--containerize" in sys.argv:
        raise WorkflowError(
            "--containerize: the rules name no environments of their own, so its image would be empty. Containerfile, "
            "beside the Snakefile, is the recipe: podman build --tag irpretrain ."
        )


def prepare_run(workflow: Any, warnings: Iterable[str]) -> None:
    """Print warnings and `unrecorded_text`; not in the processes of jobs.

    A lost terminal (SIGHUP) ends a run as SIGTERM does: no new jobs, the lock goes. `nohup` stays stronger.
    """
    if is_job(workflow):
        return
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        # To the handler that Snakemake sets when it begins to start jobs.
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    for text in filter(None, [*(f"WARNING: {warning}" for warning in warnings), unrecorded_text()]):
        logger.warning(text)


def folder_of_this_process() -> str:
    """Return a folder that goes when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="irpretrain-plan-")
    atexit.register(folder.cleanup)
    return folder.name


def disable_default_rate_limit(workflow: Any) -> None:
    """Take Snakemake's own limit of jobs a second off, on one machine.

    It sets a timer after each selection of jobs, and each timer ends in another selection: once a second for every job
    so far, for as long as any job waits. Another limit than its own is the user's.
    """
    limit = workflow.scheduler.job_rate_limiter
    if workflow.local_exec and limit is not None and (limit.max_jobs, limit.timespan) == USUAL_LIMIT:
        workflow.scheduler.job_rate_limiter = None


def group_on_cluster(workflow: Any, group: str) -> Callable[[Any], str | None]:
    """Return the `group` of a rule: jobs that a cluster takes as one if they follow one another; none on one machine.

    A function, because Snakemake learns only after it has read the rules where jobs run.
    """
    return lambda wildcards: None if workflow.local_exec else group


def in_report(file: str, category: str) -> Any:
    """Return an output with its place in `snakemake --report`: tables as CSV, figures as SVG, the report as HTML."""
    kind = {".csv": "table", ".svg": "figure", ".html": "report"}.get(Path(file).suffix)
    if kind is None:
        return file
    caption = f"../resources/captions/{kind}.rst"  # beside the folder of the rules
    return report(file, caption=caption, category=category, labels={kind: Path(file).name})


def planned_jobs(workflow: Any) -> dict[int, PlannedJob]:
    """Return the jobs that are to be run, by the number that Snakemake gives them."""
    return {
        job.jobid: PlannedJob(
            job.rule.name,
            job.wildcards_dict,
            job.resources.get("mem_mb", 0),
            list(map(str, job.input)),
            job.threads,
        )
        for job in workflow.dag.needrun_jobs(exclude_finished=False)
    }


def log_after_dry_run(workflow: Any, text: Callable[[list[PlannedJob]], str]) -> None:
    """Print a text about the jobs that a dry run plans, when it ends: Snakemake calls no hook then, so it is the end of
    the process. Nothing where it made no plan or is to be quiet, nor in processes of jobs."""
    directory = os.getcwd()

    def log() -> None:
        quiet = Quietness.ALL in (workflow.output_settings.quiet or ())
        if workflow.scheduler is None or not workflow.dryrun or quiet:
            return
        with chdir(directory):  # paths of the configuration are relative to it
            print(text(list(planned_jobs(workflow).values())), file=sys.stderr)

    if not is_job(workflow):
        atexit.register(log)


def usual_display(settings: Any) -> logging.Handler:
    """Return what shows a record as Snakemake does without the plugin."""
    stream = sys.stdout if settings.stdout else sys.stderr
    formatter = DefaultFormatter(settings.quiet, settings.show_failed_logs)
    return ColorizingTextHandler(settings.nocolor, stream, formatter)


def notify_display(workflow: Any, **reported: Any) -> None:
    """Log a record without text, which only the display reads."""
    if not is_job(workflow):
        logger.info(None, extra={ATTRIBUTE: reported})


def keep_jobs_off_the_screen(workflow: Any, log: list[str]) -> None:
    """Send what jobs print into a file beside Snakemake's own log, if there is a display, which ends it."""
    if is_job(workflow) or not has_display(workflow.output_settings):
        return
    # With --quiet Snakemake would not say which jobs are done; what is shown of that, the display decides.
    workflow.scheduler.print_progress = True
    path = Path(".snakemake", "log", f"{Path(log[0]).stem if log else 'run'}.jobs.log")
    redirect_output(path)
    notify_display(workflow, logs=[*log, str(path)])


def redirect_output(path: Path) -> None:
    """Send what this process and its children write to stdout and stderr to a file; nowhere where a disk is full."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    except OSError:
        file = os.open(os.devnull, os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def refuse_unknown_targets(workflow: Any, faults: Callable[[str, Mapping[str, str]], Iterable[str]]) -> None:
    """Raise WorkflowError where a target of the command line names what this configuration does not have.

    Args:
        faults: of a target, by what a rule's wildcards are in it.
    """
    rules = list(workflow.rules)
    names = {rule.name for rule in rules}
    refusals = list[str]()
    for target in targets(workflow):
        if target in names or os.path.exists(target):
            continue
        matches = [match for rule in rules for output in rule.products() if (match := output.match(target))]
        faults_by_match = [list(faults(target, match.groupdict())) for match in matches]
        if not matches:
            targets_without_wildcards = [rule.name for rule in rules if not rule.has_wildcards()]
            outputs = [str(path) for rule in rules for path in rule.output]
            near = did_you_mean(target, [*targets_without_wildcards, *outputs])
            text = f"{target}: no rule makes such a file, and there is no target of this name; {near}"
            refusals.append(text.rstrip("; "))
        elif all(faults_by_match):
            refusals += faults_by_match[0]
    if refusals:
        raise WorkflowError("\n".join(refusals))
