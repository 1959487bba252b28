"""Which GPUs of a machine a job computes on: each is a slot with a lock file, and a process keeps the slots it took.

Snakemake counts GPUs (`resources: gpu`) but does not name them, and several workflows may share a machine. Lock files
lie in the machine's temporary directory under the device's UUID, so a name does not depend on CUDA_VISIBLE_DEVICES.
"""

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from irpretrain.foundation.errors import ConfigError, SetupError, temporary_folder
from irpretrain.foundation.progress import print_line
from irpretrain.training.job_lock import holder, take_lock

POLL_SECONDS = 1.0

# In place of the descriptor of a lock, if a device is shared.
SHARED_DEVICE = -1

# Visible device → descriptor of its slot's lock, for the rest of the process.
held_locks: dict[int, int] = {}


def take_devices(count: int, uuids: Sequence[str], lock_folder: Path | None = None) -> list[int]:
    """Return the devices of this process, as numbers among the visible ones; take them first if necessary.

    Args:
        count: configured number (`compute.gpus`); waits until so many are free. 0: a free one, else a share of the
            first.
        uuids: UUIDs of the visible devices, in order.
        lock_folder: of the lock files; by default this user's folder in the machine's temporary directory.

    Raises:
        ConfigError: fewer devices are visible.
        SetupError: the lock files cannot be made, or other users could write to their folder.
    """
    if count > len(uuids):
        raise ConfigError(
            f"compute.gpus is {count}, but this job sees {len(uuids)} GPUs "
            f"(CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', 'not set')})"
        )
    if len(held_locks) >= max(count, 1):
        return sorted(held_locks)[: max(count, 1)]
    lock_folder = lock_folder or temporary_folder() / f"irpretrain-gpus-{os.getuid()}"
    missing_count = max(count, 1) - len(held_locks)
    taken_locks = _lock_devices(missing_count, uuids, lock_folder)
    if not taken_locks and count == 0:
        taken_locks = {0: SHARED_DEVICE}
    if not taken_locks:
        lock_files = [lock_folder / f"{uuid}.lock" for uuid in uuids]
        holders = ", ".join(f"{path}: {holder(path)}" for path in lock_files)
        print_line(
            f"waits for {missing_count} of {len(uuids)} GPUs: other jobs of this machine have them ({holders})"
        )
    while not taken_locks:
        time.sleep(POLL_SECONDS)
        taken_locks = _lock_devices(missing_count, uuids, lock_folder)
    held_locks.update(taken_locks)
    return sorted(held_locks)


def _lock_devices(count: int, uuids: Sequence[str], lock_folder: Path) -> dict[int, int]:
    taken_locks: dict[int, int] = {}
    try:
        lock_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(lock_folder)
        for device, uuid in enumerate(uuids):
            if device not in held_locks and len(taken_locks) < count:
                descriptor = take_lock(lock_folder / f"{uuid}.lock")
                taken_locks |= {device: descriptor} if descriptor is not None else {}
        # Two jobs that want two devices each must not both wait with one in hand.
        if len(taken_locks) < count:
            release_locks(taken_locks)
    except OSError as error:
        raise SetupError(
            f"{lock_folder}: cannot lock a GPU's slot there ({error.strerror}); set TMPDIR to a local folder"
        ) from None
    return taken_locks


def _check_owner(lock_folder: Path) -> None:
    status = lock_folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise SetupError(
            f"{lock_folder}: locks of GPUs belong into a folder of your own that others cannot write to, and this is "
            f"{stat.filemode(status.st_mode)} of user {status.st_uid}; remove it, or set TMPDIR to a local folder of "
            "your own"
        )


def release_locks(locks: dict[int, int]) -> None:
    """Release slots; the end of the process does the same."""
    for descriptor in locks.values():
        if descriptor != SHARED_DEVICE:
            os.close(descriptor)
    locks.clear()
