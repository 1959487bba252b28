"""What a stage reports: its progress, and notices for its user.

These are lines on stderr, which the stage's log keeps. The display of a run (`workflow.screen`) reads them from the
logs, also from those of jobs on other machines.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from irpretrain.foundation.errors import visible

Item = TypeVar("Item")

# Seconds between two lines; at the beginning of a stage lines come sooner, a tenth of its time after each other.
LONGEST_SILENCE = 10.0
SHORTEST_SILENCE = 2.0
NOTICE = "NOTE: "


class Counter:
    """Counts finished units and prints the progress from time to time.

    Args:
        title: the stage in the user's terms ("sample pairs pretraining/rop").
        unit: plural noun of what is counted ("documents").
        total: number of units in all, if known.
    """

    def __init__(self, title: str, unit: str, total: int | None = None) -> None:
        self._title, self._unit, self._total = title, unit, total
        self._done = self._skipped = 0
        self._start = self._last_report = time.monotonic()

    def skip(self, count: int) -> None:
        self._skipped += count
        self._done += count

    def add(self, count: int) -> None:
        self.reach(self._done + count)

    def reach(self, done_count: int) -> None:
        self._done, now = done_count, time.monotonic()
        elapsed = now - self._start
        if now - self._last_report >= max(SHORTEST_SILENCE, min(LONGEST_SILENCE, elapsed / 10)):
            self._last_report = now
            print_line(f"[{self._title}] {self._status(elapsed)}")

    def _status(self, elapsed: float) -> str:
        rate = (self._done - self._skipped) / elapsed
        count = f"{self._done:,}"
        if self._total:
            count += f"/{self._total:,} {self._unit} ({self._done / self._total:.0%})"
        else:
            count += f" {self._unit}"
        if not rate:
            return count
        speed = f"{rate:,.0f} {self._unit}/s" if rate >= 1 else f"{rate * 60:.2g} {self._unit}/min"
        time_left = f", {duration(max(self._total - self._done, 0) / rate)} left" if self._total else ""
        return f"{count}, {speed}{time_left}"


def progress(
    items: Iterable[Item],  # what is worked through
    title: str,  # as in `Counter`, and so for `unit`
    unit: str,
    # Number of units in all, `done_count` included; the number of items where items have a length and each is one
    # unit.
    total: int | None = None,
    size: Callable[[Item], int] | None = None,  # number of units in an item, where an item is a batch
    done_count: int = 0,  # number of units that an earlier, interrupted run has done
) -> Iterator[Item]:
    """Yield from `items` and report how far the stage is."""
    if total is None and size is None and isinstance(items, Sized):
        total = done_count + len(items)
    counter = Counter(title, unit, total)
    counter.skip(done_count)
    for item in items:
        yield item
        counter.add(size(item) if size else 1)


def print_line(text: str) -> None:
    """Print a line on stderr at once, with control characters written out; a line that stderr cannot take is lost."""
    if sys.stderr is None:  # closed; print would write to stdout, among results
        return
    try:
        print(visible(text), file=sys.stderr, flush=True)
    except BrokenPipeError:  # who reads it has enough
        raise
    except OSError:  # a log on a full disk, a terminal that is gone: no reason to lose hours of work
        pass


def notice(title: str, text: str) -> None:
    """Say what the user should know although the stage goes on: data that are left out, options that cost time."""
    print_line(f"[{title}] {NOTICE}{text}")


def duration(seconds: float) -> str:
    """Return a time in words: "40 s", "12 min", "2.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def size_text(size: float) -> str:
    """Return bytes as a person says them; at least 1 MB."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.2g} {name}" if size < 10 * unit else f"{size / unit:,.0f} {name}"
    return "1 MB"
