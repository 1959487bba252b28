"""When a job saves what it has done: by the clock, so that it does not matter how long a step takes."""

from __future__ import annotations

import time

FIRST_SECONDS = 5.0
"""Seconds from the start of a job to its first saving."""


class CheckpointClock:
    """Says when to save: soon after the job starts or goes on, then when twice as much time has passed, and so on.

    So a job that is killed again and again gets on if it computes for some seconds each time. A kill costs at most half
    of the time since the job started or went on, and at most `minutes`, beside the step in which it comes.

    Args:
        minutes: longest time between two savings; 0 saves whenever it can.
    """

    def __init__(self, minutes: float) -> None:
        self._longest = minutes * 60
        self._start = time.monotonic()
        self._next = self._start + min(FIRST_SECONDS, self._longest)

    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() >= self._next

    def saved(self) -> None:
        """Take note of a saving that has just ended."""
        now = time.monotonic()
        self._next = now + min(now - self._start, self._longest)
