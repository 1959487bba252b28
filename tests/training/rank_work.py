"""What the processes of test_distributed.py do; each imports this module by its name."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from irpretrain.config.training import SharedComputeConfig
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.stage import stage
from irpretrain.training.processes import in_processes
from irpretrain.training.ranks import current_ranks, sum_gradients


def call_all(calls: list[tuple[Callable[..., Any], dict[str, Any]]]) -> list[Any]:
    """Call functions one after the other."""
    return [function(**arguments) for function, arguments in calls]


def add_up() -> list[float]:
    """Gradients of a model whose parts get gradients in different processes, or in none; see the test."""
    process = current_ranks()
    first, second, third = (torch.nn.Parameter(torch.ones(2)) for _ in range(3))
    loss = (first.sum() if process.leads else second.sum()) * (process.rank + 1)
    loss.backward()
    (first.sum() * 10).backward()
    sum_gradients([first, second, third], process)
    assert third.grad is None
    found = [float(p.grad[0]) for p in (first, second) if p.grad is not None]
    assert process.from_first(lambda: found) == found
    return [*found, *process.sums([process.rank + 1, 0.5, process.rank])]


def say(line: str) -> int:
    """Print a line, and return how many processes there are."""
    print(line)
    return current_ranks().count


def fail(kind: str) -> None:
    """The second process fails while the first waits for it."""
    if current_ranks().rank == 1:
        if kind == "input":
            raise InputError("groups.parquet", "it is broken", remedy="Make it anew.")
        if kind == "fault":
            {}["nothing"]
    current_ranks().sums([1])


def pretrain_until(arguments: dict[str, Any], last: int, folder: Path) -> dict[str, Any]:
    """Say which process this is, and pre-train; the second process kills itself when it is about to do step `last`."""
    from irpretrain.training.pretrain import pretrain
    from irpretrain.training.trainer import Trainer

    (folder / f"{current_ranks().rank}.pid").write_text(str(os.getpid()))
    original = Trainer.begin

    def step(self: Trainer, number: int, *rest: Any) -> Any:
        if number == last and current_ranks().rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, number, *rest)

    Trainer.begin = step  # type: ignore[method-assign]
    return pretrain(**arguments)


def pretrain_as_a_stage(arguments: dict[str, Any], last: int, log: Path) -> None:
    """Pre-train in processes as the workflow's stage does; see `pretrain_until`."""
    outputs = [str(arguments["output"])]
    job = SimpleNamespace(rule="pretrain", input=[], output=outputs, params={}, log=[str(log)])
    with stage(job) as counts:
        work = {"arguments": arguments, "last": last, "folder": log.parent}
        counts |= in_processes(pretrain_until, work, arguments["options"].compute)


def wait(folder: Path) -> None:
    """Say which process this is, and wait to be ended."""
    (folder / f"{current_ranks().rank}.pid").write_text(str(os.getpid()))
    time.sleep(600)


def fail_while_another_sleeps() -> None:
    """The second process fails; the first never asks for it."""
    if current_ranks().rank == 1:
        raise InputError("groups.parquet", "it is broken")
    time.sleep(600)


def start_waiting(folder: Path) -> None:
    """Start two processes that wait."""
    in_processes(wait, {"folder": folder}, SharedComputeConfig(device="cpu", processes=2))
