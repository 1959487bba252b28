"""What Snakemake says before a run can start, as one message for the user."""

import errno
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

SNAKEFILE = re.compile(r'^\w+ in file "(?P<file>[^"]*)", line \d+:\n')
HEADER = re.compile(r'^\w+(?: in rule \w+)?(?: in file "[^"]*", line \d+)?:\n')
TRACEBACK = re.compile(r'\n(?:Traceback:\n)?  File "[^"]*", line \d+, in .*\Z', re.DOTALL)
NOT_NAMED = re.compile(
    r"in rule (?P<rule>\w+) in file .*?\nError:\n  KeyError: '?(?P<name>.*?)'?\n"
    r"Wildcards:\n(?P<wildcards>(?:  \w+=[^\n]*\n?)*)",
    re.DOTALL,
)
OURS = re.compile(
    r"^InputFunctionException in .*?\nError:\n  (?:Config|Input|Integrity|Setup)Error: (?P<message>.*?)\nWildcards:\n",
    re.DOTALL,
)
MISSING_INPUT = re.compile(
    r"Missing input files for rule (?P<rule>\w+):.*?affected files:\n(?P<files>(?: {8}.*\n?)+)", re.DOTALL
)
LOCKED = re.compile(r"Directory cannot be locked.*\n(?P<folder>/.*)")
# Snakemake makes a folder below HOME before it reads anything.
NO_CACHE = re.compile(r"\bsourcecache\.py\".*\n\w*Error: \[Errno \d+\] (?P<reason>.*)\s*\Z", re.DOTALL)
# Of a full disk, a full quota, and `ulimit -f`.
NOT_WRITTEN = re.compile(r"\[Errno (?P<number>28|122|27)\] (?P<reason>[^:\n']*)(?:: '(?P<file>[^'\n]*)')?")
NO_TEMPORARY_FOLDER = "No usable temporary directory found"
SILENT = "stopped without a message"  # of a job that left none
NO_CONFIGURATION = re.compile(r"FileNotFoundError: .*?: '(?P<file>.*)'\s*\Z")
# What Snakemake says of a word after --configfile or --config that is none.
NOT_READ = re.compile(
    r"in load_configfile\n|Config file (?:is not valid|must be given as) JSON|Config entries have to be"
)
TARGETS_FIRST = (
    "  --configfile and --config take all words up to the next option: targets stand before them, as in\n"
    "  `snakemake deepct --configfile FILE`."
)


def refusal(text: str, arguments: Sequence[str] = ()) -> str:
    """Return the message inside what Snakemake logs of an exception: without class, place and traceback.

    Args:
        arguments: Snakemake's, which name the overlays; Snakemake says neither file nor line of a fault in one.
    """
    if match := OURS.search(text):
        return match["message"]
    if match := NOT_WRITTEN.search(text):
        return _full_disk(match)
    if NO_TEMPORARY_FOLDER in text:
        from irpretrain.foundation.errors import full_disk

        return str(full_disk(FileNotFoundError(text), []))
    if match := MISSING_INPUT.search(text):
        files = [line.strip() for line in match["files"].splitlines() if line.strip()]
        others = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
        return (
            f"{files[0]}{others}: there is no such file, and no rule of this configuration makes it.\n"
            f"  Rule {match['rule']} needs it."
        )
    if match := LOCKED.search(text):
        return _lock(Path(match["folder"]))
    if match := NO_CACHE.search(text):
        return (
            f"Snakemake cannot write its cache: {match['reason'].strip()}\n"
            "  Set the environment variable XDG_CACHE_HOME to a folder that you may write to."
        )
    if match := NOT_NAMED.search(text):
        wildcards = ", ".join(match["wildcards"].split())
        return (
            f"the configuration does not name {match['name']!r}, so {match['rule']} makes no file for {wildcards}.\n"
            "  Mend the name of the file, or add what it names to the configuration."
        )
    if text.startswith("Traceback"):
        reported = text.strip().splitlines()[-1]
    else:
        reported = TRACEBACK.sub("", HEADER.sub("", text)).strip()
    if not NOT_READ.search(text):
        return reported
    if fault := _fault_of_configuration(text, arguments):
        return fault
    if match := NO_CONFIGURATION.search(text):
        reported = f"{match['file']}: there is no such configuration file."
    return f"{reported}\n{TARGETS_FIRST}"


# Bytes below which a disk counts as full: the next files of Snakemake would not fit.
LEAST_ROOM = 1 << 16


def full_disk_message(texts: Iterable[str], messages: Iterable[str]) -> str:
    """Return the message on a disk where Snakemake, or a job before it had a log, could not write; else nothing.

    Args:
        texts: what Snakemake logs of exceptions.
        messages: what the user would read.
    """
    for text in texts:
        if match := NOT_WRITTEN.search(text):
            return _full_disk(match)
    room = os.statvfs(os.curdir)
    if room.f_bavail * room.f_frsize >= LEAST_ROOM or not any(SILENT in message for message in messages):
        return ""
    return _full_disk(NOT_WRITTEN.search(f"[Errno {errno.ENOSPC}] "))


def _full_disk(match: re.Match[str] | None) -> str:
    from irpretrain.foundation.errors import full_disk

    assert match is not None
    named = match["file"] or os.getcwd()
    return f"{named}: {full_disk(OSError(int(match['number']), match['reason'], named), [])}"


def _lock(folder: Path) -> str:
    from irpretrain.workflow.live_runs import live_processes

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


def _fault_of_configuration(text: str, arguments: Sequence[str]) -> str:
    from irpretrain.config.arguments import check_configuration_files, configuration_files
    from irpretrain.foundation.errors import ConfigError

    match = SNAKEFILE.search(text)
    default = [str(Path(match["file"]).with_name("config.yaml"))] if match else []
    try:
        check_configuration_files([*configuration_files(arguments), *default])
    except ConfigError as error:
        return str(error)
    return ""
