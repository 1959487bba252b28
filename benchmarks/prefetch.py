"""Training steps with batches read ahead (compute.prefetch) and without, in turns.

    python benchmarks/prefetch.py [--threads 1] [--device cuda] [--lengths default long]

Work: the default run's pre-training on ROP's pairs, as in training.py, with the same encoder, batches and optimiser for
both; their losses must be the same numbers. "Waited" is the share of the time in which a step had to wait for its
batch; before the first step of a turn nothing can be read ahead.
On a CPU the thread that reads uses a core beside those of the job's threads: where there is none to spare, look at
processor time.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from embedded_work import TrainingWork, Workshop, training_work
from irpretrain.config.training import TrainingComputeConfig
from side_by_side import Turn, describe_machine, device_name, head, play, playing, quiet, rows
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--lengths", nargs="+", choices=["default", "long", "full"], default=["default"])
    parser.add_argument("--encoder", help="minilm (default on CPU), base (on a GPU), or a directory")
    parser.add_argument("--precision", choices=["fp32", "bf16"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8, help="optimiser steps a turn")
    parser.add_argument("--batch-groups", type=int, help="pairs a step (default: the configuration's)")
    parser.add_argument("--articles", type=int, help="only so many articles of SQuAD's files")
    parser.add_argument("--folder", type=Path, help="where to work, kept; by default a temporary folder")
    given = parser.parse_args(arguments)
    gpu = given.device == "cuda"
    precision = given.precision or ("bf16" if gpu else "fp32")
    compute = TrainingComputeConfig(threads=given.threads, precision=precision, device=given.device)
    print(describe_machine(["torch", "transformers"]))
    print(
        f"{device_name(given.device)}, {given.threads} threads, {precision}, {given.rounds} rounds of "
        f"{given.steps} steps"
    )
    print(head("work", "word pieces"), flush=True)
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        shop = Workshop(folder, given.encoder or ("base" if gpu else "minilm"), given.articles)
        for mix in given.lengths:
            with quiet():
                work = training_work(shop, "pre-training", mix, given.batch_groups, given.steps, compute)
            lines.append(compare(work, mix, given.rounds))
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
