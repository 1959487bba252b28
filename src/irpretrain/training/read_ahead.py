"""Reads the batches of coming steps in a thread of their own, while the device computes the one before."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Read = TypeVar("Read")
AHEAD = 3
"""Steps whose batches wait in memory: enough for batches that take unequally long to read."""


@contextmanager
def read_ahead(
    read: Callable[[int], Read], steps: range, ahead: int = AHEAD
) -> Iterator[Callable[[int], Read]]:
    """Yield what returns the batch of a step; steps are asked for in their order.

    One thread reads one batch after another, those of `steps` and no other. It has ended when the context ends, however
    it does; a batch that is being read then is waited for. A fault in reading is raised where the batch is asked for.

    Args:
        read: returns the batch of a step; called in the thread.
        steps: all that will be asked for.
        ahead: most batches that are read and not yet asked for.
    """
    coming, waiting = iter(steps), deque[tuple[int, Future[Read]]]()
    with ThreadPoolExecutor(1, "read ahead") as thread:

        def begin(count: int) -> None:
            waiting.extend((step, thread.submit(read, step)) for step in itertools.islice(coming, count))

        def take(step: int) -> Read:
            expected, reading = waiting.popleft() if waiting else (None, None)
            if reading is None or step != expected:
                raise ValueError(f"the batch of step {step} is asked for, the next is that of {expected}")
            begin(1)
            return reading.result()

        begin(ahead)
        try:
            yield take
        finally:
            thread.shutdown(cancel_futures=True)
