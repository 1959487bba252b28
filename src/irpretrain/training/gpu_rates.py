"""Peak rates of GPUs, which a training's speed is a share of: `resources/gpu_rates.yaml`, by the name of the device."""

from __future__ import annotations

import torch

from irpretrain.config.training import ComputeConfig
from irpretrain.resources import gpu_rates
from irpretrain.training.compute import precision_on
from irpretrain.training.fast_paths import log_once

TERA = 1e12


def peak_rate(device: torch.device, options: ComputeConfig) -> float | None:
    """Return a device's peak rate in floating-point operations per second; None on a CPU or (logged) if unknown."""
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    precision = precision_on(device, options)
    rate = gpu_rates().get(name, {}).get(precision)
    if rate is None:
        log_once(f"no MFU is shown: resources/gpu_rates.yaml has no rate of {name!r} in {precision}")
        return None
    return rate * TERA
