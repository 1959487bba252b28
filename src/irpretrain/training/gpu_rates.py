"""Peak rates of GPUs, which a training's speed is a share of: `resources/gpu_rates.yaml`, by the name of the device."""

from __future__ import annotations

from functools import cache

import torch

from irpretrain.config.compute import ComputeConfig
from irpretrain.resources import parse_yaml, resources_directory
from irpretrain.training.compute import precision_on
from irpretrain.training.fast_paths import say_once

TERA = 1e12


@cache
def gpu_rates() -> dict[str, dict[str, float]]:
    """Return device name → precision → 10¹² floating-point operations a second."""
    entries = parse_yaml((resources_directory() / "gpu_rates.yaml").read_text(encoding="utf-8"))
    precisions = ("bf16", "fp16", "fp32")
    return {
        name: {precision: float(entry[precision]) for precision in precisions if precision in entry}
        for entry in entries
        for name in entry["names"]
    }


def peak_rate(device: torch.device, options: ComputeConfig) -> float | None:
    """Return a device's peak rate in floating-point operations a second, or None on a CPU.

    Also None for a GPU or a precision that the table lacks, which is said once.
    """
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    precision = precision_on(device, options)
    rate = gpu_rates().get(name, {}).get(precision)
    if rate is None:
        say_once(f"no MFU is shown: resources/gpu_rates.yaml has no rate of {name!r} in {precision}")
        return None
    return rate * TERA
