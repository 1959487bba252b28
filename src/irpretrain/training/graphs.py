"""CUDA graphs of micro-batches: a GPU is given a recorded forward and backward pass at once.

Launched one by one, the kernels of a small step take longer to launch than to compute.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

# What is measured in a micro-batch, by name, as numbers on the device.
Measurements = Mapping[str, Tensor]

# Micro-batches of a shape that are computed before it is recorded: they compile kernels and choose algorithms.
WARM_UP_PASSES = 2

# Shapes that are recorded; each takes memory for its launches.
MAX_GRAPHS = 16


class MicroBatch(NamedTuple):
    """What a micro-batch computes."""

    tensors: Sequence[Tensor]  # all that differs between micro-batches of a shape, on the device
    # From these tensors to a loss with its graph of gradients, and what is measured. All else that it reads is the same
    # for a shape, but for parameters, which change in place. For a shape it copies nothing from the host.
    loss: Callable[..., tuple[Tensor, Measurements]]
    shape: Hashable | None = None  # of everything that is computed; None: it is never recorded


@dataclass
class _Graph:
    graph: torch.cuda.CUDAGraph
    inputs: list[Tensor]
    measurements: Measurements
    trained_parameters: list[nn.Parameter]  # those that get gradients


class RecordedPasses:
    """Forward and backward passes of micro-batches, recorded once for each shape that comes again."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self._parameters = parameters
        self._graphs: dict[Hashable, _Graph] = {}
        self._pass_counts: Counter[Hashable] = Counter()
        self._gradients: dict[nn.Parameter, Tensor] = {}  # where graphs put them
        self._memory_pool: Any = None

    @property
    def graph_count(self) -> int:
        """Number of shapes that are recorded."""
        return len(self._graphs)

    def run(
        self, batch: MicroBatch, backward: Callable[..., Measurements], is_alone: bool = False
    ) -> Measurements:
        """Add a micro-batch's gradients to the parameters' by `backward(*tensors)`, or by its graph.

        Args:
            is_alone: whether its step has no other: gradients and numbers may stay where the graph puts them, and a
                later run overwrites them.

        Returns:
            What is measured.
        """
        shape = batch.shape
        if shape is None or not batch.tensors[0].is_cuda:
            return backward(*batch.tensors)
        if shape not in self._graphs:
            self._pass_counts[shape] += 1
            if self._pass_counts[shape] <= WARM_UP_PASSES or len(self._graphs) >= MAX_GRAPHS:
                return backward(*batch.tensors)
            self._graphs[shape] = self._record(batch.tensors, backward)
        graph = self._graphs[shape]
        for graph_input, tensor in zip(graph.inputs, batch.tensors, strict=True):
            graph_input.copy_(tensor, non_blocking=True)
        graph.graph.replay()
        for parameter in graph.trained_parameters:
            gradient = self._gradients[parameter]
            if parameter.grad is not None:
                parameter.grad.add_(gradient)
            else:
                parameter.grad = gradient if is_alone else gradient.clone()
        if is_alone:
            return graph.measurements
        return {name: value.clone() for name, value in graph.measurements.items()}

    def _record(self, tensors: Sequence[Tensor], backward: Callable[..., Measurements]) -> _Graph:
        saved_gradients = [parameter.grad for parameter in self._parameters]
        rng_state = torch.cuda.get_rng_state()
        self._forget_gradients()
        backward(*tensors)  # which parameters get gradients is seen from a pass
        trained_parameters = [parameter for parameter in self._parameters if parameter.grad is not None]
        for parameter in trained_parameters:
            if parameter not in self._gradients:
                self._gradients[parameter] = torch.zeros_like(parameter)
        self._forget_gradients()
        for parameter in trained_parameters:
            parameter.grad = self._gradients[parameter]
        gradients = [self._gradients[parameter] for parameter in trained_parameters]
        graph, inputs = torch.cuda.CUDAGraph(), [tensor.clone() for tensor in tensors]
        # Graphs run one after the other, so all shapes share the memory of the largest.
        with torch.cuda.graph(graph, pool=self._memory_pool, capture_error_mode="thread_local"):
            torch._foreach_zero_(gradients)
            measurements = backward(*inputs)
        self._memory_pool = self._memory_pool or graph.pool()
        for parameter, gradient in zip(self._parameters, saved_gradients, strict=True):
            parameter.grad = gradient
        torch.cuda.set_rng_state(rng_state)  # so that the step drops what it would drop without a graph
        return _Graph(graph, inputs, measurements, trained_parameters)

    def _forget_gradients(self) -> None:
        for parameter in self._parameters:
            parameter.grad = None
