"""The message for the user in an exception that ends Snakemake or one of its jobs."""

import errno
import os
import subprocess
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from snakemake.exceptions import (
    ApiError,
    CliException,
    InputFunctionException,
    LockException,
    MissingInputException,
    RuleException,
    WorkflowError,
)

from irpretrain.config.arguments import check_configuration_files, configuration_files
from irpretrain.foundation.errors import REASONS, ConfigError, IRPretrainError, causes, full_disk
from irpretrain.workflow.live_runs import live_processes

# Functions of Snakemake that read the words after --configfile and --config.
READERS = {"load_configfile", "_load_configfile", "parse_config"}
TARGETS_FIRST = (
    "  --configfile and --config take all words up to the next option: targets stand before them, as in\n"
    "  `snakemake deepct --configfile FILE`."
)
# Bytes below which a disk counts as full: the next files of Snakemake would not fit.
LEAST_ROOM = 1 << 16
SILENT = "stopped without a message"  # of a job that left none


def job_ending(error: BaseException) -> str:
    """Return how the process of a job ended, "returned non-zero exit status 1"; empty where an error is of no job."""
    errors = causes(error) if isinstance(error, RuleException) else ()
    endings = (str(cause) for cause in errors if isinstance(cause, subprocess.CalledProcessError))
    return next(endings, "").rpartition("' ")[2].removesuffix(".")


def refusal(error: BaseException, arguments: Sequence[str] = ()) -> str:
    """Return the message of an exception that Snakemake logs: without class, place and traceback.

    Args:
        arguments: Snakemake's, which name the overlays; Snakemake says neither file nor line of a fault in one.
    """
    for cause in causes(error):
        if isinstance(cause, IRPretrainError):
            return str(cause)
    if message := _full_disk(error):
        return message
    frames = [frame for cause in causes(error) for frame in traceback.extract_tb(cause.__traceback__)]
    match error, error.__context__:
        case MissingInputException(), _:
            files = str(error).partition("affected files:\n")[2].split("\n")
            more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
            return (
                f"{files[0].strip()}{more}: there is no such file, and no rule of this configuration makes it.\n"
                f"  Rule {error.rule.name} needs it."
            )
        case LockException(), _:
            return _lock(Path(str(error).partition("following directory:\n")[2].partition("\n")[0]))
        case InputFunctionException(), KeyError(args=[name]):
            wildcards = str(error).partition("Wildcards:\n")[2].partition("\nTraceback:")[0]
            return (
                f"the configuration does not name {name!r}, so {error.rule.name} makes no file for "
                f"{', '.join(wildcards.split())}.\n"
                "  Mend the name of the file, or add what it names to the configuration."
            )
        case OSError(), _ if any(Path(frame.filename).name == "sourcecache.py" for frame in frames):
            # Snakemake makes a folder below HOME before it reads anything.
            return (
                f"Snakemake cannot write its cache: {str(error).partition('] ')[2]}\n"
                "  Set the environment variable XDG_CACHE_HOME to a folder that you may write to."
            )
    if not any(frame.name in READERS for frame in frames):
        return _message(error)
    snakefiles = [Path(frame.filename) for frame in frames if Path(frame.filename).name == "Snakefile"]
    default_files = [str(snakefile.with_name("config.yaml")) for snakefile in snakefiles]
    try:
        check_configuration_files([*configuration_files(arguments), *default_files])
    except ConfigError as fault:
        return str(fault)
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: there is no such configuration file.\n{TARGETS_FIRST}"
    return f"{_message(error)}\n{TARGETS_FIRST}"


def disk_message(errors: Iterable[BaseException], messages: Iterable[str]) -> str:
    """Return the message on a disk where Snakemake, or a job before it had a log, could not write; else nothing.

    Args:
        errors: what Snakemake logs.
        messages: what the user would read.
    """
    if text := next(filter(None, map(_full_disk, errors)), ""):
        return text
    room = os.statvfs(os.curdir)
    is_full = room.f_bavail * room.f_frsize < LEAST_ROOM
    if is_full and any(SILENT in message for message in messages):
        return _full_disk(OSError(errno.ENOSPC, ""))
    return ""


def _full_disk(error: BaseException) -> str:
    cause = next((cause for cause in causes(error) if getattr(cause, "errno", None) in REASONS), error)
    message = full_disk(cause, [os.getcwd()]) or ""
    if message.startswith(tuple(REASONS.values())):
        return f"{getattr(cause, 'filename', None) or os.getcwd()}: {message}"
    return message


def _message(error: BaseException) -> str:
    if isinstance(error, ApiError | CliException):
        return f"Error: {error}"
    if type(error) is RuleException and error.__context__ is not None:  # of the job's code
        error = error.__context__
    if isinstance(error, WorkflowError | RuleException):
        return str(error)
    return traceback.format_exception_only(error)[-1].strip()


def _lock(folder: Path) -> str:
    numbers = " ".join(map(str, live_processes(folder))) if folder.is_dir() else ""
    if numbers:
        return (
            f"{folder}: another run works in this folder, process {numbers}.\n"
            f"  Wait until it ends. Or end it (kill {numbers}); the same command then goes on from there."
        )
    return (
        f"{folder}: a run was killed in this folder, or one of another machine works in it.\n"
        "  If none is alive, go on from there: the same command with `make resume` for `make run`; without make, call\n"
        "  it once with --unlock."
    )
