"""One of the processes that share a training: what it is given, and how it says what came of it."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.errors import TrainingError
from irpretrain.training.ranks import LostProcessError, Ranks, taking_part

CALL, RESULT, REPORTS = "call.pickle", "result.pickle", "report-*.pickle"
PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when the one that started it has ended."""


@dataclass(frozen=True)
class ProcessCall:
    """What all processes call.

    Attributes:
        function: called in each of them.
        arguments: by name.
        gpus: their GPUs, in the order of their ranks, as numbers among the visible ones; None for the processor.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    gpus: list[int] | None


@dataclass(frozen=True)
class Report:
    """Why a process failed.

    Attributes:
        pickled: the exception; None where it cannot be pickled.
        text: its traceback.
        lost_another: it failed because another had ended.
    """

    pickled: bytes | None
    text: str
    lost_another: bool

    @classmethod
    def of(cls, error: BaseException) -> Report:
        """Return the report of an exception that is being handled."""
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
    """Return the reports of processes that failed, by rank, the earliest first."""
    paths = sorted(folder.glob(REPORTS), key=lambda path: path.stat().st_mtime_ns)
    return {int(path.stem.rpartition("-")[2]): pickle.loads(path.read_bytes()) for path in paths}


def main(folder: str, parent: int) -> None:
    """Do the work that lies in `folder`, as the process that the environment says; `parent` has started it."""
    _end_with(parent)
    rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if Path("/sys/class/net/lo").exists():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all are on this machine
    try:
        call: ProcessCall = pickle.loads((Path(folder) / CALL).read_bytes())
        with taking_part(Ranks(rank, count, call.gpus[rank] if call.gpus else None)):
            result = call.function(**call.arguments)
        if rank == 0:
            (Path(folder) / RESULT).write_bytes(pickle.dumps(result))
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
