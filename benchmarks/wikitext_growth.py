"""How the time of parsing hostile wikitext grows with a page's length: what grows faster than linearly is printed.

Each kind makes a page of n and of 4n characters, a million; dumps have no longer pages by default. In linear time the
second page takes 4 times as long as the first one, in quadratic time 16 times. What grows by more than `MOST_GROWTH` is
measured again, as the processor time of the fastest of three runs of n, 2n and 4n characters, and then once more. If 4n
characters take less than `SHORTEST` seconds, the growth is noise. Python's search for garbage is off: it looks at all
objects of a page again and again.

    python benchmarks/wikitext_growth.py
"""

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "wikipedia")]

from hostile_wikitext import EVERYTHING, generators  # noqa: E402
from wiki_pages import ENGLISH  # noqa: E402

from irpretrain.wikipedia.wikitext import PROSE, parse_article  # noqa: E402
from irpretrain.wikipedia.wikitext.images import Rendering  # noqa: E402

CHARACTERS = 250_000
MOST_GROWTH = 8.0
SHORTEST = 0.06


def seconds(page: str, rendering: Rendering, runs: int = 3) -> float:
    """Return the processor time of the fastest parse of a page."""
    times = []
    for _ in range(runs):
        gc.disable()
        start = time.process_time()
        parse_article(page, ENGLISH, rendering)
        times.append(time.process_time() - start)
        gc.enable()
    return min(times)


def growth(make: Callable[[int], str], rendering: Rendering) -> tuple[float, ...]:
    """Return the seconds of pages of n, 2n and 4n characters; of n and 4n where they grow little, or the last alone."""
    last = seconds(make(4 * CHARACTERS), rendering, 1)
    if last < SHORTEST:
        return (last,)
    once = (seconds(make(CHARACTERS), rendering, 1), last)
    if not is_suspect(once):
        return once
    return tuple(seconds(make(CHARACTERS * times), rendering) for times in (1, 2, 4))


def is_suspect(times: tuple[float, ...]) -> bool:
    """Whether the time grows faster than linearly."""
    return times[-1] > MOST_GROWTH * times[0]


def main() -> None:
    kinds = generators()
    slowest, suspects = 0.0, 0
    for name, make in kinds.items():
        for rendering in (PROSE, EVERYTHING):
            times = growth(make, rendering)
            slowest = max(slowest, times[-1])
            if is_suspect(times) and is_suspect(again := growth(make, rendering)):
                suspects += 1
                print(name, "seconds:", *(f"{value:.2f}" for value in again), flush=True)
    print(
        f"{len(kinds)} kinds of pages, {suspects} suspect; a million characters of one took up to {slowest:.2f} s"
    )


if __name__ == "__main__":
    main()
