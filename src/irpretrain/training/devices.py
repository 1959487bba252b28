"""Which GPUs of a machine a job computes on: each is a slot with a lock file, and a process keeps the slots it took.

Snakemake counts GPUs (`resources: gpu`) but does not say which, and several workflows may share a machine. Lock files
lie in the machine's temporary directory, one a device, named by its UUID: a device has the same name whatever
CUDA_VISIBLE_DEVICES hides, and only visible devices are taken. So what Slurm gives to a job is free at once, and
several jobs within one allocation share its devices out.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from irpretrain.errors import ConfigError, SetupError
from irpretrain.progress import say

POLL_SECONDS = 1.0
SHARED = -1
"""In place of the descriptor of a lock, where a device is not this process's alone."""
_kept: dict[int, int] = {}
"""Visible device → descriptor of its slot's lock, for the rest of the process."""


def own_devices(count: int, names: Sequence[str], folder: Path | None = None) -> list[int]:
    """Return the devices that this process computes on, as numbers among the visible ones; take them if need be.

    Args:
        count: how many the job asked for (`compute.gpus`). It waits until so many are free. 0 takes one if one is free
            and else shares the first: who asks for nothing waits for nothing.
        names: of the visible devices, in order: their UUIDs.
        folder: of the lock files; by default one of this user's in the machine's temporary directory.

    Raises:
        ConfigError: more were asked for than are visible.
        SetupError: the lock files cannot be made.
    """
    if count > len(names):
        raise ConfigError(
            f"compute.gpus is {count}, but this job sees {len(names)} GPUs "
            f"(CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', 'not set')})"
        )
    if len(_kept) >= max(count, 1):
        return sorted(_kept)[: max(count, 1)]
    folder = folder or Path(tempfile.gettempdir()) / f"irpretrain-gpus-{os.getuid()}"
    needed = max(count, 1) - len(_kept)
    taken = _take(needed, names, folder)
    if not taken and count == 0:
        taken = {0: SHARED}
    if not taken:
        say(f"waits for {needed} of {len(names)} GPUs: other jobs of this machine have them ({folder})")
    while not taken:
        time.sleep(POLL_SECONDS)
        taken = _take(needed, names, folder)
    _kept.update(taken)
    return sorted(_kept)


def _take(count: int, names: Sequence[str], folder: Path) -> dict[int, int]:
    """Lock the slots of `count` devices, the first that are free; of none where there are fewer."""
    taken: dict[int, int] = {}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(folder / "gate.lock", "w") as gate:
            # Two jobs that want two devices each must not both wait with one in hand.
            fcntl.flock(gate, fcntl.LOCK_EX)
            for device, name in enumerate(names):
                if device not in _kept and len(taken) < count:
                    descriptor = _lock(folder / f"{name}.lock")
                    taken |= {device: descriptor} if descriptor is not None else {}
            if len(taken) < count:
                release(taken)
                taken = {}
    except OSError as error:
        raise SetupError(
            f"{folder}: cannot lock a GPU's slot there ({error.strerror}); set TMPDIR to a local folder"
        ) from None
    return taken


def _lock(path: Path) -> int | None:
    """Return a descriptor with the lock on `path`, or None where another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def release(slots: dict[int, int]) -> None:
    """Give slots back; the end of the process does the same."""
    for descriptor in slots.values():
        if descriptor != SHARED:
            os.close(descriptor)
    slots.clear()
