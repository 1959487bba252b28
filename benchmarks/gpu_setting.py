"""What each part of gpu.py is given, and what several of them need: devices, clocks, rows of what failed."""

import gc
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from generated_work import GeneratedWork
from irpretrain.config.training import ComputeConfig
from irpretrain.training.compute import memory_ran_out
from training_contestants import finish

Row = dict[str, Any]
"""What was measured in one case: names of the case's choices and of its figures, JSON-able."""
KINDS = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32}
GIB = 1 << 30
DISPLAYED_KERNELS = 10
LOSSES = {"fp32": 1e-4, "tf32": 3e-3, "fp16": 2e-2, "bf16": 5e-2}
"""How far the losses of the first three steps may be from those of a CPU in single precision, or of another trainer in
the same precision, relatively."""
SCORES = {"fp32": 0.01, "tf32": 0.05, "fp16": 0.1, "bf16": 0.3}
"""The same of scores, in standard deviations of the CPU's scores."""


@dataclass(frozen=True)
class Setting:
    """Where and how large.

    Attributes:
        device: cuda or cpu.
        small: a small encoder and few steps, to see that everything runs.
        folder: where generated work lies.
        threads: of a process.
        until: by `time.time`; no case begins later.
    """

    device: str
    small: bool
    folder: Path
    threads: int
    until: float

    @property
    def work(self) -> GeneratedWork:
        """The generated work of BERT-base's shape, or of the small one."""
        return GeneratedWork(self.folder / ("small" if self.small else "base"), self.small)

    @property
    def precisions(self) -> tuple[str, ...]:
        """What the device can compute in."""
        return ("bf16", "fp16", "tf32", "fp32") if self.device == "cuda" else ("bf16", "fp32")

    @property
    def late(self) -> bool:
        """Whether no other case may begin."""
        return time.time() > self.until

    def compute(self, precision: str = "bf16", **changes: Any) -> ComputeConfig:
        """Return how to compute; tf32 is fp32 here, see `precise`."""
        named = "fp32" if precision == "tf32" else precision
        return ComputeConfig(device=self.device, threads=self.threads, precision=named, **changes)


def cases(
    setting: Setting,
    choices: list[Row],
    measure: Callable[[Row], Row],
    of: Callable[[Row], bool] | None = None,
) -> Iterator[Row]:
    """Yield each case with its figures; a case that fails says how, and one for which there is no time says so.

    Args:
        setting: says when time is up.
        choices: the cases, those that matter most first.
        measure: from a case to its figures.
        of: whether a case is left out; asked before each.
    """
    for choice in choices:
        if setting.late:
            yield choice | {"failed": "left out: the part's time was up"}
        elif of is None or not of(choice):
            began = time.perf_counter()
            figures = attempt(lambda choice=choice: measure(choice))  # type: ignore[misc]
            gc.collect()
            if setting.device == "cuda":
                torch.cuda.empty_cache()
            yield choice | figures | {"case_seconds": round(time.perf_counter() - began, 1)}


def attempt(measure: Callable[[], Row]) -> Row:
    """Return what is measured, or how it failed. Whatever it is, other cases are still worth measuring."""
    try:
        return measure()
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        text = str(error).strip() or type(error).__name__
        out = "memory ran out" in text or (isinstance(error, RuntimeError) and memory_ran_out(error))
        return {"failed": f"memory ran out: {text[:200]}" if out else f"{type(error).__name__}: {text[:400]}"}


@contextmanager
def precise(precision: str) -> Iterator[None]:
    """Inside, let products of single precision use the matrix units' short one, for tf32."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def seconds_of(work: Callable[[], Any], device: torch.device, least: float) -> float:
    """Return the seconds of one call, the median of five rounds of at least `least` seconds, after a warm-up."""
    work()
    finish(device)
    began = time.perf_counter()
    work()
    finish(device)
    calls = max(1, round(least / max(time.perf_counter() - began, 1e-6)))
    rounds = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(calls):
            work()
        finish(device)
        rounds.append((time.perf_counter() - began) / calls)
    return sorted(rounds)[2]


def matrix_rate(device: torch.device, precision: str, rows: int, inner: int, columns: int) -> float:
    """Return the operations a second of a product of random matrices, [rows, inner] and [inner, columns]."""
    draw = torch.Generator(device).manual_seed(1)
    shapes = ((rows, inner), (columns, inner))
    a, b = (torch.randn(shape, device=device, generator=draw).to(KINDS[precision]) for shape in shapes)
    with precise(precision):
        return 2 * rows * inner * columns / seconds_of(lambda: a @ b.T, device, 0.02)


def profile(work: Callable[[], Any], device: torch.device) -> Row:
    """Return what takes longest in a piece of work, and for how much of it the device computed."""
    gpu = device.type == "cuda"
    try:
        with torch.profiler.profile(
            activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if gpu else [])]
        ) as retained:
            began = time.perf_counter()
            work()
            finish(device)
            seconds = time.perf_counter() - began
        events = [event for event in retained.key_averages() if not gpu or _is_kernel(event)]
        times = {e.key: (e.self_device_time_total if gpu else e.self_cpu_time_total, e.count) for e in events}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:400]}
    longest = sorted(times.items(), key=lambda pair: -pair[1][0])[:DISPLAYED_KERNELS]
    return {
        "seconds": seconds,
        "device_seconds": sum(micro for micro, _ in times.values()) / 1e6,
        "kernels": [
            {"name": name[:160], "seconds": micro / 1e6, "calls": calls} for name, (micro, calls) in longest
        ],
    }


def _is_kernel(event: Any) -> bool:
    """Operations and annotations hold the times of their kernels again."""
    return event.device_type.name == "CUDA" and not getattr(event, "is_user_annotation", False)
