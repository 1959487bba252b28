"""What the processes of test_distributed.py do; each imports this module by its name."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import torch

from irpretrain.errors import InputError
from irpretrain.training import ranks
from irpretrain.training.ranks import here, sum_gradients


def noted(calls: list[tuple[Callable[..., Any], dict[str, Any]]], notes: Path) -> list[Any]:
    """Call functions one after the other; write, of each batch that is trained on, its groups, and how many tokens are
    masked in it."""
    # Not above: the processes that only fail need none of it, and start sooner.
    from irpretrain.training.batches import BatchBuilder
    from irpretrain.training.masking import Masker
    from irpretrain.training.probe import Probe

    seen: list[dict[str, Any]] = []
    build, apply, make_probe = BatchBuilder.build, Masker.apply, Probe.__init__

    def noting_build(self: BatchBuilder, groups: Any) -> Any:
        seen.append({"groups": [str(group) for group in groups], "masked": 0})
        return build(self, groups)

    def noting_apply(self: Masker, *given: Any) -> Any:
        masked = apply(self, *given)
        seen[-1]["masked"] = len(masked.labels)
        return masked

    def not_noting(self: Probe, task: str, table: Any, builder: Any, *rest: Any) -> None:
        silent = copy(builder)
        silent.build = lambda groups: build(builder, groups)
        make_probe(self, task, table, silent, *rest)

    BatchBuilder.build, Masker.apply = noting_build, noting_apply  # type: ignore[method-assign]
    Probe.__init__ = not_noting  # type: ignore[method-assign]
    # Of a model this small all gradients would go together.
    before, ranks.BYTES_AT_ONCE = ranks.BYTES_AT_ONCE, 4096
    try:
        results = [function(**arguments) for function, arguments in calls]
    finally:
        BatchBuilder.build, Masker.apply = build, apply  # type: ignore[method-assign]
        Probe.__init__ = make_probe  # type: ignore[method-assign]
        ranks.BYTES_AT_ONCE = before
    notes.mkdir(exist_ok=True)
    (notes / f"{here().rank}.json").write_text(json.dumps(seen))
    return results


def add_up() -> list[float]:
    """Gradients of a model whose parts get gradients in different processes, or in none; see the test."""
    process = here()
    first, second, third = (torch.nn.Parameter(torch.ones(2)) for _ in range(3))
    loss = (first.sum() if process.leads else second.sum()) * (process.rank + 1)
    loss.backward()
    (first.sum() * 10).backward()
    sum_gradients([first, second, third], process)
    assert third.grad is None
    found = [float(p.grad[0]) for p in (first, second) if p.grad is not None]
    assert process.from_first(lambda: found) == found
    return [*found, process.total(process.rank + 1), *process.sums([0.5, process.rank])]


def fail(kind: str) -> None:
    """The second process fails while the first waits for it."""
    if here().rank == 1:
        if kind == "input":
            raise InputError("groups.parquet", "it is broken", remedy="Make it anew.")
        if kind == "fault":
            {}["nothing"]
    here().total(1)


def pretrain_until(arguments: dict[str, Any], last: int, folder: Path) -> dict[str, Any]:
    """Say which process this is, and pre-train; the second process kills itself when it is about to do step `last`."""
    from irpretrain.training.pretrain import pretrain
    from irpretrain.training.trainer import Trainer

    (folder / f"{here().rank}.pid").write_text(str(os.getpid()))
    original = Trainer.step

    def step(self: Trainer, number: int, *rest: Any) -> Any:
        if number == last and here().rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, number, *rest)

    Trainer.step = step  # type: ignore[method-assign]
    return pretrain(**arguments)


def wait(folder: Path) -> None:
    """Say which process this is, and wait to be ended."""
    (folder / f"{here().rank}.pid").write_text(str(os.getpid()))
    time.sleep(600)
