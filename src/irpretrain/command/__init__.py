"""The command `irpretrain`: what needs no workflow, from files to files, in pipes.

An output file appears whole or not at all. Bad input is one message, with exit code 2.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from irpretrain.command.collections import COLLECTION_COMMANDS
from irpretrain.command.files import Session
from irpretrain.command.models import MODEL_COMMANDS
from irpretrain.command.runs import RUN_COMMANDS
from irpretrain.foundation import __version__
from irpretrain.foundation.closed_streams import reserve_closed_streams
from irpretrain.foundation.errors import IRPretrainError, cli_messages, full_disk, naming_extras
from irpretrain.foundation.garbage import raise_gc_threshold
from irpretrain.foundation.progress import print_line

NAME = "irpretrain"
# Variable by which a shell asks for completions, as click names it.
COMPLETION = "_IRPRETRAIN_COMPLETE"
# Exit code, as click has it.
BAD_INPUT_STATUS = 2

commands = click.Group(
    NAME,
    {str(command.name): command for command in (*COLLECTION_COMMANDS, *MODEL_COMMANDS, *RUN_COMMANDS)},
    help="Methods of five papers on your own files.\n\n"
    "A file named - is standard input or standard output; outputs that end in .gz are packed. "
    f'Completion in bash: eval "$({COMPLETION}=bash_source {NAME})"; zsh_source and fish_source in other shells.',
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s")(commands)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    if instruction := os.environ.get(COMPLETION):
        return shell_complete(commands, {}, NAME, COMPLETION, instruction)
    reserve_closed_streams()
    status = _run(arguments)
    if status:
        _drop_unwritten()
    return status


def _run(arguments: Sequence[str] | None) -> int:
    raise_gc_threshold()  # else a seventh of the first call's time, which numba's compiler takes
    argument_list = list(sys.argv[1:] if arguments is None else arguments)
    session = Session()
    if threading.current_thread() is threading.main_thread():  # elsewhere Python sets no handler
        # So that temporary files are removed; the status is that of shells.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with cli_messages(), naming_extras():
            with commands.make_context(NAME, argument_list, obj=session) as context:
                commands.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_INPUT_STATUS
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else NAME
        print_line(f"ERROR: {error.format_message()}\n  {path} --help lists what can be given.")
        return BAD_INPUT_STATUS
    except IRPretrainError as error:
        print_line(f"ERROR: {session.renamed(error)}")
        return BAD_INPUT_STATUS
    except BrokenPipeError:  # who reads standard output has enough
        return 128 + signal.SIGPIPE
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else error
        print_line(f"ERROR: {full_disk(error, [*session.outputs, *session.folders]) or reason}")
        return BAD_INPUT_STATUS
    return 0


def _drop_unwritten() -> None:
    """Drop what standard output cannot take: Python flushes it once more at its end, where a fault makes status 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
