"""When a job saves its state: by the clock, whatever a step takes."""

from __future__ import annotations

import time

# Seconds from the start of a job to its first saving.
FIRST_SECONDS = 5.0


class CheckpointClock:
    """Due soon after the job starts or resumes, then at twice the time each, at most `minutes` apart; 0: always due.

    A job that is killed repeatedly progresses if it computes for some seconds each time. A kill costs at most half of
    the time since the start, and at most `minutes`, besides the current step.
    """

    def __init__(self, minutes: float) -> None:
        self._longest = minutes * 60
        self._start = time.monotonic()
        self._next = self._start + min(FIRST_SECONDS, self._longest)

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def saved(self) -> None:
        """Note that a save has just ended."""
        now = time.monotonic()
        self._next = now + min(now - self._start, self._longest)
