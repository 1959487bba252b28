"""Progress of a stage: a bar on a terminal, a line every few seconds elsewhere (logs, several jobs at once)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0


def progress(items: Iterable[Item], title: str, unit: str, total: int | None = None) -> Iterator[Item]:
    """Yield from `items` and report how far the stage is.

    Args:
        items: what is worked through.
        title: the stage, as the user knows it ("sample pairs pretraining/rop").
        unit: plural noun of what is counted ("documents").
        total: number of items; taken from `len(items)` where it has one.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    if sys.stderr.isatty() and not os.environ.get("IRPRETRAIN_PLAIN_PROGRESS"):
        from tqdm import tqdm

        yield from tqdm(items, desc=title, unit=f" {unit}", total=total, leave=False, mininterval=0.5)
        return
    yield from _lines(items, title, unit, total)


def _lines(items: Iterable[Item], title: str, unit: str, total: int | None) -> Iterator[Item]:
    start = last = time.monotonic()
    count = 0
    for count, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            rate = count / (now - start)
            left = max((total or 0) - count, 0) / rate
            of = f"/{total:,} ({count / total:.0%}), {left:,.0f} s left" if total else ""
            speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
            print(f"[{title}] {count:,}{of}, {speed} {unit}/s", file=sys.stderr, flush=True)
