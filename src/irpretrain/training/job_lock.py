"""Lock files: one process per job, by an advisory lock beside the folder of the job's checkpoints; one per output of
the library; one per GPU.

When the workflow's main process is killed, its trainer may live on. The resumed workflow starts the job again, and two
trainers that write the same checkpoints would remove each other's.
"""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from irpretrain.foundation.errors import InputError, TrainingError
from irpretrain.foundation.progress import print_line

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.2

# What file systems answer that have no locks (some shared ones of clusters).
NO_LOCK_ERRORS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def hold_lock(lock_path: Path, title: str) -> Iterator[None]:
    """Lock the file `lock_path` against other processes; the lock ends with the process, however it dies.

    Raises:
        TrainingError: another process still holds it after WAIT_SECONDS, or it is a link.
    """
    with _releasing(lock_path, _wait(lock_path, title)):
        yield


@contextmanager
def hold_output(lock_path: Path, output: Path) -> Iterator[None]:
    """Lock an output by the file `lock_path`: nobody waits, since the later result would replace the earlier one.

    Raises:
        InputError: another process writes the output.
    """
    if (descriptor := _take_if_possible(lock_path)) is None:
        raise InputError(
            output,
            f"{holder(lock_path)} is writing this output",
            remedy="Wait until that process has ended, or name another output.",
        )
    with _releasing(lock_path, descriptor):
        yield


@contextmanager
def _releasing(lock_path: Path, descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        # Removed while it is held, so that no one can take a lock on a file that is about to go.
        lock_path.unlink(missing_ok=True)
        os.close(descriptor)


def _wait(lock_path: Path, title: str) -> int:
    deadline, is_announced = time.monotonic() + WAIT_SECONDS, False
    while (descriptor := _take_if_possible(lock_path)) is None:
        lock_holder = holder(lock_path)
        if time.monotonic() >= deadline:
            raise TrainingError(
                f"{title}: {lock_holder} still works on this job ({lock_path}). Wait until it has ended, or end it; "
                "then run the same command again: training goes on from the last checkpoint."
            )
        if not is_announced:
            print_line(
                f"[{title}] waits up to {WAIT_SECONDS:.0f} s for {lock_holder}, which works on the same job"
            )
            is_announced = True
        time.sleep(POLL_SECONDS)
    return descriptor


def _take_if_possible(lock_path: Path) -> int | None:
    """Take the lock, in a new folder if necessary; where the file system has no locks, do without."""
    lock_path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return take_lock(lock_path)
    except FileNotFoundError:
        return _take_if_possible(lock_path)  # the last process that used the folder has just removed it
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise TrainingError(
                f"{lock_path}: this is a link, and what it leads to is not overwritten; remove the link"
            ) from None
        if error.errno in NO_LOCK_ERRORS:
            return os.open(lock_path, os.O_RDWR | os.O_NOFOLLOW)
        raise


def take_lock(lock_path: Path) -> int | None:
    """Return a descriptor with the lock on `lock_path`, which then names this process; None if another process has it.

    Raises:
        OSError: the file is a link (ELOOP), or its file system has no locks (NO_LOCK_ERRORS), among others.
    """
    with ExitStack() as closing:
        descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        closing.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if _is_current_file(descriptor, lock_path):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
            closing.pop_all()
            return descriptor
    return take_lock(lock_path)


def _is_current_file(descriptor: int, path: Path) -> bool:
    """Whether `path` still names the locked file: its holder may have removed it after it was opened."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def holder(path: Path) -> str:
    """The content of a lock file: who holds it."""
    with suppress(OSError):
        return path.read_text() or "another process"
    return "another process"
