"""Work of the host in other processes while a GPU computes: batches of later steps, results of earlier ones."""

import ctypes
import multiprocessing
import operator
import os
import pickle
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, Generic, TypeVar

from irpretrain.foundation.errors import TrainingError
from irpretrain.training.processes import end_with_parent, make_portable

Context = TypeVar("Context")
Item = TypeVar("Item")
Result = TypeVar("Result")

# Processes that read batches. Besides one call for each process, SPARE calls are begun before they are asked for.
READER_PROCESSES, SPARE_CALLS = 2, 2

# In the processes that call functions: the value they are called with, and whether nobody asks for results any more.
_contexts: list[Any] = []
_abandoned: list[Any] = []


class Helpers(Generic[Context]):
    """Calls functions with a value in other processes or, if there are none, at once in this one."""

    def __init__(self, context: Context, pool: ProcessPoolExecutor | None = None, processes: int = 0) -> None:
        self._context, self._pool = context, pool
        self._calls_ahead = processes + SPARE_CALLS if pool else 0

    def begin(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Begin `function(context, *arguments)`; in another process all but the value is pickled."""
        if self._pool is None:
            future = Future[Result]()
            future.set_result(function(self._context, *arguments))
            return future
        with warnings.catch_warnings():
            # Python warns of a fork beside threads, which could hold locks: these processes take none of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._pool.submit(_call, function, *arguments)

    def each(self, function: Callable[[Context, Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield `function(context, item)` of each item, in order; other processes are ahead."""
        remaining = iter(items)
        pending = deque(self.begin(function, item) for item in islice(remaining, self._calls_ahead))
        for item in remaining:
            pending.append(self.begin(function, item))
            yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


@contextmanager
def helping(context: Context, processes: int) -> Iterator[Helpers[Context]]:
    """Yield helpers in so many processes; 0: in this one.

    What a function returns must depend on its arguments alone, and what it raises is raised where its result is asked
    for. It must not touch a GPU.

    Raises:
        TrainingError: a process was killed.
    """
    if not processes:
        yield Helpers(context)
        return
    # Forked: the processes share this one's tables, and start in a moment. They end with it, however it ends.
    fork = multiprocessing.get_context("fork")
    abandoned = fork.RawValue(ctypes.c_bool, False)  # without a lock, which a killed process could hold
    pool = ProcessPoolExecutor(
        processes, fork, initializer=_start_process, initargs=(context, os.getpid(), abandoned)
    )
    try:
        yield Helpers(context, pool, processes)
    except BrokenProcessPool:
        raise TrainingError(
            "a process that reads batches was killed; the system does so when memory runs out. Run the same command "
            "again; a job of the workflow goes on from its last checkpoint."
        ) from None
    finally:
        abandoned.value = True  # the calls that shutdown cannot cancel, as they are on their way to a process
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def reading_ahead(
    read: Callable[[int], Result], steps: range, in_other_processes: bool
) -> Iterator[Iterator[Result]]:
    """Yield an iterator over `read(step)` of all steps; `in_other_processes`: in other processes, see `helping`."""
    with helping(read, min(READER_PROCESSES, len(steps)) if in_other_processes else 0) as helpers:
        yield helpers.each(operator.call, steps)


class Parcel(Generic[Item]):
    """A value on its way from one process to another, through a third that does not open it."""

    def __init__(self, value: Item | None, pickled: bytes | None = None) -> None:
        self._value, self._pickled = value, pickled

    def open(self) -> Item:
        value: Any = self._value if self._pickled is None else pickle.loads(self._pickled)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, (None, self._pickled or pickle.dumps(self._value))


def _start_process(context: Any, parent_pid: int, abandoned: Any) -> None:
    end_with_parent(parent_pid)
    # Ctrl-C reaches these processes too; the one that they help answers it, and has handlers of its own.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for ending_signal in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending_signal, signal.SIG_DFL)
    # The tokenizer's threads were not forked.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _contexts[:], _abandoned[:] = [context], [abandoned]


def _call(function: Callable[..., Result], *arguments: Any) -> Result:
    if _abandoned[0].value:
        raise CancelledError
    try:
        return function(_contexts[0], *arguments)
    except Exception as error:
        portable_error, _ = make_portable(error)
        raise portable_error from error
