"""Training steps with batches read ahead (compute.prefetch) and without, in turns.

    python benchmarks/prefetch.py [--threads 1] [--device cuda] [--lengths default long]

Work: the default run's pre-training on ROP's pairs, as in training.py, with the same encoder, batches and optimiser for
both; their losses must be the same numbers. "Waited" is the share of the time in which a step had to wait for its
batch; before the first step of a turn nothing can be read ahead.
On a CPU the thread that reads uses a core beside those of the job's threads: where there is none to spare, look at
processor time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from embedded_work import TrainingWork, Workshop, training_work
from irpretrain.config.compute import TrainingComputeConfig
from side_by_side import Turn, head, heading, options, play, playing, quiet, read_options, rows
from training_contestants import Ours


def contestants() -> dict[str, Callable[..., Any]]:
    """Return who takes part: reading ahead first."""
    return {"on": partial(Ours, prefetch="on"), "off": partial(Ours, prefetch="off")}


def waiting(turns: Sequence[Turn]) -> str:
    """Return the median share of the time that turns waited for batches."""
    return f"{statistics.median(turn.facts['waited'] for turn in turns[1:]):.2%}"


def compare(work: TrainingWork, mix: str, rounds: int) -> str:
    """Print one work's table rows, and return a line about it."""
    with playing(contestants(), work, ["torch", "transformers", "embedded_work"]) as players:
        turns = play(players, rounds)
    for one, other in zip(turns["on"], turns["off"], strict=True):
        if one.facts["losses"] != other.facts["losses"]:
            sys.exit(
                f"{mix}: losses are {one.facts['losses']} with batches read ahead, else {other.facts['losses']}"
            )
    print("\n".join(rows(turns, f"pre-training, {mix}")), flush=True)
    return f"{mix}: waited for batches {waiting(turns['on'])} with batches read ahead, {waiting(turns['off'])} without"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, models=True)
    parser.add_argument("--lengths", nargs="+", choices=["default", "long", "full"], default=["default"])
    parser.add_argument("--steps", type=int, default=8, help="optimiser steps a turn")
    parser.add_argument("--batch-groups", type=int, help="pairs a step (default: the configuration's)")
    given = read_options(parser, arguments)
    compute = TrainingComputeConfig(threads=given.threads, precision=given.precision, device=given.device)
    print(heading(given, ["torch", "transformers"], f" of {given.steps} steps"))
    print(head("work", "word pieces"), flush=True)
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        shop = Workshop(given.folder or Path(temporary), given.encoder, given.articles)
        for mix in given.lengths:
            with quiet():
                work = training_work(shop, "pre-training", mix, given.batch_groups, given.steps, compute)
            lines.append(compare(work, mix, given.rounds))
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
