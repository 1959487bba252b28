"""Starting and running the processes that share one training."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import pickle
import signal
import sys
import tempfile
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.config.training import SharedComputeConfig
from irpretrain.errors import TrainingError
from irpretrain.foundation.code_digest import begin_record, code_record, rest_on
from irpretrain.foundation.progress import print_line
from irpretrain.training.compute import choose_device, own_gpus
from irpretrain.training.ranks import LostProcessError, Ranks, here, taking_part

# One of the processes that share a training: what it receives, and how it reports the result.

CALL, RESULT, REPORTS = "call.pickle", "result.pickle", "report-*.pickle"

# Of Linux's prctl: the signal that a process gets when the one that started it has ended.
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class ProcessCall:
    function: Callable[..., Any]  # called in each of them
    arguments: dict[str, Any]  # by name
    # Their GPUs, in the order of their ranks, as numbers among the visible ones; None for the processor.
    gpus: list[int] | None


@dataclass(frozen=True)
class Report:
    pickled: bytes | None  # the exception; None if it cannot be pickled
    text: str  # its traceback
    lost_another: bool  # it failed because another had ended

    @classmethod
    def of(cls, error: BaseException) -> Report:
        pickled = None
        with suppress(Exception):
            pickled = pickle.dumps(error)
            pickle.loads(pickled)  # some exceptions only fail here
        text = "".join(traceback.format_exception(error))
        return cls(pickled, text, isinstance(error, LostProcessError))

    def error(self) -> BaseException:
        """Return the exception, with its traceback as a note."""
        error: BaseException
        try:
            error = pickle.loads(self.pickled or b"")
        except Exception:
            error = TrainingError(f"a process failed: {self.text.splitlines()[-1]}")
        error.add_note(self.text)
        return error


def read_reports(folder: Path) -> dict[int, Report]:
    paths = sorted(folder.glob(REPORTS), key=lambda path: path.stat().st_mtime_ns)
    return {int(path.stem.rpartition("-")[2]): pickle.loads(path.read_bytes()) for path in paths}


def main(folder: str, parent: int) -> None:
    """Do the work in `folder`, with the rank of the environment; `parent` has started this process."""
    _end_with(parent)
    begin_record()
    rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if Path("/sys/class/net/lo").exists():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all are on this machine
    try:
        call: ProcessCall = pickle.loads((Path(folder) / CALL).read_bytes())
        with taking_part(Ranks(rank, count, call.gpus[rank] if call.gpus else None)):
            result = call.function(**call.arguments)
        if rank == 0:
            (Path(folder) / RESULT).write_bytes(pickle.dumps((result, code_record())))
    except BaseException as error:
        path = Path(folder) / REPORTS.replace("*", str(rank))
        path.with_suffix(".part").write_bytes(pickle.dumps(Report.of(error)))
        path.with_suffix(".part").rename(path)
        # At once: a sum that the others still wait for, or never answered, could hold up an orderly end.
        os._exit(1)


def _end_with(parent: int) -> None:
    """Let the system kill this process when its parent ends, however it does."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


# Starts the processes that share the steps of one training, with the launcher that torchrun is made of.
#
#     if wants_processes(options.compute):
#         return in_processes(pretrain, arguments, options.compute)
#
# calls the same function with the same arguments in as many processes, where `training.ranks.here` distinguishes them,
# and returns what the first one returned. They live as long as this process, and fail together: with the error of the
# one that began it.


BEGIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from irpretrain.training.processes import main
main(sys.argv[2], int(sys.argv[3]))
"""

# From asking a process to end until it is killed.
GRACE_SECONDS = 10

# Lines of a process that ended without a report.
DISPLAYED_LINES = 20


def wants_processes(compute: SharedComputeConfig) -> bool:
    """Whether a training has to be started in several processes, and this is not one of them."""
    return compute.process_count > 1 and here().count == 1


def in_processes(
    function: Callable[..., Any], arguments: dict[str, Any], compute: SharedComputeConfig
) -> Any:
    """Call `function` in each of `compute.process_count` processes; return the result of the first.

    Args:
        function: of a module; every process imports it.
        arguments: by name; they are pickled.
        compute: number of processes and their device. GPUs are taken by this process, which hands each its own.

    Raises:
        TrainingError: a process was killed, or ended without a report.
        Exception: of the first process to fail, with its traceback as a note.
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
            returned, code = pickle.loads(result.read_bytes())
            rest_on(code)
            return returned
    # Only now that nothing is left behind: by default this ends the process.
    signal.raise_signal(ended_by)
    raise TrainingError(f"ended by signal {ended_by}")


def _launch(folder: Path, count: int) -> signal.Signals | None:
    """Run the processes to their end; return the signal that this process received meanwhile, if any."""
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
    with _signals_restored(), _quiet():
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
    """Return the first error: a reported one, or else that a process was killed.

    Args:
        statuses: exit status by rank, as `subprocess` has it.
        reports: of processes that could still report, the earliest first.
        folder: where their output is.
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
        print_line(last)
    return failure


def _last_lines(folder: Path, rank: int) -> str:
    """The last output of a process other than the first, whose lines were displayed."""
    outputs = (
        [] if rank == 0 else [path.read_text(errors="replace") for path in folder.rglob(f"{rank}/stderr.log")]
    )
    return "\n".join("".join(outputs).splitlines()[-DISPLAYED_LINES:])


@contextmanager
def _signals_restored() -> Iterator[None]:
    """Restore what the launcher changes: it handles signals until the process ends."""
    before = {number: signal.getsignal(number) for number in (1, 2, 3, 15)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the launcher's log: failed processes are reported as one error."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
