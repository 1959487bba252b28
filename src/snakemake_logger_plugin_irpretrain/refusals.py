"""The message for the user in an exception that ends Snakemake or one of its jobs."""

import errno
import os
import signal
import subprocess
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from snakemake.exceptions import (
    ApiError,
    CliException,
    InputFunctionException,
    LockException,
    RuleException,
    WorkflowError,
)

from irpretrain.config.arguments import check_configuration_files, configuration_files
from irpretrain.foundation.errors import ConfigError, IRPretrainError, causes, full_disk
from irpretrain.workflow.live_runs import live_processes

# Functions of Snakemake that read configuration files, and the words after --configfile and --config.
READERS = {"load_configfile", "_load_configfile", "parse_config"}
TARGETS_FIRST = (
    "  --configfile and --config take all words up to the next option: targets stand before them, as in\n"
    "  `snakemake deepct --configfile FILE`."
)
# Bytes below which a disk counts as full: the next files of Snakemake would not fit.
LEAST_ROOM = 1 << 16
SILENT = "stopped without a message"  # of a job that left none


def job_ending(error: BaseException) -> str:
    """Return how the process of a job ended, "exit status 1" or "Killed"; empty where an error is of no job."""
    for cause in causes(error) if isinstance(error, RuleException) else ():
        if isinstance(cause, subprocess.CalledProcessError):
            status = cause.returncode
            return (
                f"exit status {status}" if status >= 0 else signal.strsignal(-status) or f"signal {-status}"
            )
    return ""


def refusal(error: BaseException, arguments: Sequence[str] = ()) -> str:
    """Return the message of an exception that Snakemake logs: without class, place and traceback.

    Args:
        arguments: Snakemake's, which name the overlays; Snakemake says neither file nor line of a fault in one.
    """
    for cause in causes(error):
        if isinstance(cause, IRPretrainError):
            return str(cause)
    if message := full_disk(error, [os.getcwd()]):
        return message
    if isinstance(error, LockException):
        return _lock(Path.cwd())
    if isinstance(error, InputFunctionException) and isinstance(error.__context__, KeyError):
        return (
            f"the configuration does not name {error.__context__}, which rule {error.rule.name} needs.\n"
            "  Mend the name of the file, or add what it names to the configuration."
        )
    places = [place for cause in causes(error) for place in traceback.extract_tb(cause.__traceback__)]
    if isinstance(error, OSError) and any(Path(place.filename).name == "sourcecache.py" for place in places):
        # Snakemake makes a folder below HOME before it reads anything.
        return (
            f"Snakemake cannot write its cache: {error.strerror}: {error.filename!r}\n"
            "  Set the environment variable XDG_CACHE_HOME to a folder that you may write to."
        )
    if not any(place.name in READERS for place in places):
        return _message(error)
    # The Snakefile's own is read in the folder of the run, where paths of overlays no longer begin.
    defaults = [Path(place.filename).with_name("config.yaml") for place in places]
    try:
        check_configuration_files(
            [*map(str, filter(Path.is_file, defaults)), *configuration_files(arguments)]
        )
    except ConfigError as fault:
        return str(fault)
    return f"{_message(error)}\n{TARGETS_FIRST}"


def disk_message(errors: Iterable[BaseException], messages: Iterable[str]) -> str:
    """Return the message on a disk where Snakemake, or a job before it had a log, could not write; else nothing.

    Args:
        errors: what Snakemake logs.
        messages: what the user would read.
    """
    room = os.statvfs(os.curdir)
    if room.f_bavail * room.f_frsize < LEAST_ROOM and any(SILENT in message for message in messages):
        errors = [*errors, OSError(errno.ENOSPC, "")]
    return next(filter(None, (full_disk(error, [os.getcwd()]) for error in errors)), "")


def _message(error: BaseException) -> str:
    if isinstance(error, ApiError | CliException):
        return f"Error: {error}"
    if type(error) is RuleException and error.__context__ is not None:  # of the job's code
        error = error.__context__
    if isinstance(error, WorkflowError | RuleException):
        return str(error)
    return traceback.format_exception_only(error)[-1].strip()


RESUME = "go on from there: `make resume` in place of `make run`; without make, call it once with --unlock."


def _lock(folder: Path) -> str:
    numbers = " ".join(map(str, live_processes(folder)))
    if numbers:
        return (
            f"{folder}: another run works in this folder, process {numbers}.\n"
            f"  Wait until it ends. Or end it (kill {numbers}), and {RESUME}"
        )
    return (
        f"{folder}: a run was killed in this folder, or one of another machine works in it.\n"
        f"  If none is alive, {RESUME}"
    )
