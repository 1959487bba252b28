"""Reading the batches of later steps in other processes, while a GPU computes."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from irpretrain.foundation.errors import TrainingError
from irpretrain.training.processes import end_with

Read = TypeVar("Read")

# Processes that read, and steps that are read before they are asked for.
PROCESSES, AHEAD = 2, 4

# What reads, in the processes that do.
_reads: list[Callable[[int], Any]] = []


@contextmanager
def reading_ahead(read: Callable[[int], Read], steps: range, ahead: bool) -> Iterator[Iterator[Read]]:
    """Yield an iterator over `read(step)` of all steps; `ahead`: in other processes, before they are asked for.

    What `read` returns must depend on the step alone, and what it raises is raised here. It must not touch a GPU.
    """
    if not ahead or not steps:
        yield map(read, steps)
        return
    # Forked: readers share this process's tables, and start in a moment. They end with it, however it ends.
    pool = ProcessPoolExecutor(
        min(PROCESSES, len(steps)),
        mp_context=multiprocessing.get_context("fork"),
        initializer=_begin,
        initargs=(read, os.getpid()),
    )
    try:
        yield _in_order(pool, steps)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, steps: range) -> Iterator[Any]:
    futures = deque[Future[Any]]()
    remaining = iter(steps)
    with warnings.catch_warnings():
        # Python warns of a fork beside threads, which could hold locks: readers take none of theirs.
        warnings.simplefilter("ignore", DeprecationWarning)
        futures.extend(pool.submit(_read, step) for _, step in zip(range(AHEAD), remaining, strict=False))
    try:
        while futures:
            batch = futures.popleft().result()
            futures.extend(pool.submit(_read, step) for _, step in zip(range(1), remaining, strict=False))
            yield batch
    except BrokenProcessPool:
        raise TrainingError(
            "a process that reads batches was killed; the system does so when memory runs out. Run the same command "
            "again: training goes on from the last checkpoint."
        ) from None


def _begin(read: Callable[[int], Any], parent: int) -> None:
    end_with(parent)
    # The tokenizer's threads were not forked.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _reads[:] = [read]


def _read(step: int) -> Any:
    return _reads[0](step)
