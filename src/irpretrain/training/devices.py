"""Which GPUs of a machine a job computes on: each is a slot with a lock file, and a process keeps the slots it took.

Snakemake counts GPUs (`resources: gpu`) but does not name them, and several workflows may share a machine. Lock files
lie in the machine's temporary directory under the device's UUID, so a name does not depend on CUDA_VISIBLE_DEVICES.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from irpretrain.errors import ConfigError, SetupError, temporary_folder
from irpretrain.foundation.progress import print_line
from irpretrain.training.job_lock import holder, take

POLL_SECONDS = 1.0

# Longest wait for the gate before a message; it is held for moments.
PATIENCE_SECONDS = 5.0

# In place of the descriptor of a lock, if a device is shared.
SHARED = -1

# Visible device → descriptor of its slot's lock, for the rest of the process.
_retained: dict[int, int] = {}


def own_devices(count: int, names: Sequence[str], folder: Path | None = None) -> list[int]:
    """Return the devices of this process, as numbers among the visible ones; take them first if necessary.

    Args:
        count: configured number (`compute.gpus`); waits until so many are free. 0: a free one, else a share of the
            first.
        names: UUIDs of the visible devices, in order.
        folder: of the lock files; by default this user's folder in the machine's temporary directory.

    Raises:
        ConfigError: fewer devices are visible.
        SetupError: the lock files cannot be made, or other users could write to their folder.
    """
    if count > len(names):
        raise ConfigError(
            f"compute.gpus is {count}, but this job sees {len(names)} GPUs "
            f"(CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', 'not set')})"
        )
    if len(_retained) >= max(count, 1):
        return sorted(_retained)[: max(count, 1)]
    folder = folder or temporary_folder() / f"irpretrain-gpus-{os.getuid()}"
    needed = max(count, 1) - len(_retained)
    taken = _take(needed, names, folder)
    if not taken and count == 0:
        taken = {0: SHARED}
    if not taken:
        print_line(
            f"waits for {needed} of {len(names)} GPUs: other jobs of this machine have them ({_holders(names, folder)})"
        )
    while not taken:
        time.sleep(POLL_SECONDS)
        taken = _take(needed, names, folder)
    _retained.update(taken)
    return sorted(_retained)


def _take(count: int, names: Sequence[str], folder: Path) -> dict[int, int]:
    taken: dict[int, int] = {}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(folder)
        gate = _wait_for_gate(folder / "gate.lock")
        try:
            # Two jobs that want two devices each must not both wait with one in hand.
            for device, name in enumerate(names):
                if device not in _retained and len(taken) < count:
                    descriptor = take(folder / f"{name}.lock")
                    taken |= {device: descriptor} if descriptor is not None else {}
            if len(taken) < count:
                release(taken)
                taken = {}
        finally:
            os.close(gate)
    except OSError as error:
        raise SetupError(
            f"{folder}: cannot lock a GPU's slot there ({error.strerror}); set TMPDIR to a local folder"
        ) from None
    return taken


def _check_owner(folder: Path) -> None:
    """Raise SetupError if others can write into the folder: the temporary directory is everybody's."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        what = (
            "a link"
            if stat.S_ISLNK(status.st_mode)
            else f"of user {status.st_uid}, mode {status.st_mode & 0o777:o}"
        )
        raise SetupError(
            f"{folder}: locks of GPUs belong into a folder of your own that others cannot write to, and this is "
            f"{what}; remove it, or set TMPDIR to a local folder of your own"
        )


def _wait_for_gate(path: Path) -> int:
    """Return a descriptor with the lock that only one process holds while it looks for devices."""
    started, reported = time.monotonic(), False
    while (descriptor := take(path)) is None:
        if not reported and time.monotonic() - started >= PATIENCE_SECONDS:
            print_line(f"waits for {path}, which {holder(path)} holds")
            reported = True
        time.sleep(POLL_SECONDS / 20)
    return descriptor


def _holders(names: Sequence[str], folder: Path) -> str:
    return ", ".join(f"{folder / name}.lock: {holder(folder / f'{name}.lock')}" for name in names)


def release(slots: dict[int, int]) -> None:
    """Release slots; the end of the process does the same."""
    for descriptor in slots.values():
        if descriptor != SHARED:
            os.close(descriptor)
    slots.clear()
