"""AdamW as BERT uses it: no decay of biases and LayerNorm, warm-up, decay, clipping."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from irpretrain.config.training import OptimiserConfig

# A step count at which Adam's bias correction, 1 − βᵗ, is 1 in floating point. Adding 1 to it changes nothing in
# single precision, so torch's fused kernel serves for Adam without bias correction too.
NEVER_CORRECTED = 1e9


BETAS = (0.9, 0.999)  # BERT's, A.2 of Devlin et al. (2019); no paper here names others


class AdamW(torch.optim.AdamW):
    """Torch's fused AdamW, with the option of no bias correction (BERT's own optimiser has none)."""

    def __init__(self, groups: list[dict[str, object]], options: OptimiserConfig) -> None:
        super().__init__(groups, lr=options.learning_rate, betas=BETAS, eps=options.epsilon, fused=True)
        if not options.bias_correction:
            for group in self.param_groups:
                for parameter in group["params"]:
                    self.state[parameter] = {
                        "step": torch.tensor(NEVER_CORRECTED, dtype=torch.float32, device=parameter.device),
                        "exp_avg": torch.zeros_like(parameter),
                        "exp_avg_sq": torch.zeros_like(parameter),
                    }


def make_optimiser(model: nn.Module, options: OptimiserConfig) -> AdamW:
    """Decay applies to weights of two dimensions, not to biases and LayerNorm."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    decayed = [parameter for parameter in parameters if parameter.dim() > 1]
    others = [parameter for parameter in parameters if parameter.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return AdamW(groups, options)


def learning_rate(options: OptimiserConfig, step: int, steps: int) -> float:
    """Return the rate of optimiser step `step` (from 0) of `steps`.

    It rises linearly to the peak over the first round(warmup · steps) steps, none of which is idle. Then it falls
    linearly so that it would reach 0 one step after the last (decay linear); or stays (none); or stays until
    `later_from` steps are done, and is `later_rate` after that (step).
    """
    rising = round(options.warmup * steps)
    if step < rising:
        return options.learning_rate * (step + 1) / (rising + 1)
    if options.later_from is not None and options.later_rate is not None and step >= options.later_from:
        return options.later_rate
    if options.decay != "linear":
        return options.learning_rate
    return options.learning_rate * (steps - step) / (steps - rising)


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate


def clip_gradients(parameters: Iterable[Tensor], options: OptimiserConfig) -> Tensor:
    """Clip the gradients in place; return the Euclidean norm of all of them before."""
    with_gradient = [p for p in parameters if p.grad is not None]
    norm = torch.nn.utils.get_total_norm([p.grad for p in with_gradient if p.grad is not None])
    if options.clip is None:
        return norm
    if options.clip_by == "all":
        torch.nn.utils.clip_grads_with_norm_(with_gradient, options.clip, norm)
    else:
        # As in the released PROP: each parameter by itself.
        for parameter in with_gradient:
            torch.nn.utils.clip_grad_norm_(parameter, options.clip)
    return norm
