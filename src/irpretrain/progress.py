"""What a stage says of itself: how far it is, and what its user should know.

These are lines on stderr, which the stage's log keeps. The display of a run (`irpretrain.screen`) reads them from
the logs, also from those of jobs on other machines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")
LONGEST_SILENCE = 10.0
"""Seconds between two lines; at the beginning of a stage lines come sooner, a tenth of its time after each other."""
SHORTEST_SILENCE = 2.0
NOTICE = "NOTE: "


def progress(
    items: Iterable[Item],
    title: str,
    unit: str,
    total: int | None = None,
    size: Callable[[Item], int] | None = None,
) -> Iterator[Item]:
    """Yield from `items` and report how far the stage is.

    Args:
        items: what is worked through.
        title: the stage, as the user knows it ("sample pairs pretraining/rop").
        unit: plural noun of what is counted, in the user's terms ("documents").
        total: number of units in all items; `len(items)` where items have a length and each is one unit.
        size: number of units in an item, where an item is a batch.
    """
    if total is None and size is None and isinstance(items, Sized):
        total = len(items)
    start = last = time.monotonic()
    count = 0
    for item in items:
        yield item
        count += size(item) if size else 1
        now = time.monotonic()
        if now - last >= max(SHORTEST_SILENCE, min(LONGEST_SILENCE, (now - start) / 10)):
            last = now
            print(f"[{title}] {_status(count, total, unit, now - start)}", file=sys.stderr, flush=True)


def notice(title: str, text: str) -> None:
    """Say what the user should know although the stage goes on: data that are left out, options that cost time."""
    print(f"[{title}] {NOTICE}{text}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Return a time as a person says it: "40 s", "12 min", "2.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _status(count: int, total: int | None, unit: str, seconds: float) -> str:
    rate = count / seconds
    if not rate:
        return f"0 {unit}"
    speed = f"{rate:,.0f} {unit}/s" if rate >= 1 else f"{rate * 60:.2g} {unit}/min"
    if not total:
        return f"{count:,} {unit}, {speed}"
    left = max(total - count, 0) / rate
    return f"{count:,}/{total:,} {unit} ({count / total:.0%}), {speed}, {duration(left)} left"
