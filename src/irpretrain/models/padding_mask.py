"""The mask that a BERT is called with, made without asking a GPU whether anything is padding."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from irpretrain.models.length_batches import to_device
from irpretrain.models.parameters import is_bert


def padding_mask(encoder: Any, attention_mask: Tensor, device: torch.device) -> Tensor | None:
    """Return the mask to call an encoder on `device` with, for int64 [sequences, positions]; None without padding."""
    kind = encoder.config._attn_implementation
    if attention_mask.device == device or not is_bert(encoder) or kind not in ("sdpa", "eager"):
        return to_device(attention_mask, device)
    # What transformers makes of the mask, made on the host: transformers would ask the device whether anything is
    # padding, and a GPU would first finish all its work.
    if attention_mask.all():
        return None
    real = to_device(attention_mask.bool(), device)
    if kind == "eager":
        real = torch.where(
            real, torch.zeros((), dtype=encoder.dtype, device=device), torch.finfo(encoder.dtype).min
        )
    return real[:, None, None].expand(-1, 1, real.shape[1], -1)
