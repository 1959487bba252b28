"""Snakemake for tests that call it often: each call is a fork of one process that has imported it already.

Importing Snakemake and what the Snakefile imports is more than half of what a dry run costs. A fork does all the rest
as `python -m snakemake` does: it reads the command line and the Snakefile, plans, starts jobs as processes, and ends.
A copy of the project has other modules, so it needs a process of its own.
"""

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMPORTED = (
    *("pandas", "nbformat", "smart_open", "snakemake.report", "snakemake.storage", "ir_measures"),
    *(
        "irpretrain.workflow.costs.estimate",
        "irpretrain.workflow.plan.preparation",
        "irpretrain.workflow.screen.closing",
    ),
    *("snakemake_logger_plugin_irpretrain.internals", "snakemake_logger_plugin_irpretrain.screens"),
)
"""What Snakemake and the Snakefile import as they go on."""


def run_snakemake(
    arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in the project's root, with nothing on its standard input."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "stdout"), Path(folder, "stderr")
        call = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "files": list(map(str, files)),
        }
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(call) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        printed = (path.read_text(encoding="utf-8") for path in files)
        return subprocess.CompletedProcess(list(arguments), status, *printed)


@cache
def _server() -> subprocess.Popen[str]:
    command = [sys.executable, __file__]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    """Fork for each line of the standard input, and print the exit status of the fork; in a fork, run Snakemake."""
    # As with `python -m`, modules come from the working directory first.
    sys.path[0] = str(ROOT)
    from snakemake.cli import get_argument_parser, main

    for module in IMPORTED:
        import_module(module)
    get_argument_parser()  # imports the plugins
    gc.freeze()  # else each fork would copy what it only looks at
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            call = json.loads(line)
            _replace_streams(call["files"])
            os.environ.clear()
            os.environ.update(call["environment"])
            sys.argv = ["snakemake", *call["arguments"]]
            main()
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _replace_streams(files: Sequence[str]) -> None:
    for number, path in enumerate((os.devnull, *files)):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)


if __name__ == "__main__":
    _serve()
