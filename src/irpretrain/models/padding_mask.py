"""The mask that a BERT is called with, made without asking a GPU whether anything is padding."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from irpretrain.models.parameters import is_bert
from irpretrain.models.to_device import to_device


def padding_mask(encoder: Any, attention_mask: Tensor, device: torch.device) -> Tensor | None:
    """Return the mask to call an encoder on `device` with; None where nothing is padding.

    For a BERT and a mask on the host it is what transformers makes of that mask: bool [sequences, 1, positions,
    positions], or float for eager attention. transformers would ask the device whether anything is padding, and a GPU
    would first finish all its work. For other encoders, and masks on the device, it is the given mask on the device.

    Args:
        encoder: as transformers makes it, without a head.
        attention_mask: int64 [sequences, positions].
        device: where the encoder computes.
    """
    kind = encoder.config._attn_implementation
    if attention_mask.device == device or not is_bert(encoder) or kind not in ("sdpa", "eager"):
        return to_device(attention_mask, device)
    if attention_mask.all():
        return None
    real = to_device(attention_mask.bool(), device)
    if kind == "eager":
        real = torch.where(
            real, torch.zeros((), dtype=encoder.dtype, device=device), torch.finfo(encoder.dtype).min
        )
    return real[:, None, None].expand(-1, 1, real.shape[1], -1)
