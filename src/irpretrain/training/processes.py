"""Starts the processes that share the steps of one training, with the launcher that torchrun is made of.

    if wants_processes(options.compute):
        return in_processes(pretrain, arguments, options.compute)

calls the same function with the same arguments in as many processes, where `training.ranks.here` tells them apart,
and returns what the first one returned. They live as long as this process, and fail together: with the error of the
one that began it.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from irpretrain.config.compute import SharedComputeConfig
from irpretrain.errors import TrainingError
from irpretrain.progress import say
from irpretrain.training.compute import choose_device, own_gpus
from irpretrain.training.rank_process import CALL, RESULT, ProcessCall, Report, read_reports
from irpretrain.training.ranks import here

BEGIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from irpretrain.training.rank_process import main
main(sys.argv[2], int(sys.argv[3]))
"""
GRACE_SECONDS = 10
"""From asking a process to end until it is killed."""
SHOWN_LINES = 20
"""Of what a process printed before it was gone without a word."""


def wants_processes(compute: SharedComputeConfig) -> bool:
    """Whether a training has to be started in several processes, and this is not one of them."""
    return compute.process_count > 1 and here().count == 1


def in_processes(
    function: Callable[..., Any], arguments: dict[str, Any], compute: SharedComputeConfig
) -> Any:
    """Return what the first of `compute.process_count` processes returns, each of which calls `function`.

    Args:
        function: of a module; every process imports it.
        arguments: by name; they are pickled.
        compute: how many processes, and where they compute. GPUs are this process's, which hands each its own.

    Raises:
        TrainingError: a process was killed, or ended without a word.
        Exception: whatever the first process to fail raised; its traceback is a note of it.
    """
    on_gpu = choose_device(compute).type == "cuda"
    count = compute.process_count
    call = ProcessCall(function, arguments, own_gpus(compute)[:count] if on_gpu else None)
    with tempfile.TemporaryDirectory(prefix="irpretrain-processes-") as name:
        folder = Path(name)
        (folder / CALL).write_bytes(pickle.dumps(call))
        ended_by = _launch(folder, count)
        result = folder / RESULT
        if ended_by is None:
            return pickle.loads(result.read_bytes())
    # Only now that nothing is left behind: by default this ends the process.
    signal.raise_signal(ended_by)
    raise TrainingError(f"ended by signal {ended_by}")


def _launch(folder: Path, count: int) -> signal.Signals | None:
    """Run the processes to their end; return the signal that this process got meanwhile, if it got one."""
    # Imported here: it takes a while, and most trainings have one process.
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    first_alone = {rank: Std.ALL if rank == 0 else Std.NONE for rank in range(count)}
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=count,
        run_id=uuid.uuid4().hex,
        role="",
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        local_addr="127.0.0.1",  # machines of clusters often do not know their own names
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(str(folder), redirects=Std.ALL, tee=first_alone),
        log_line_prefix_template="${role_name}",  # empty: the lines read as those of one process
        shutdown_timeout=GRACE_SECONDS,
    )
    command = ("-c", BEGIN, json.dumps(sys.path), str(folder), str(os.getpid()))
    with _signals_kept(), _quiet():
        try:
            elastic_launch(config, sys.executable)(*command)
        except SignalException as error:
            return error.sigval
        except ChildFailedError as error:
            statuses = {rank: failure.exitcode for rank, failure in error.failures.items()}
            failure = _cause(statuses, read_reports(folder), folder, count)
        else:
            return None
    raise failure


def _cause(
    statuses: Mapping[int, int], reports: Mapping[int, Report], folder: Path, count: int
) -> BaseException:
    """Return the error that began it: one that was reported, or else that a process was killed.

    Args:
        statuses: how processes ended, as `subprocess` says it.
        reports: of those that could still say why, the earliest first.
        folder: where their output is.
        count: of all processes.
    """
    for report in reports.values():
        if not report.lost_another:
            return report.error()
    # Processes that are left over are ended with SIGTERM.
    killed = {rank: -status for rank, status in statuses.items() if status < 0}
    rank = next(
        (rank for rank, number in killed.items() if number != signal.SIGTERM), min(killed, default=None)
    )
    if rank is not None:
        number = signal.Signals(killed[rank])
        memory = " The system does so when memory runs out." if number == signal.SIGKILL else ""
        failure = TrainingError(
            f"process {rank + 1} of {count} was ended by {number.name}, and the others with it.{memory} Run the same "
            "command again: training goes on from the last checkpoint."
        )
    else:
        rank = next((rank for rank in statuses if rank not in reports), min(statuses))
        failure = TrainingError(f"process {rank + 1} of {count} ended with status {statuses[rank]}")
    if last := _last_lines(folder, rank):
        say(last)
    return failure


def _last_lines(folder: Path, rank: int) -> str:
    """What a process other than the first, whose lines were shown, printed last."""
    outputs = (
        [] if rank == 0 else [path.read_text(errors="replace") for path in folder.rglob(f"{rank}/stderr.log")]
    )
    return "\n".join("".join(outputs).splitlines()[-SHOWN_LINES:])


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Put back what the launcher changes: it handles signals until the process ends."""
    before = {number: signal.getsignal(number) for number in (1, 2, 3, 15)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the launcher's log away: what it reports of failed processes is told as one error."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
