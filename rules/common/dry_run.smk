"""What a dry run does about data that are not there. Included before the configuration is read."""

import atexit
import sys
import tempfile

from snakemake.settings.types import ExecMode, Quietness


def is_dry_run():
    """Whether this process only plans; the executor, which knows it, is not there yet."""
    if workflow.exec_mode != ExecMode.DEFAULT:
        return False
    from snakemake.cli import parse_args

    return parse_args(sys.argv[1:])[1].dryrun


def folder_of_this_process():
    """A folder that goes when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="irpretrain-plan-")
    atexit.register(folder.cleanup)
    return folder.name
