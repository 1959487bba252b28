"""What a dry run does about data that are not there. Included before the configuration is read."""

import atexit
import tempfile

from snakemake.settings.types import ExecMode, Quietness


def is_dry_run():
    """Whether this process only plans."""
    return workflow.exec_mode == ExecMode.DEFAULT and workflow.output_settings.dryrun


def folder_of_this_process():
    """A folder that goes when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="irpretrain-plan-")
    atexit.register(folder.cleanup)
    return folder.name
