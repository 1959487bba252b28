"""`.npy` files that are written through memory."""

import os
from pathlib import Path

import numpy as np


def create_mapped(path: Path, kind: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Create a `.npy` file of zeros and return its array, mapped for writing.

    Its blocks are taken at once: a write to a mapped file that finds no room kills the process without a word.

    Raises:
        OSError: there is no room.
    """
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    with open(path, "rb+") as handle:
        os.posix_fallocate(handle.fileno(), 0, os.fstat(handle.fileno()).st_size)
    return mapped
