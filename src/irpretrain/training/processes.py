"""Starting and running the processes that share one training.

    if wants_processes(options.compute):
        return in_processes(pretrain, arguments, options.compute)

calls the same function with the same arguments in as many processes, where `training.ranks.current_ranks`
distinguishes them, and returns what the first one returned. They live as long as this process, and fail together:
with the error of the one that began it.
"""

import ctypes
import json
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen, TimeoutExpired
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any, cast

from torch.distributed import TCPStore

from irpretrain.config.training import SharedComputeConfig
from irpretrain.foundation.code_digest import add_earlier_code, begin_record, code_record
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.progress import print_line
from irpretrain.training.compute import choose_device, take_gpus
from irpretrain.training.ranks import LostProcessError, Ranks, current_ranks, taking_part

# Of Linux's prctl: the signal that a process gets when the one that started it has ended.
PR_SET_PDEATHSIG = 1


def make_portable(error: BaseException) -> tuple[BaseException, str]:
    """Return an exception that another process can read, and its traceback."""
    traceback_text = "".join(traceback.format_exception(error))
    try:
        # Some exceptions only fail when they are read.
        return pickle.loads(pickle.dumps(error)), traceback_text
    except Exception:
        return TrainingError(f"a process failed: {traceback_text.splitlines()[-1]}"), traceback_text


def main(parent_pid: int, report_descriptor: int) -> None:
    """Make the call on stdin; write its result, or else its error, to a file; process `parent_pid` has started this."""
    end_with_parent(parent_pid)
    begin_record()
    if Path("/sys/class/net/lo").exists():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all are on this machine
    with open(report_descriptor, "wb") as report_file:
        try:
            function, arguments, ranks, port = pickle.load(sys.stdin.buffer)
            with taking_part(ranks, port):
                result = function(**arguments)
            pickle.dump((None if ranks.rank else result, code_record()), report_file)
        except BaseException as error:
            pickle.dump(make_portable(error), report_file)
            report_file.flush()
            # At once: a sum that the others still wait for, or never answered, could hold up an orderly end.
            os._exit(1)


def end_with_parent(parent_pid: int) -> None:
    """Let the system kill this process when its parent ends, however it does."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(1)


CHILD_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from irpretrain.foundation.garbage import raise_gc_threshold
raise_gc_threshold()  # before torch is imported
from irpretrain.training.processes import main
main(int(sys.argv[2]), int(sys.argv[3]))
"""

# From the first failure until the processes are killed that did not notice it.
GRACE_SECONDS = 10

POLL_SECONDS = 0.1

# Lines of a process that ended without a report.
MAX_PRINTED_LINES = 20


def wants_processes(compute: SharedComputeConfig) -> bool:
    """Whether a training has to be started in several processes, and this is not one of them."""
    return compute.process_count > 1 and current_ranks().count == 1


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
    process_count = compute.process_count
    on_gpu = choose_device(compute).type == "cuda"
    gpus = take_gpus(compute)[:process_count] if on_gpu else [None] * process_count
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    with ExitStack() as resources:
        # Files without a name: nothing is left behind, however this process ends.
        files = [[resources.enter_context(TemporaryFile()) for _ in range(3)] for _ in range(process_count)]
        processes = []
        for rank, (call_file, report_file, output_file) in enumerate(files):
            pickle.dump((function, arguments, Ranks(rank, process_count, gpus[rank]), store.port), call_file)
            call_file.seek(0)
            report_descriptor = report_file.fileno()
            program_arguments = [json.dumps(sys.path), str(os.getpid()), str(report_descriptor)]
            process = Popen(
                [sys.executable, "-c", CHILD_PROGRAM, *program_arguments],
                stdin=call_file,
                stdout=output_file if rank else PIPE,
                stderr=STDOUT,
                pass_fds=[report_descriptor],
                text=True,
                errors="replace",
            )
            resources.callback(process.kill)
            processes.append(process)
        # Lines of the first process read as those of this one, and reach its log.
        relay_thread = Thread(target=_relay, args=[processes[0].stdout], daemon=True)
        relay_thread.start()
        while not any(process.poll() for process in processes) and None in [p.returncode for p in processes]:
            time.sleep(POLL_SECONDS)
        statuses = _wait_for_all(processes)
        relay_thread.join(GRACE_SECONDS)
        reports = [_read_report(report_file) for _, report_file, _ in files]
        if any(statuses):
            raise _first_error(statuses, reports, [output_file for _, _, output_file in files])
    result, code = reports[0]
    add_earlier_code(code)
    return result


def _relay(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stderr.write(line)


def _wait_for_all(processes: Sequence[Popen[str]]) -> list[int | None]:
    """Return the status of each process, None of those that have to be killed after `GRACE_SECONDS`."""
    deadline = time.monotonic() + GRACE_SECONDS
    for process in processes:
        with suppress(TimeoutExpired):
            process.wait(max(deadline - time.monotonic(), 0))
    statuses = [process.poll() for process in processes]
    for process in processes:
        process.kill()
    return statuses


def _read_report(report_file: IO[bytes]) -> Any:
    """Return what a process has written; None where it was killed before."""
    report_file.seek(0)
    with suppress(EOFError, pickle.UnpicklingError):
        return pickle.load(report_file)
    return None


def _first_error(
    statuses: Sequence[int | None], reports: Sequence[Any], outputs: Sequence[IO[bytes]]
) -> BaseException:
    """Return the first error: a reported one, or else that a process was killed.

    Args:
        statuses: exit status by rank, as `subprocess` has it.
        reports: by rank; a result with its code, what `make_portable` made of an error, or None of a killed process.
        outputs: by rank; the first one's is empty, since its lines were displayed.
    """
    failed_statuses = {rank: status for rank, status in enumerate(statuses) if status}
    errors = {
        rank: report for rank, report in enumerate(reports) if report and isinstance(report[0], BaseException)
    }
    for error, traceback_text in errors.values():
        if not isinstance(error, LostProcessError):
            error.add_note(traceback_text)
            return cast(BaseException, error)
    # Processes that report an error have lost another one; killed ones cannot report, or had their result already.
    rank = min(failed_statuses, key=lambda rank: (failed_statuses[rank] > 0, rank in errors))
    status = failed_statuses[rank]
    process_name = f"process {rank + 1} of {len(statuses)}"
    outputs[rank].seek(0)
    if last_lines := outputs[rank].read().decode(errors="replace").splitlines()[-MAX_PRINTED_LINES:]:
        print_line("\n".join(last_lines))
    if status > 0:
        return TrainingError(f"{process_name} ended with status {status}")
    killing_signal = signal.Signals(-status)
    memory_note = " The system does so when memory runs out." if killing_signal == signal.SIGKILL else ""
    return TrainingError(
        f"{process_name} was ended by {killing_signal.name}, and the others with it.{memory_note} Run the same "
        "command again: training goes on from the last checkpoint."
    )
