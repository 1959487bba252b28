"""What a step on ranking groups asks of an encoder, for the count of its operations."""

from __future__ import annotations

import numpy as np

from irpretrain.models.arithmetic import HEAD_ALONE, TRAINED, Work
from irpretrain.training.batches import Batch
from irpretrain.training.masking import Masked


def group_work(batch: Batch, masked: Masked | None, ranks: bool, mlm_trains_encoder: bool) -> Work:
    """Return the work of a step.

    Args:
        batch: its sequences, read at [CLS].
        masked: and where they are masked; None if nothing is.
        ranks: whether there is a ranking loss.
        mlm_trains_encoder: whether the MLM loss trains more than its head.
    """
    first = np.ones(len(batch.input_ids), np.int64)  # [CLS], which is never masked
    predicted = 0 if masked is None else len(masked.labels)
    reached = predicted > 0 and mlm_trains_encoder
    return Work(
        batch.attention_mask.sum(1),
        first if masked is None else first + masked.chosen.sum(1),
        pooled=len(first),
        predicted=predicted,
        encoder=TRAINED if ranks or reached else 1,
        score=TRAINED if ranks else 1,
        mlm=TRAINED if reached else HEAD_ALONE,
    )
