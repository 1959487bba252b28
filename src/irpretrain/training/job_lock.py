"""One process a job: an advisory lock beside the folder of the job's checkpoints.

When the workflow's main process is killed, a trainer that it started may live on. The resumed workflow starts the
same job again, and two trainers that write the same checkpoints would remove each other's.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from irpretrain.errors import TrainingError
from irpretrain.progress import say

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.2
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems answer that have no locks (some shared ones of clusters)."""


@contextmanager
def hold(path: Path, title: str) -> Iterator[None]:
    """Keep other processes from what the lock file `path` stands for; it ends with the process, however that dies.

    Args:
        path: the lock file; made, and removed at the end.
        title: of the job, for messages.

    Raises:
        TrainingError: another process still holds it after WAIT_SECONDS.
    """
    descriptor = _wait(path, title)
    try:
        yield
    finally:
        # Removed while it is held, so that no one can take a lock on a file that is about to go.
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _wait(path: Path, title: str) -> int:
    """Return a descriptor with the lock, as soon as it is free."""
    deadline, told = time.monotonic() + WAIT_SECONDS, False
    while (descriptor := _try(path)) is None:
        holder = _holder(path)
        if time.monotonic() >= deadline:
            raise TrainingError(
                f"{title}: {holder} still works on this job ({path}). Wait until it has ended, or end it; then run "
                "the same command again: training goes on from the last checkpoint."
            )
        if not told:
            say(f"[{title}] waits up to {WAIT_SECONDS:.0f} s for {holder}, which works on the same job")
            told = True
        time.sleep(POLL_SECONDS)
    return descriptor


def _try(path: Path) -> int | None:
    """Return a descriptor with the lock, or None where another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return None
            raise
    if not _is_file(descriptor, path):
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return descriptor


def _is_file(descriptor: int, path: Path) -> bool:
    """Whether `path` still names the locked file: its holder may have removed it after it was opened."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    with suppress(OSError):
        return path.read_text() or "another process"
    return "another process"
