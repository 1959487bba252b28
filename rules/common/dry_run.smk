"""What Snakemake was asked for, before it says so itself. Included before the configuration is read."""

import atexit
import sys
import tempfile

from snakemake.settings.types import ExecMode, Quietness


def command_line():
    """The options and targets that Snakemake was called with; None in the process of a job."""
    if workflow.exec_mode != ExecMode.DEFAULT:
        return None
    from snakemake.cli import get_argument_parser

    return get_argument_parser().parse_known_args(sys.argv[1:])[0]


def is_dry_run():
    """Whether this process only plans."""
    return workflow.exec_mode == ExecMode.DEFAULT and workflow.output_settings.dryrun


def asks_for_data():
    """Whether this process plans or runs anything but the list of data sets."""
    given = command_line()
    return given is not None and set(given.targets) != {"datasets"}


def folder_of_this_process():
    """A folder that goes when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="irpretrain-plan-")
    atexit.register(folder.cleanup)
    return folder.name
