"""A device that is not the processor: its memory cannot be read, and it computes with nothing of the host.

Tensors say that they are on `meta`, so that no library is needed, and hold their numbers, so that a whole training or
ranking runs and its results can be compared with those of the processor.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map, tree_map_only

DEVICE = torch.device("meta")
READS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique2", "unique_dim")
"""Operations whose result, or its shape, the host would have to wait for."""
COPIES = ("_to_copy", "copy_")
"""Operations that may have tensors of both sides."""


class DeviceTensor(Tensor):
    """A tensor in the memory of the device."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Any:
        tensor = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(operation, args, kwargs or {})


def compute(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Do an operation where its tensors are, or raise what a GPU would raise or wait for."""
    name = operation._schema.name.removeprefix("aten::")
    tensors = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
    on_device = [isinstance(tensor, DeviceTensor) for tensor in tensors]
    target = kwargs.get("device")
    makes_device = any(on_device) if target is None else torch.device(target).type == DEVICE.type
    if any(on_device) and name not in COPIES:
        if name in READS or any(
            type(index) is DeviceTensor and index.dtype == torch.bool for index in _indices(name, args)
        ):
            raise RuntimeError(f"{name} waits for the device")
        if any(tensor.dim() for tensor, there in zip(tensors, on_device, strict=True) if not there):
            raise RuntimeError(f"{name} has tensors of the host and of the device")
    inner_args, inner_kwargs = tree_map_only(DeviceTensor, lambda tensor: tensor.held, (args, kwargs))
    if target is not None:
        inner_kwargs = inner_kwargs | {"device": torch.device("cpu")}
    if name == "_to_copy":  # another memory: a change here changes nothing there
        inner_args = (inner_args[0].clone(), *inner_args[1:])
    result = operation(*inner_args, **inner_kwargs)
    if operation._schema.is_mutable and name.endswith("_") and isinstance(args[0], Tensor):
        return args[0]
    if not makes_device:
        return result
    return tree_map(lambda leaf: DeviceTensor(leaf) if type(leaf) is Tensor else leaf, result)


def _indices(name: str, args: Any) -> list[Any]:
    return list(args[1]) if name in ("index", "index_put_", "_index_put_impl_") else []


class PretendedDevice(TorchDispatchMode):
    """Inside, what is made on `meta` or copied there is a `DeviceTensor`."""

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(operation, args, kwargs or {})
