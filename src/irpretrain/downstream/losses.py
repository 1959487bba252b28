"""What is measured of a step, and the losses: cross-entropies and squared errors, means over the step's sequences."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from irpretrain.models.to_device import to_device
from irpretrain.training.metrics import TaskMetrics


@dataclass
class OutputMetrics(TaskMetrics):
    """A task in one step.

    Attributes:
        loss: what was minimised.
        right: sequences whose prediction is right (nothing of a regression).
        sequences: how many there were.
    """

    loss: float = 0.0
    right: int = 0
    sequences: int = 0

    @property
    def weighted_loss(self) -> float:
        """The loss itself: there is one task."""
        return self.loss

    def record(self) -> dict[str, float | None]:
        """Return what is written."""
        return {"accuracy": self.right / self.sequences if self.sequences else None}


def span_losses(
    start_logits: Tensor, end_logits: Tensor, attention: Tensor, starts: Tensor, ends: Tensor
) -> Tensor:
    """Return the loss of each sequence, float32 [sequences]: the mean of the cross-entropies of start and end.

    Padding takes no part in the softmax, so that the loss does not depend on what else is in a batch.
    """
    padding = to_device(attention == 0, start_logits.device)
    side_losses = [
        functional.cross_entropy(
            logits.float().masked_fill(padding, float("-inf")), targets, reduction="none"
        )
        for logits, targets in ((start_logits, starts), (end_logits, ends))
    ]
    return (side_losses[0] + side_losses[1]) / 2


def label_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each sequence, float32 [sequences]: cross-entropy of classes (int64 targets), or the squared
    error of a regression (float32 targets)."""
    if targets.is_floating_point():
        return (logits.float().squeeze(-1) - targets).square()
    return functional.cross_entropy(logits.float(), targets, reduction="none")
